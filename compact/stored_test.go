package compact

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/seal"
)

// someKeys returns keys that no archive has.
func someKeys() *keyring { return &keyring{Ring: seal.NewRing(seal.InMemory, seal.NewKey())} }

// The pieces of a history have the bytes of its lines, with the same places
// and hashes.
func TestPiecesEqualTheLines(t *testing.T) {
	r, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := openSession(t.Context(), memory.New(), "s", someKeys())
	if err != nil {
		t.Fatal(err)
	}
	s.redactor.Session = r.Session(redact.Lit("s"))
	history := []message.Message{message.System("You fix bugs."), message.User("key: ghp_" + strings.Repeat("a1", 18)), {}}
	for _, raw := range []string{
		`{"role":"user","content":"nothing to hide"}`, ` {"role":"user", "content":"with spaces" } `,
		"{\"role\":\"user\",\n\"content\":\"over two lines\"}", `{"role":"user","content":"x","meta":{"protected":true}}`,
	} {
		m, err := openai.ParseMessage([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		history = append(history, m)
	}
	lines, pieces := s.lines(history, nil), s.pieces(history)
	var all, joined strings.Builder
	for _, l := range lines {
		all.WriteString(l.String() + "\n")
	}
	for _, line := range pieces {
		for _, p := range line {
			joined.WriteString(p.String())
		}
		joined.WriteString("\n")
	}
	if all.String() != joined.String() {
		t.Errorf("lines:\n%s\npieces:\n%s", all.String(), joined.String())
	}
	want, got := storedLines(lines, nil), second(layOut(pieces, nil))
	if len(got.lines) != len(want.lines) {
		t.Fatalf("%d lines, want %d", len(got.lines), len(want.lines))
	}
	for k := range want.lines {
		if got.lines[k] != want.lines[k] {
			t.Errorf("line %d is %v, want %v", k, got.lines[k].span, want.lines[k].span)
		}
	}
}

func second[T, U any](_ T, u U) U { return u }
