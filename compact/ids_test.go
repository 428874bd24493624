package compact_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/tracetest"
)

// idForms are ids as agents, SDKs and providers make them.
var idForms = map[string]string{
	"hash of the command":       "4f0c8d5b1a6e9372c0d4b8e51f7a2c96",
	"sha-256":                   "9d1c0f64b7e2a853d6f0c1b2a3948576e1f2d3c4b5a6978811223344aabbccdd",
	"uuid 4":                    "7c9e6679-7425-40de-944b-e07fc1f90ae7",
	"uuid 7":                    "01932c07-2f3a-7d4e-9b1c-5a6f7e8d9c0b",
	"ulid":                      "01JCQ8Z4K7V2M9XW3T5R6N0YPB",
	"assistants thread":         "thread_aBcD3fGhIjKlMn0pQrStUv7x",
	"conversations":             "conv_68f1c2a9e4b08190a1b2c3d4e5f60718293a4b5c6d7e8f90",
	"responses":                 "resp_67cb32528d6881909eb2859a55e18a85064d9a1b2c3d4e5f",
	"realtime":                  "sess_BZt7nQw3KxL9mP2vR8sYd",
	"group id":                  "group_5f9a1c77b2e84d03a6c1e2f3b4a59687",
	"trace id":                  "trace_2b7e151628aed2a6abf7158809cf4f3c",
	"gemini":                    "projects/p-42/locations/us/sessions/8123456789012345678",
	"adk":                       "app:shop/user:u-81/3f2a9c4e-1d0b-4a8f-9c3d-7e6b5a4f3e2d",
	"nano id":                   "V1StGXR8_Z5jdHi6B-myT",
	"ksuid":                     "2BFeXcQ9t1m7xkTzWq4LJ8sYhRv",
	"claude code":               "user_3b1e9c_account__session_f47ac10b-58cc-4372-a567-0e02b2c3d479",
	"cuid":                      "cl9ebqhxk00003b600tymydho",
	"object id":                 "507f1f77bcf86cd799439011",
	"xid":                       "9m4e2mr0ui3e8a215n4g",
	"slack":                     "C024BE91L-1699999999.123459",
	"a name":                    "release-notes",
	"numbers":                   "1699999999123",
	"unnamed by the transport":  compact.UnnamedSession + "8f2b1c5d7e3a9460b1c2d3e4f5061728",
	"base64 of sixteen bytes":   "qL8R4QIcQ2ZsRyOAbeRfcZ==",
	"base64url of eighteen":     "aGVsbG8td29ybGQtMTIzNDU2Nzg5MA_x9Qz7",
	"a cookie-like random name": "s1d9XkQ7wZr2LmT8vB4nC6pJ",
}

// tellsOf returns the output of an agent's tools about its own session.
func tellsOf(id string) string {
	return fmt.Sprintf("session: %s\nsession=%s\nSESSION_ID=%s\n{\"session\":%q,\"sid\":%q,\"thread_id\":%q}\nresume the session %s now", id, id, id, id, id, id, id)
}

// agentOf returns an agent's id of the same form.
func agentOf(id string) string {
	letters := []byte(id)
	slices.Reverse(letters)
	return string(letters)
}

// branchOf returns a branch's id of the same form.
func branchOf(id string) string { return id[len(id)/2:] + id[:len(id)/2] }

// An id that names a session is not a secret anywhere: an audit log with
// <REDACTED> for each session would be useless, and a learned id would be
// removed from the session's transcripts.
func TestSessionIDsAreNeverTakenForSecrets(t *testing.T) {
	for i, name := range slices.Sorted(maps.Keys(idForms)) {
		if i%samples.Every(1) == 0 {
			t.Run(name, func(t *testing.T) { testSessionID(t, idForms[name]) })
		}
	}
}

func testSessionID(t *testing.T, id string) {
	w := watch(t, true)
	events := sayTheID(w, id)
	all := w.places()
	delete(all, "prompts")
	for where, text := range all {
		for i := strings.Index(text, "<REDACTED"); i >= 0; i = -1 {
			t.Errorf("%s: …%s…", where, text[max(0, i-60):min(len(text), i+40)])
		}
	}
	for _, e := range events {
		if e.Session.String() != id || e.Agent.Len() > 0 && e.Agent.String() != agentOf(id) {
			t.Errorf("an event is of %q, agent %q", e.Session, e.Agent)
		}
	}
	if len(events) == 0 {
		t.Error("there are no events")
	}
	folder, err := record.Prefix(id)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"events.jsonl", "ledger-001.json", "transcript-pre-compact-001.jsonl", "transcript-final-001.jsonl"} {
		data, err := os.ReadFile(filepath.Join(w.dir, folder.String(), name))
		if err != nil || !strings.Contains(string(data), id) {
			t.Errorf("%s does not name the session: %v", name, err)
		}
	}
}

// sayTheID uses a session whose history contains its id, and returns the
// events.
func sayTheID(w *outputs, id string) []trace.Event {
	ctx := context.Background()
	seen := &tracetest.Recorder{}
	w.tweak = func(c *compact.Config) {
		c.Exporters, c.Trace.PerSession = append(c.Exporters, seen), true
		c.Storage.Repeat = "full" // so that each transcript names it
	}
	history := loop(100, 200)
	history[5] = message.ToolResult(history[5].Parts[0].CallID, tellsOf(id)+"\n"+text(150))
	history[7] = message.ToolResult(history[7].Parts[0].CallID, tellsOf(agentOf(id))+"\n"+text(150))
	history[9] = message.ToolResult(history[9].Parts[0].CallID, tellsOf(branchOf(id))+"\n"+text(150))
	agent := compact.WithAgent(agentOf(id))
	w.run(compact.Config{}, func(m *compact.CompactManager) {
		var errs []error
		for range 2 { // the second call knows the facts of the first
			_, err := m.Preflight(ctx, id, history, agent, compact.WithBranch(branchOf(id)))
			errs = append(errs, err)
			history = append(history, message.User("go on with "+id))
		}
		_, err := m.ManualCompact(ctx, id, history, "of "+id, agent)
		if err := errors.Join(append(errs, err, m.Archive(ctx, id, history))...); err != nil {
			w.t.Fatal(err)
		}
	})
	return seen.Events()
}
