package record_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

func export(t *testing.T, s *record.Session, format record.ExportFormat) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, s.Export(t.Context(), &b, format, record.ExportOptions{}))
	return b.Bytes()
}

func TestExportedFolderVerifiesWhereItIsUnpacked(t *testing.T) {
	s := newStored(t)
	zr, err := gzip.NewReader(bytes.NewReader(export(t, session(t, s.a, "s"), record.ExportTarGz)))
	must(t, err)
	root := t.TempDir()
	tr := tar.NewReader(zr)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		data, err := io.ReadAll(tr)
		must(t, err)
		path := filepath.Join(root, h.Name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, data, os.FileMode(h.Mode)))
		if !bytes.Equal(data, s.read(filepath.Base(h.Name))) {
			t.Errorf("%s was changed", h.Name)
		}
	}
	a, err := fs.Open(root)
	must(t, err)
	t.Cleanup(func() { must(t, a.Close()) })
	r := verify(t, a, "s", record.VerifyOptions{Head: s.head})
	if !r.OK() || !r.TailProven || r.Steps != 3 {
		t.Errorf("%+v, want no problems, a proven end and 3 steps", r)
	}
}

func TestExportAsJSONLRestoresEveryByte(t *testing.T) {
	s := newStored(t)
	for _, odd := range []string{"no json", "{} ", "\xff\xfe", "", "{\n}", "{}\n\n", "{}\r\n", "x"} {
		must(t, session(t, s.a, "odd").Hold(t.Context(), redact.Text{}))
		k := mustKey(t, "odd/f-"+strings.ToLower(hexOf(odd)))
		must(t, s.a.Create(t.Context(), k, storage.Redacted(text("%s", odd))))
	}
	for _, id := range []string{"s", "odd"} {
		want := map[string]string{}
		for info, err := range s.a.List(t.Context(), mustKey(t, id)) {
			must(t, err)
			want[info.Key.Base()] = readKey(t, s.a, info.Key)
		}
		if diff := cmp.Diff(want, readExport(t, export(t, session(t, s.a, id), record.ExportJSONL))); diff != "" {
			t.Errorf("%s: files (-stored +exported):\n%s", id, diff)
		}
	}
}

func hexOf(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteByte("0123456789abcdef"[s[i]>>4])
		b.WriteByte("0123456789abcdef"[s[i]&15])
	}
	return b.String()
}

// readExport puts the files of an export together again, by the documented
// form alone.
func readExport(t *testing.T, data []byte) map[string]string {
	t.Helper()
	out := map[string]string{}
	file, body := "", ""
	for line := range bytes.Lines(data) {
		var v struct {
			File, End *string
			Line      json.RawMessage
			Text      *string
			Base64    []byte
			Open      bool
			Bytes     int
			Same      json.RawMessage
		}
		must(t, json.Unmarshal(line, &v))
		switch {
		case v.Same != nil: // is in an earlier file
			continue
		case v.File != nil:
			file, body = *v.File, ""
			continue
		case v.End != nil:
			if *v.End != file || v.Bytes != len(body) {
				t.Errorf("%s ends as %s after %d of %d bytes", file, *v.End, len(body), v.Bytes)
			}
			out[file] = body
			continue
		case v.Text != nil:
			body += *v.Text
		case v.Base64 != nil:
			body += string(v.Base64)
		case v.Line != nil:
			body += string(v.Line)
		}
		if !v.Open {
			body += "\n"
		}
	}
	return out
}

func TestExportOfALiveSessionIsConsistent(t *testing.T) {
	const steps = 40
	a := memory.New()
	s := session(t, a, "s")
	step(t, s, 1)
	done := make(chan error, 1)
	go func() {
		var err error
		for n := 2; n <= steps && err == nil; n++ {
			err = tryStep(t.Context(), s, n)
		}
		done <- err
	}()
	for live := true; live; {
		select {
		case err := <-done:
			must(t, err)
			live = false // once more, for the whole session
		default:
		}
		copied := memory.New()
		for name, body := range readExport(t, export(t, session(t, a, "s"), record.ExportJSONL)) {
			must(t, copied.Create(t.Context(), mustKey(t, "s/"+name), storage.Redacted(text("%s", body))))
		}
		if r := wantOK(t, copied, "s"); !live && r.Steps != steps {
			t.Errorf("%d steps were exported of %d", r.Steps, steps)
		}
	}
}

