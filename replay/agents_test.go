package replay

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// Two agents of one session have histories of their own. FromArchive reads the history of
// the agent that compacted last, and its times alone.
func TestAnArchiveOfTwoAgentsGivesTheLastOne(t *testing.T) {
	c, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	a := memory.New()
	c.Model, c.MaxContextTokens, c.Archive = "gpt-4o", 8000, a
	m, err := compact.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	long, short := session("first", 60), session("second", 40)
	short.Messages[1] = message.User("Please read storage/fs.")
	for _, agent := range []struct {
		name string
		s    *Session
	}{{"one", long}, {"two", short}} {
		for _, at := range agent.s.Calls() {
			if _, err := m.Preflight(t.Context(), "s", agent.s.Messages[:at:at], compact.WithAgent(agent.name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	stored, err := record.OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	r, err := FromArchive(t.Context(), a, stored, "s")
	if err != nil || len(r.steps) == 0 || r.steps[0].Agent != "two" || r.Session.Messages[1].Text() != short.Messages[1].Text() || len(r.Session.Messages) >= len(short.Messages) {
		t.Errorf("%+v, %v", r, err)
	}
}

// An event of a call without counts, as an old program wrote it, has no message to date.
func TestEventsWithoutCountsDateNoMessage(t *testing.T) {
	a, stored := lived(t, "graduated", session("s", 30))
	logEvents(t, a, `{"kind":"compact.preflight","started_at":"2026-11-25T22:32:45Z","data":{}}`, `{"kind":"compact.preflight","started_at":"2026-11-25T22:32:45Z","data":{"message_count_in":100000}}`)
	if r, err := FromArchive(t.Context(), a, stored, "s"); err != nil || !r.Timed() {
		t.Errorf("%+v, %v", r, err)
	}
}

// An account without calls, and a total without costs, have no figures, and no mistake.
func TestNothingHasNoFigures(t *testing.T) {
	a := &Account{}
	if a.Window() != 0 || a.Agents() || a.Sums() != (AccountSums{}) || a.BetweenSteps() != "" || len(a.Sure()) != 0 {
		t.Errorf("%d, %v, %+v, %q", a.Window(), a.Agents(), a.Sums(), a.Sure())
	}
	if got := resampled(2, func(int) (float64, float64) { return 0, 0 }); got != (Interval{}) {
		t.Errorf("a share of nothing is %+v", got)
	}
	if got := total([]*Row{{Policy: "p"}}); got.OfRaw != (Interval{}) || got.Changed != 0 {
		t.Errorf("%+v", got)
	}
}

// The intervals of references do not change the scale of the chart, so that the points of
// this module's policies stay apart.
func TestReferencesDoNotSetTheScale(t *testing.T) {
	own := Total{Policy: "own", OfRaw: Interval{0.6, 0.5, 0.7}, Held: Interval{0.9, 0.85, 0.95}}
	of := func(low, high float64) string {
		ref := Total{Policy: "raw", Reference: true, OfRaw: Interval{0.8, low, high}, Held: Interval{0.95, low, 1}}
		_, drawn, _ := strings.Cut(scatter([]Total{own, ref}, map[string]int{"own": 0, "raw": 1}, "wide", 900, 420), `data-policy="own"`)
		_, circle, _ := strings.Cut(drawn, "<circle")
		circle, _, _ = strings.Cut(circle, "/>")
		return circle
	}
	if narrow, wide := of(0.8, 0.8), of(0.05, 3); narrow == "" || narrow != wide {
		t.Errorf("the point is at %q, with a wide interval of the reference at %q", narrow, wide)
	}
}

// A message is needed by a later answer that uses one of its identifiers, if it is the newest
// with it. Its age is the number of answers in between.
func TestNeedsOfASessionAreCounted(t *testing.T) {
	result := func(id, text string) message.Message { return message.ToolResult(id, text) }
	s := &Session{Name: "shop-1.jsonl", Messages: []message.Message{
		message.User("go"),                                  // age 4 at the end
		message.Assistant("one"), result("a", "pkg/old.go"), // age 3
		message.Assistant("two"), result("b", "pkg/new.go"), // age 2
		message.Assistant("three"), result("c", "pkg/new.go"), // age 1, the newest with that name
		message.Assistant("see pkg/old.go and pkg/new.go, twice pkg/new.go"), // uses the first at an age of 3 - 1 = 2 answers, the third at 0
	}}
	n := NewNeeds(0, 1, 2, 3)
	n.Add(s)
	var got []string
	for _, r := range n.Results() {
		got = append(got, fmt.Sprintf("%d: %d messages, %.3f", r.Age, r.Messages, r.Rate))
	}
	if want := "[0: 3 messages, 0.667 1: 3 messages, 0.333 2: 2 messages, 0.500 3: 1 messages, 0.000]"; fmt.Sprint(got) != want || n.Sessions() != 1 {
		t.Errorf("%v, want %s", got, want)
	}
	if said := n.Said(); said[0].Messages != 5 || said[0].Rate != 0 || said[3].Messages != 3 { // the request, and two answers
		t.Errorf("other messages: %+v", said)
	}
}
