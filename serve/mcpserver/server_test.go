package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
)

// client returns a client that speaks to a server over pipes, like over standard
// input and output.
func client(t *testing.T, open Opener, opts ...Option) (*mcp.ClientSession, <-chan error) {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Run(t.Context(), open, "v1", toServer, fromServer, opts...) }()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s, err := c.Connect(t.Context(), &mcp.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, ended
}

// call calls a tool and returns its text.
func call(t *testing.T, s *mcp.ClientSession, tool string, args map[string]any) (text string, failed bool) {
	t.Helper()
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	for _, c := range res.Content {
		if tc, ok := c.(*mcp.TextContent); ok {
			text += tc.Text
		}
	}
	return text, res.IsError
}

// archived returns an archive with a session that was compacted.
func archived(t *testing.T, session string) storage.Archive {
	t.Helper()
	archive := memory.New()
	compacted(t, archive, session)
	return archive
}

func compacted(t *testing.T, archive storage.Archive, session string) {
	t.Helper()
	m, err := compact.New(context.Background(), compact.Config{Model: "gpt-4o", MaxContextTokens: 8000, Archive: archive})
	if err != nil {
		t.Fatal(err)
	}
	msgs := []message.Message{message.User("Fix it.")}
	for i := range 40 {
		id := fmt.Sprint("c", i)
		msgs = append(msgs, message.Message{Role: message.RoleAssistant, Parts: []message.Part{{Kind: message.KindToolCall, CallID: id, Name: "read", Args: json.RawMessage(`{}`)}}},
			message.Message{Role: message.RoleTool, Parts: []message.Part{{Kind: message.KindToolResult, CallID: id, Text: fmt.Sprintf("Needle-%d of the file\n", i) + strings.Repeat("a line of the file\n", 300)}}})
	}
	if _, err := m.Preflight(context.Background(), session, msgs); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// A misspelled session name is reported as such, because "nothing was found"
// would look like an answer.
func TestMissingSessionIsNamed(t *testing.T) {
	archive := archived(t, "my/session")
	s, _ := client(t, func(context.Context) (storage.Archive, error) { return archive, nil })
	for tool, args := range map[string]map[string]any{
		"search": {"pattern": "needle"},
		"recall": {"ref": "s1"},
	} {
		args["session"] = "my/sesion"
		if text, failed := call(t, s, tool, args); !failed || !strings.Contains(text, `there is no session "my/sesion"; the tool sessions lists them`) {
			t.Errorf("%s: %q", tool, text)
		}
	}
	if text, failed := call(t, s, "search", map[string]any{"session": "my/session", "pattern": "nowhere"}); failed {
		t.Errorf("a search that finds nothing failed: %q", text)
	}
	if text, failed := call(t, s, "recall", map[string]any{"session": "my/session", "ref": "s999"}); !failed || !strings.Contains(text, "s999") {
		t.Errorf("a missing reference: %q", text)
	}
}

func TestRemovedTextIsFoundAndRead(t *testing.T) {
	archive := archived(t, "my/session")
	s, ended := client(t, func(context.Context) (storage.Archive, error) { return archive, nil })
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 3 {
		t.Fatalf("%v, %v", tools, err)
	}
	if text, failed := call(t, s, "sessions", nil); failed || !strings.Contains(text, `"session":"my/session"`) || !strings.Contains(text, `"compactions":1`) {
		t.Error(text)
	}
	text, failed := call(t, s, "search", map[string]any{"session": "my/session", "pattern": "needle-3 "})
	var found recall.Found
	if err := json.Unmarshal([]byte(text), &found); err != nil || failed || len(found.Matches) != 1 || found.Matches[0].Text != "Needle-3 of the file" {
		t.Fatalf("%s, %v", text, err)
	}
	ref := found.Matches[0].Ref
	for args, want := range map[string]string{`{}`: "Needle-3 of the file\na line", `{"lines":"1-1"}`: "Needle-3 of the file", `{"grep":"Needle"}`: "Needle-3 of the file"} {
		in := map[string]any{"session": "my/session", "ref": ref}
		if err := json.Unmarshal([]byte(args), &in); err != nil {
			t.Fatal(err)
		}
		if text, failed := call(t, s, "recall", in); failed || !strings.Contains(text, want) || args != "{}" && strings.Contains(text, "a line") {
			t.Errorf("%s: %s", args, text)
		}
	}
	text, _ = call(t, s, "search", map[string]any{"session": "my/session", "pattern": "needle-3 ", "context": 2})
	if err := json.Unmarshal([]byte(text), &found); err != nil || len(found.Matches) != 3 || found.Matches[0].Near || !found.Matches[2].Near || found.Matches[2].Text != "a line of the file" {
		t.Errorf("with two lines around it: %s, %v", text, err)
	}
	for tool, in := range map[string]map[string]any{
		"search": {"session": "my/session", "pattern": "("}, "recall": {"session": "my/session", "ref": "000000000000"},
	} {
		if text, failed := call(t, s, tool, in); !failed {
			t.Errorf("%s: %s", tool, text)
		}
	}
	for _, in := range []map[string]any{{"session": "other", "ref": ref}, {"session": "my/session", "ref": ref, "lines": "3-1"}, {"session": "my/session", "ref": ref, "lines": "0-2"}, {"session": "my/session", "ref": ref, "lines": "2"}, {"session": "my/session", "ref": ref, "lines": "1-2", "grep": "x"}, {"session": "my/session", "ref": ref, "grep": "("}} {
		if text, failed := call(t, s, "recall", in); !failed {
			t.Errorf("%v: %s", in, text)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A search says how many messages it did not search because the archive was changed.
func TestChangedMessagesAreCounted(t *testing.T) {
	dir := t.TempDir()
	archive, err := fs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	compacted(t, archive, "one")
	names, err := filepath.Glob(filepath.Join(dir, "one", "transcript-*"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	data, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{os.Chmod(names[0], 0o600), os.WriteFile(names[0], bytes.ReplaceAll(data, []byte("Needle-5 "), []byte("Noodle-5 ")), 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s, _ := client(t, func(context.Context) (storage.Archive, error) { return archive, nil })
	for pattern, want := range map[string]recall.Found{"needle-6 ": {Lines: 1, Changed: 1}, "needle-5 ": {Changed: 1}} {
		text, failed := call(t, s, "search", map[string]any{"session": "one", "pattern": pattern})
		var found recall.Found
		if err := json.Unmarshal([]byte(text), &found); err != nil || failed || found.Lines != want.Lines || found.Changed != want.Changed || found.Matches == nil {
			t.Errorf("%s: %s, %v", pattern, text, err)
		}
	}
}

// A read is recorded before the text is read; if it can't be recorded, nothing is read.
func TestReadsAreRecordedFirst(t *testing.T) {
	archive := archived(t, "my/session")
	var reads []string
	var refused error
	s, _ := client(t, func(context.Context) (storage.Archive, error) { return archive, nil }, Recorder(func(_ context.Context, session, op, what string) error {
		reads = append(reads, session+" "+op+" "+what)
		return refused
	}))
	type read struct {
		tool, of, what string
	}
	for _, refused = range []error{nil, errors.New("the record failed")} {
		for _, r := range []read{{"search", "pattern", "needle-3 "}, {"recall", "ref", "turn:3"}} {
			reads = nil
			text, failed := call(t, s, r.tool, map[string]any{"session": "my/session", r.of: r.what})
			if want := "my/session " + r.tool + " " + r.what; len(reads) != 1 || reads[0] != want {
				t.Errorf("recorded %q, want %q", reads, want)
			}
			if failed != (refused != nil) || failed && text != refused.Error() || !failed && !strings.Contains(text, "eedle") {
				t.Errorf("%s after %v: %.100q", r.tool, refused, text)
			}
		}
	}
}

// TestListedSessionsAreDescribedOnRequest: without about nothing is read, and nothing
// is recorded.
func TestListedSessionsAreDescribedOnRequest(t *testing.T) {
	archive := archived(t, "my/session")
	var reads []string
	var refused error
	s, _ := client(t, func(context.Context) (storage.Archive, error) { return archive, nil }, Recorder(func(_ context.Context, session, op, what string) error {
		reads = append(reads, session+" "+op+" "+what)
		return refused
	}))
	if text, failed := call(t, s, "sessions", nil); failed || strings.Contains(text, "Fix it.") || strings.Contains(text, "gpt-4o") || len(reads) > 0 {
		t.Errorf("without about: %s, recorded %q", text, reads)
	}
	text, failed := call(t, s, "sessions", map[string]any{"about": true})
	if failed || !strings.Contains(text, `"model":"gpt-4o"`) || !strings.Contains(text, `"begins":"Fix it."`) || !slices.Equal(reads, []string{"my/session sessions "}) {
		t.Errorf("with about: %s, recorded %q", text, reads)
	}
	refused = errors.New("the record failed")
	if text, failed := call(t, s, "sessions", map[string]any{"about": true}); !failed || strings.Contains(text, "Fix it.") {
		t.Errorf("an access that can't be recorded: %s", text)
	}
}

// TestUnreadableSessionIsListed: a changed session has a problem, and the others are
// described.
func TestUnreadableSessionIsListed(t *testing.T) {
	dir := t.TempDir()
	archive, err := fs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	compacted(t, archive, "one")
	compacted(t, archive, "two")
	name := filepath.Join(dir, "one", "ledger-001.json")
	for _, err := range []error{os.Chmod(name, 0o600), os.WriteFile(name, []byte(`{"v":2,"model":"another"}`), 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s, _ := client(t, func(context.Context) (storage.Archive, error) { return archive, nil })
	text, failed := call(t, s, "sessions", map[string]any{"about": true})
	var out sessionsOut
	if err := json.Unmarshal([]byte(text), &out); err != nil || failed || len(out.Sessions) != 2 {
		t.Fatalf("%s, %v", text, err)
	}
	for _, l := range out.Sessions {
		broken := l.Session == "one"
		if (l.Problem != "") != broken || (l.Begins == "Fix it.") == broken || l.Model == "another" {
			t.Errorf("%+v", l)
		}
	}
}

func TestFirstWordsAreOneLine(t *testing.T) {
	for text, want := range map[string]string{
		" a\n\tb ": "a b", "éé": "éé", "": "",
		"ééé": "éé…",
	} {
		if got := oneLine(text, 5); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestMissingArchiveIsReportedAndRetried(t *testing.T) {
	archive, there := archived(t, "s"), false
	s, _ := client(t, func(context.Context) (storage.Archive, error) {
		if !there {
			return nil, errors.New("no archive in .compact")
		}
		return archive, nil
	})
	for _, tool := range []string{"sessions", "search", "recall"} {
		in := map[string]any{"session": "s", "pattern": "x", "ref": "x"}
		if tool == "sessions" {
			in = nil
		} else if tool == "search" {
			delete(in, "ref")
		} else {
			delete(in, "pattern")
		}
		if text, failed := call(t, s, tool, in); !failed || !strings.Contains(text, "no archive") {
			t.Errorf("%s: %s", tool, text)
		}
	}
	there = true
	if text, failed := call(t, s, "sessions", map[string]any{"most": 1}); failed || !strings.Contains(text, `"s"`) {
		t.Error(text)
	}
}

func TestSessionsBeyondTheLimitAreCounted(t *testing.T) {
	archive := memory.New()
	for _, session := range []string{"a", "b", "c"} {
		compacted(t, archive, session)
	}
	s, _ := client(t, func(context.Context) (storage.Archive, error) { return archive, nil })
	for most, want := range map[int][2]int{0: {3, 0}, 1: {1, 2}, 3: {3, 0}} {
		text, failed := call(t, s, "sessions", map[string]any{"most": most})
		var out sessionsOut
		if err := json.Unmarshal([]byte(text), &out); err != nil || failed || len(out.Sessions) != want[0] || out.More != want[1] {
			t.Errorf("at most %d: %s, %v", most, text, err)
		}
	}
}

func TestLongTextsAreCut(t *testing.T) {
	for text, says := range map[string]string{
		strings.Repeat("a line\n", 10_000): "\n[4571 lines are shown of 10000: ",
		strings.Repeat("é", 40_000):        "é\n[32000 bytes are shown of 80000: ",
	} {
		got := bounded(text)
		if len(got) > maxText+100 || !strings.HasPrefix(text, got[:maxText-10]) || !strings.Contains(got, says) || strings.ToValidUTF8(got, "?") != got {
			t.Errorf("%d bytes: …%s", len(got), got[len(got)-80:])
		}
	}
	if bounded("short") != "short" {
		t.Error("a short text was changed")
	}
}
