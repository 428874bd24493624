package ariadnetest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/agentcompact/compact/trace/ariadne/ariadnetest"
)

// good returns a trace event, a parent and two children that the page shows well.
func good() []map[string]any {
	span := func(id, parent, start, end string) map[string]any {
		m := map[string]any{
			"type": "span", "trace_id": "t", "span_id": id, "name": "compact.archival", "kind": "compact.archival", "status": "ok",
			"started_at": "2026-11-21T04:10:00." + start + "Z", "ended_at": "2026-11-21T04:10:00." + end + "Z",
			"data": json.RawMessage(`{"session_id":"7","output_text":"x"}`),
		}
		if parent != "" {
			m["parent_id"] = parent
		}
		return m
	}
	return []map[string]any{
		{
			"type": "trace", "trace_id": "t", "name": "session 7", "group_id": "7",
			"started_at": "2026-11-21T04:10:00.000Z", "ended_at": "2026-11-21T04:10:00.300Z",
			"metadata": map[string]string{"agent_name": "session 7"},
		},
		span("00000000000000a1", "", "000", "200"),
		span("00000000000000a2", "00000000000000a1", "000", "010"),
		span("00000000000000a3", "00000000000000a1", "001", "100"),
	}
}

func send(t *testing.T, srv *ariadnetest.Server, batch []map[string]any) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"batch": batch})
	if err != nil {
		t.Fatal(err)
	}
	if status, answer := post(t, srv, string(body)); status != 200 {
		t.Fatalf("%d %s", status, answer)
	}
}

func TestViewerHasNoProblemWithAGoodCall(t *testing.T) {
	srv := ariadnetest.NewServer(t) // would fail the test by itself
	send(t, srv, good())
	if p := srv.Problems(); len(p) != 0 {
		t.Errorf("problems: %v", p)
	}
}

func TestViewerFindsEachFault(t *testing.T) {
	for want, plant := range map[string]func(b []map[string]any){
		"span_id was sent before":         func(b []map[string]any) { b[3]["span_id"] = b[2]["span_id"] },
		"start in the same millisecond":   func(b []map[string]any) { b[3]["started_at"] = b[2]["started_at"] },
		"is not in trace t":               func(b []map[string]any) { b[3]["parent_id"] = "00000000000000ff" },
		"its own ancestor":                func(b []map[string]any) { b[1]["parent_id"] = b[3]["span_id"] },
		"ends at or after its parent":     func(b []map[string]any) { b[3]["ended_at"] = b[1]["ended_at"] },
		"ends at or after its trace":      func(b []map[string]any) { b[0]["ended_at"] = b[1]["ended_at"] },
		"span_id is not 16 hex digits":    func(b []map[string]any) { b[3]["span_id"] = "a3" },
		"name, kind or status is missing": func(b []map[string]any) { delete(b[3], "kind") },
		"in progress for ever":            func(b []map[string]any) { delete(b[3], "ended_at") },
		"ruins the time axis":             func(b []map[string]any) { b[3]["started_at"] = "0001-01-01T00:00:00Z" },
		"the icon of a request":           func(b []map[string]any) { b[3]["name"] = "compact.budget_check" },
		"the inspector is empty":          func(b []map[string]any) { delete(b[3], "data") },
		"data has no session_id":          func(b []map[string]any) { b[3]["data"] = json.RawMessage(`{"output_text":"x"}`) },
		"data.messages is taken for the text": func(b []map[string]any) {
			b[3]["data"] = json.RawMessage(`{"session_id":"7","messages":5,"output_text":"x"}`)
		},
		`data ends with "n"`: func(b []map[string]any) { b[3]["data"] = json.RawMessage(`{"session_id":"7","output_text":"x","n":1}`) },
		"an error without a text": func(b []map[string]any) {
			b[3]["status"], b[3]["data"] = "error", json.RawMessage(`{"session_id":"7"}`)
		},
		"a group without a label":      func(b []map[string]any) { b[0]["metadata"] = map[string]string{"model": "gpt-4"} },
		"so no bar":                    func(b []map[string]any) { delete(b[0], "started_at") },
		"its id is shown":              func(b []map[string]any) { delete(b[0], "name") },
		"has no trace event":           func(b []map[string]any) { b[0]["trace_id"] = "other" },
		"key \"group_id\" is silently": func(b []map[string]any) { b[3]["group_id"] = "7" },
	} {
		t.Run(want, func(t *testing.T) {
			srv := open(t)
			batch := good()
			for i := range batch {
				batch[i] = maps.Clone(batch[i])
			}
			plant(batch)
			send(t, srv, batch)
			if p := strings.Join(srv.Problems(), "\n"); !strings.Contains(p, want) {
				t.Errorf("not found; problems: %s", p)
			}
		})
	}
}

func TestViewerAcceptsForeignParents(t *testing.T) {
	srv := ariadnetest.NewServer(t)
	srv.KnowSpan("t", "00000000000000ff")
	batch := good()[1:]
	batch[0]["parent_id"] = "00000000000000ff"
	send(t, srv, batch)
}

// fake is a test that can be failed without failing.
type fake struct {
	testing.TB
	cleanup []func()
	errors  []string
}

func (f *fake) Helper()                      {}
func (f *fake) Cleanup(fn func())            { f.cleanup = append(f.cleanup, fn) }
func (f *fake) Errorf(s string, args ...any) { f.errors = append(f.errors, fmt.Sprintf(s, args...)) }

func TestServerFailsTheTestThatSentSomethingWrong(t *testing.T) {
	tb := &fake{TB: t}
	srv := ariadnetest.NewServer(tb)
	for range 30 {
		post(t, srv, `{"events":[]}`)
	}
	for _, f := range tb.cleanup {
		f()
	}
	if len(tb.errors) != 21 || !strings.HasPrefix(tb.errors[0], "Ariadne: 400: ") || tb.errors[20] != "and 10 more problems" {
		t.Errorf("errors: %q", tb.errors)
	}
}

func TestServerReportsNoParentThatItDroppedItself(t *testing.T) {
	srv := ariadnetest.NewServer(t)
	srv.SetMode(ariadnetest.Failing)
	post(t, srv, `{"batch":[]}`)
	srv.SetMode(ariadnetest.Live)
	send(t, srv, good()[2:]) // neither parent nor trace event
	if c := srv.Counts(); c.Posts != 2 || c.Spans != 2 {
		t.Errorf("counts = %+v", c)
	}
	if n := len(srv.Bodies()); n != 2 {
		t.Errorf("%d bodies kept, want both", n)
	}
}
