package search

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	_ "github.com/agentcompact/compact/internal/testkey"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// plain returns a redactor that removes nothing.
func plain(t testing.TB) *redact.Redactor {
	t.Helper()
	r, err := redact.New(redact.Options{Disabled: true})
	ok(t, err)
	return r
}

// say stores a final transcript of user messages.
func say(t testing.TB, a storage.Archive, session string, texts ...string) *record.Session {
	t.Helper()
	r := plain(t)
	var lines []redact.Text
	for _, text := range texts {
		lines = append(lines, r.Text(fmt.Sprintf(`{"role":"user","content":%q,"meta":{"fp":"00112233445566778899aabbccddeeff","refs":["001122334455"]}}`, text)))
	}
	s, err := record.OpenSession(context.Background(), a, session)
	ok(t, err)
	if _, err := s.Final(context.Background(), lines); err != nil {
		t.Fatal(err)
	}
	return s
}

func index(t testing.TB, a storage.Archive, folder string) *Index {
	t.Helper()
	x, err := Open(context.Background(), a, folder)
	ok(t, err)
	t.Cleanup(func() { _ = x.Close() })
	return x
}

// found returns the sessions and lines that a query finds.
func found(t testing.TB, x *Index, q Query) []string {
	t.Helper()
	f, err := x.Search(context.Background(), q)
	ok(t, err)
	out := []string{}
	for _, m := range f.Matches {
		out = append(out, m.Session+": "+m.Text)
	}
	return out
}

// rig returns an archive with a manager.
func rig(t *testing.T) (*memory.Archive, *compact.CompactManager) {
	t.Helper()
	a := memory.New()
	m, err := compact.New(t.Context(), compact.Config{Archive: a, Model: "gpt-4", MaxContextTokens: 8_000})
	ok(t, err)
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	return a, m
}

// conversation returns an agent loop about a file.
func conversation(file string, rounds int) []message.Message {
	msgs := []message.Message{message.System("You fix bugs."), message.User("Make the tests of " + file + " pass.\nThe zebra crossing is broken.")}
	for i := range rounds {
		id := fmt.Sprintf("call_%d", i)
		msgs = append(msgs,
			message.Assistant("", message.Call(id, "read_file", fmt.Sprintf(`{"path":"pkg/%s_%d.go"}`, file, i))),
			message.ToolResult(id, fmt.Sprintf("line one\nquux%d stands in %s\n%s", i, file, strings.Repeat("filler ", 200))))
	}
	return msgs
}

func folder(t testing.TB) string { return filepath.Join(t.TempDir(), "index") }

var errTest = errors.New("test")
