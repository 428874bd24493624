package record_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// TestATornTailIsClosedAndReported cuts the log at every byte, as a crash in the middle of
// an append would. Another process then continues the log.
func TestATornTailIsClosedAndReported(t *testing.T) {
	for _, name := range []string{"events.jsonl", "manifest.jsonl"} {
		whole := memory.New()
		s := session(t, whole, "s")
		step(t, s, 1)
		safe := int64(len(content(t, s, name)))
		must(t, s.Events(t.Context(), []redact.Text{text(`{"n":1}`), text(`{"n":2}`)}))
		if name == "manifest.jsonl" {
			must(t, s.Checkpoint(t.Context()))
		}
		data := content(t, s, name)
		for cut := safe; cut <= int64(len(data)); cut++ {
			a := memory.New()
			copySession(t, whole, a, name, data[:cut])
			again := session(t, a, "s")
			must(t, again.Events(t.Context(), []redact.Text{text(`{"after":1}`)}))
			step(t, again, 2)
			for _, p := range verify(t, a, "s", record.VerifyOptions{}).Problems {
				t.Fatalf("%s cut at %d of %d: %s", name, cut, len(data), p)
			}
			for l, err := range again.EventLines(t.Context()) {
				must(t, err)
				if !bytes.HasPrefix(l, []byte("{")) || bytes.Contains(l, []byte("torn")) {
					t.Fatalf("%s cut at %d: the line %s", name, cut, l)
				}
			}
		}
	}
}

// copySession copies all files but one, which gets other content.
func copySession(t *testing.T, from, to storage.Archive, name, data string) {
	t.Helper()
	s := session(t, from, "s")
	for info, err := range s.Files(t.Context()) {
		must(t, err)
		body := content(t, s, info.Key.Base())
		if info.Key.Base() == name {
			body = data
		}
		must(t, to.Create(t.Context(), info.Key, storage.Redacted(text("%s", body))))
	}
}

func TestATornLineDoesNotExcuseLaterBytes(t *testing.T) {
	s := newStored(t)
	whole := s.read("events.jsonl")
	s.write("events.jsonl", append(whole, `{"seq":10,"prev":"`...))
	must(t, session(t, s.a, "s").Events(t.Context(), []redact.Text{text(`{"after":1}`)}))
	r := wantOK(t, s.a, "s")
	if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "line 10") && strings.Contains(n, "crash") }) {
		t.Errorf("the torn line is not reported: %q", r.Notes)
	}
	s.write("events.jsonl", bytes.Replace(s.read("events.jsonl"), []byte(`{"seq":10,"prev":"`+"\n"), []byte(`{"seq":10,"prev":"evil`+"\n"), 1))
	if r := verify(t, s.a, "s", record.VerifyOptions{}); r.OK() {
		t.Error("the torn bytes changed, and verify does not detect it")
	}
}
