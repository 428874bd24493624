package record_test

import (
	"bytes"
	"fmt"
	"maps"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// TestALastLineThatLostBytesIsFound: only the manifest holds the hash of the last line
// of a log. Every removal of bytes from the last line is found, with its line feed and
// without; a crash may remove only the line feed.
func TestALastLineThatLostBytesIsFound(t *testing.T) {
	t.Parallel()
	a := memory.New()
	s := session(t, a, "s")
	must(t, tryStep(t.Context(), s, 1))
	must(t, s.Journal(t.Context(), lines("j", 3)))
	must(t, s.Checkpoint(t.Context()))
	whole := map[string][]byte{}
	for info, err := range s.Files(t.Context()) {
		must(t, err)
		whole[info.Key.Base()] = []byte(content(t, s, info.Key.Base()))
	}
	verifies := func(name string, body []byte) bool {
		a := memory.New()
		files := maps.Clone(whole)
		files[name] = body
		for n, b := range files {
			must(t, a.Create(t.Context(), mustKey(t, "s/"+n), storage.Redacted(text("%s", b))))
		}
		r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{Head: s.ManifestHead()})
		must(t, err)
		return r.OK()
	}
	for _, name := range []string{"events.jsonl", "journal.jsonl"} {
		body := whole[name]
		line := bytes.LastIndexByte(body[:len(body)-1], '\n') + 1
		for i := line; i < len(body)-1; i++ {
			cut := append(bytes.Clone(body[:i]), body[i+1:]...)
			for which, b := range map[string][]byte{"with": cut, "without": cut[:len(cut)-1]} {
				if verifies(name, b) {
					t.Errorf("%s: verify accepts the last line without byte %d, %s its line feed: %s", name, i-line, which, fmt.Sprintf("%q", b[line:]))
				}
			}
		}
		if !verifies(name, body[:len(body)-1]) {
			t.Errorf("%s: verify refuses a missing last line feed, which a crash may cause", name)
		}
	}
}

// TestLogWithoutItsLastLineFeedContinues: a checkpoint before the next append does not
// make the log a changed one.
func TestLogWithoutItsLastLineFeedContinues(t *testing.T) {
	t.Parallel()
	whole, a := memory.New(), memory.New()
	s := session(t, whole, "s")
	must(t, s.Events(t.Context(), lines("e", 3)))
	must(t, s.Checkpoint(t.Context()))
	for info, err := range s.Files(t.Context()) {
		must(t, err)
		body := content(t, s, info.Key.Base())
		if info.Key.Base() == "events.jsonl" {
			body = body[:len(body)-1]
		}
		must(t, a.Create(t.Context(), info.Key, storage.Redacted(text("%s", body))))
	}
	s = session(t, a, "s")
	must(t, s.Events(t.Context(), nil)) // the log is read, and nothing is appended
	must(t, s.Checkpoint(t.Context()))
	must(t, s.Events(t.Context(), lines("f", 2)))
	must(t, s.Checkpoint(t.Context()))
	r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{Head: s.ManifestHead()})
	must(t, err)
	if !r.OK() {
		t.Errorf("an unchanged archive: %v, want no problems", r.Problems)
	}
}
