package compact_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage/record"
)

// version1 unpacks an archive of version 1, as testdata/version1/record.go.txt made it.
func version1(t *testing.T) (dir string) {
	t.Helper()
	raw, err := os.ReadFile("testdata/version1/archive.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := unpack(raw, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// unpack unpacks a tar.gz into a folder.
func unpack(raw []byte, dir string) error {
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if h.Typeflag == tar.TypeDir {
			continue
		}
		name := filepath.Join(dir, filepath.FromSlash(h.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, data, 0o600)); err != nil {
			return err
		}
	}
}

// A session of version 1 is read and continued: its views are the same, byte for
// byte, its references lead to the same texts, and later references are keyed.
func TestSessionsOfVersion1AreContinued(t *testing.T) {
	keysOnly(t)
	a := folderArchive(t, version1(t))
	var want map[string][]string
	raw, err := os.ReadFile("testdata/version1/views.json")
	if err != nil || json.Unmarshal(raw, &want) != nil {
		t.Fatal(err)
	}
	branch := compact.WithBranch(sealedTurns(0)[1].Fingerprint().String())
	for _, tc := range []struct {
		name, session, preset string
		last, next, fresh     int
		opts                  []compact.Option
	}{
		{"steps", "session-1", "graduated", 60, 150, 100, nil},
		{"edits", "session-2", "masking", 20, 70, 50, nil},
		{"named", "ann@example.org", "graduated", 30, 150, 100, []compact.Option{branch}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var log bytes.Buffer
			m := sealedManager(t, a, tc.preset, func(c *compact.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
			for range 2 {
				res, got := sealedView(t, m, tc.session, tc.last, tc.opts...)
				if views := want[tc.name]; hexSHA256(got) != views[len(views)-1] || res.Step != 0 || len(res.Warnings) > 0 {
					t.Fatalf("the view differs: step %d, %v, want 0", res.Step, res.Warnings)
				}
			}
			res, next := sealedView(t, m, tc.session, tc.next, tc.opts...)
			if !res.Triggered {
				t.Fatalf("the session is not continued: %s", res.Reason)
			}
			if _, again := sealedView(t, sealedManager(t, a, tc.preset), tc.session, tc.next, tc.opts...); again != next {
				t.Error("another process has a different view")
			}
			for ref, text := range map[string]string{logOf(5).Parts[0].Fingerprint().Ref(): "log 5\n", m.Ref(logOf(tc.fresh).Parts[0]): fmt.Sprintf("log %d\n", tc.fresh)} {
				if got, err := m.Recall(t.Context(), tc.session, ref); err != nil || !strings.HasPrefix(got, text) {
					t.Errorf("%q is not recalled: %v", text, err)
				}
			}
			if n := strings.Count(log.String(), "version 1"); n != 1 {
				t.Errorf("the log mentions version 1 %d times, want 1", n)
			}
		})
	}
	sessions := 0
	for info, err := range record.Sessions(t.Context(), a) {
		if err != nil {
			t.Fatal(err)
		}
		sessions++
		report, err := record.Verify(t.Context(), a, info.ID, record.VerifyOptions{Refs: recall.Refs, Edits: recall.EditRefs})
		if err != nil || !report.OK() || report.Version != 1 || !strings.Contains(strings.Join(report.Notes, "\n"), "version 1") {
			t.Errorf("%s: version %d, %v %v %v; want 1, no error and no problems", info.ID, report.Version, err, report.Problems, report.Notes)
		}
	}
	if sessions != 3 {
		t.Errorf("%d sessions: sessions with another name in version 1 are not found", sessions)
	}
}