// atList calls a function before the first listing of the folder of session s.
type atList struct {
	storage.Archive
	once func()
}

func (a *atList) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	if do := a.once; do != nil && prefix.String() == "s" {
		a.once = nil
		do()
	}
	return a.Archive.List(ctx, prefix)
}

// A process that loses the race for a step has announced its ledger, too. In spite of
// this late line, the export contains the ledger of the winner.
func TestExportHoldsALedgerThatIsAnnouncedAgain(t *testing.T) {
	a := memory.New()
	winner, loser := session(t, a, "s"), session(t, a, "s")
	must(t, second(loser.Transcript(t.Context(), 1, lines("t", 2))))
	must(t, tryStep(t.Context(), winner, 1))
	over := &atList{Archive: a}
	over.once = func() {
		if _, err := loser.Commit(t.Context(), 1, text(`{}`)); !errors.Is(err, storage.ErrExists) {
			t.Errorf("the second commit of step 1: %v, want ErrExists", err)
		}
	}
	reader := session(t, over, "s")
	if _, ok := readExport(t, export(t, reader, record.ExportJSONL))["ledger-001.json"]; !ok || over.once != nil {
		t.Errorf("the export lacks the ledger of step 1; the listing was seen: %t", over.once == nil)
	}
}

func TestExportRefusesUnsupportedOptions(t *testing.T) {
	a := memory.New()
	s := session(t, a, "s")
	if err := s.Export(t.Context(), io.Discard, record.ExportJSONL, record.ExportOptions{}); !errors.Is(err, storage.ErrNotExist) {
		t.Errorf("a session without files: %v, want ErrNotExist", err)
	}
	step(t, s, 1)
	if err := s.Export(t.Context(), io.Discard, "zip", record.ExportOptions{}); !errors.Is(err, storage.ErrUnsupported) {
		t.Errorf("an unknown format: %v, want ErrUnsupported", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Export(ctx, io.Discard, record.ExportTarGz, record.ExportOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that is done: %v, want Canceled", err)
	}
	var last, total int64
	must(t, s.Export(t.Context(), io.Discard, record.ExportTarGz, record.ExportOptions{Progress: func(d, n int64) { last, total = d, n }}))
	if last != total || total == 0 {
		t.Errorf("progress ended at %d of %d", last, total)
	}
}

// The export contains the files beside the sessions that prove the sessions: the
// tombstones, the heads, the names, and the ids of the keys.
func TestExportBesideHasEveryProof(t *testing.T) {
	a := lived(t)
	must(t, second(record.AddKeyID(t.Context(), a, "0123456789abcdef", func(ids []string) bool { return len(ids) > 0 })))
	var b bytes.Buffer
	n, err := record.ExportBeside(t.Context(), a, &b, record.ExportJSONL)
	must(t, err)
	got, want := readExport(t, b.Bytes()), map[string]string{}
	for k, data := range everything(t, a) {
		if strings.HasPrefix(k, "_") {
			want[k] = data
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || n != len(want) || len(want) < 5 {
		t.Errorf("%d files, in the archive are %d (-stored +exported):\n%s", n, len(want), diff)
	}
}

// shortened is an archive in which the end of a file is missing, although it is listed with
// its whole length.
type shortened struct {
	storage.Archive
	file string
}

func (a *shortened) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	r, err := a.Archive.Open(ctx, k, off, n)
	if err != nil || k.Base() != a.file {
		return r, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(r, 10), r}, nil
}

// An export of a file that is cut short fails, so that nobody takes it for the whole session.
func TestExportOfAShortenedFileFails(t *testing.T) {
	a := memory.New()
	step(t, session(t, a, "s"), 1)
	for _, format := range []record.ExportFormat{record.ExportTarGz, record.ExportJSONL} {
		for _, file := range []string{"transcript-pre-compact-001.jsonl", "summary-001.json", "events.jsonl"} {
			s := session(t, &shortened{a, file}, "s")
			if err := s.Export(t.Context(), io.Discard, format, record.ExportOptions{}); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s, a short %s: %v, want ErrUnexpectedEOF", format, file, err)
			}
		}
	}
}
