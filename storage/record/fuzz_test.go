package record_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// fuzzFiles returns a session with one step, as bytes, and its head.
func fuzzFiles(f *testing.F) (files map[string]string, head string) {
	f.Helper()
	ctx := context.Background()
	a := memory.New()
	s, err := record.OpenSession(ctx, a, "s")
	if err == nil {
		err = tryStep(ctx, s, 1)
	}
	if err == nil {
		err = s.Journal(ctx, lines("j", 3))
	}
	if err == nil {
		err = s.Checkpoint(ctx)
	}
	if err != nil {
		f.Fatal(err)
	}
	files = map[string]string{}
	for info, err := range s.Files(ctx) {
		if err != nil {
			f.Fatal(err)
		}
		body, err := readAll(ctx, s, info.Key.Base())
		if err != nil {
			f.Fatal(err)
		}
		files[info.Key.Base()] = body
	}
	return files, s.ManifestHead()
}

func readAll(ctx context.Context, s *record.Session, name string) (string, error) {
	r, err := s.Open(ctx, name, 0, -1)
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(r)
	return string(data), errors.Join(err, r.Close())
}

// FuzzVerify replaces any file by any bytes. A session that Verify then accepts must
// hold everything that was stored.
func FuzzVerify(f *testing.F) {
	files, head := fuzzFiles(f)
	names := slices.Sorted(maps.Keys(files))
	for i, n := range names {
		f.Add(uint8(i), []byte(files[n]))
		f.Add(uint8(i), []byte(files[n]+"{"))
		f.Add(uint8(i), []byte(files[n][:len(files[n])/2]))
		f.Add(uint8(i), []byte(strings.Replace(files[n], "1", "2", 1)))
		f.Add(uint8(i), []byte(files[n]+files[n]))
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		name := names[int(which)%len(names)]
		a := memory.New()
		for n, body := range files {
			if n == name {
				body = string(data)
			}
			must(t, a.Create(t.Context(), mustKey(t, "s/"+n), storage.Redacted(text("%s", body))))
		}
		r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{Head: head})
		must(t, err)
		log := name == "manifest.jsonl" || name == "events.jsonl" || name == "journal.jsonl"
		same := string(data) == files[name]
		if log { // lines may follow, but for the last line feed everything is there
			same = strings.HasPrefix(string(data), strings.TrimSuffix(files[name], "\n"))
		}
		if r.OK() && !same {
			t.Errorf("verify finds no problem in %s: %q", name, data)
		}
		if !r.OK() && string(data) == files[name] {
			t.Errorf("%s is unchanged, and does not verify: %v", name, r.Problems)
		}
	})
}

// FuzzAppendAfterAnything appends to logs that hold any bytes, as after a crash on a
// bad disk.
func FuzzAppendAfterAnything(f *testing.F) {
	files, _ := fuzzFiles(f)
	f.Add([]byte(files["manifest.jsonl"]), []byte(files["events.jsonl"]))
	f.Add([]byte(files["manifest.jsonl"][:99]), []byte(files["events.jsonl"][:len(files["events.jsonl"])-1]))
	f.Add([]byte("\x00\x00\x00"), []byte("\n\n{\n"))
	f.Fuzz(func(t *testing.T, manifest, events []byte) {
		a := memory.New()
		must(t, a.Create(t.Context(), mustKey(t, "s/manifest.jsonl"), storage.Redacted(text("%s", manifest))))
		must(t, a.Create(t.Context(), mustKey(t, "s/events.jsonl"), storage.Redacted(text("%s", events))))
		s := session(t, a, "s")
		for i := range 2 {
			must(t, s.Events(t.Context(), []redact.Text{text(`{"mine":%d}`, i)}))
		}
		var last []string
		for l, err := range s.EventLines(t.Context()) {
			must(t, err)
			last = append(last, string(l))
		}
		for i, want := range []string{`{"mine":0}`, `{"mine":1}`} {
			if n := len(last); n < 2 || last[n-2+i] != want {
				t.Errorf("the lines are now %q", last)
			}
		}
		if _, err := s.Transcript(t.Context(), 1, lines("t", 1)); err != nil && !strings.Contains(err.Error(), "erased") {
			t.Error(err)
		}
		if !strings.HasPrefix(content(t, s, "events.jsonl"), string(events)) {
			t.Error("the earlier content changed")
		}
		if _, err := s.Verify(t.Context(), record.VerifyOptions{}); err != nil {
			t.Error(fmt.Errorf("verify: %w", err))
		}
	})
}
