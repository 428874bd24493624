package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// interrupted is an archive that calls the function do once, when a file of the session
// is opened.
type interrupted struct {
	*memory.Archive
	session string
	do      func()
}

func (a *interrupted) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if do := a.do; do != nil && k.Dir() == a.session {
		a.do = nil
		do()
	}
	return a.Archive.Open(ctx, k, off, n)
}

// The heads of an export are written first. If a session is erased during the export, the
// parts do not fit together, and the export has no manifest, which would say that it is
// complete.
func TestExportDuringAnEraseHasNoManifest(t *testing.T) {
	for _, erases := range []bool{false, true} {
		a := &interrupted{Archive: memory.New(), session: "two"}
		for _, name := range []string{"one", "two"} {
			s, err := record.OpenSession(t.Context(), a.Archive, name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Final(t.Context(), []redact.Text{redact.Lit(`{"role":"user","content":"hi"}`)}); err != nil {
				t.Fatal(err)
			}
		}
		a.do = func() {
			s, err := record.OpenSession(t.Context(), a.Archive, "one")
			if err == nil && erases {
				_, err = s.Erase(t.Context(), redact.Lit("why"))
			}
			if err != nil {
				t.Error(err)
			}
		}
		cmd, dir := &cobra.Command{}, filepath.Join(t.TempDir(), "export")
		cmd.SetContext(t.Context())
		err := newApp(strings.NewReader(""), io.Discard, io.Discard).exportAll(cmd, a, dir, record.ExportJSONL)
		_, none := os.Stat(filepath.Join(dir, exportManifest))
		if (err != nil) != erases || (none != nil) != erases || erases && !strings.Contains(err.Error(), "erased during the export") {
			t.Errorf("erased meanwhile: %v; %v, manifest: %v", erases, err, none)
		}
		if a.do != nil {
			t.Error("the other session was not read")
		}
	}
}
