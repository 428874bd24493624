package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/price"
)

// Each share of a total is a quotient of two sums over its rows, which are computed here by
// hand. A share of nothing is unknown.
func TestSharesOfATotalAreQuotientsOfSums(t *testing.T) {
	rows := []*Row{
		{Policy: "p", Window: 9, Recalls: true, Calls: 10, Cost: 1, RawCost: 4, Changed: 3, Kept: Kept{Needed: 10, Held: 6, Recalled: 1, Told: Told{User: 1, UserOf: 2, Failed: 3, FailedOf: 4, False: 1, Stated: 8}}},
		{Policy: "p", Window: 9, Recalls: true, Calls: 30, Cost: 2, RawCost: 2, Changed: 7, Kept: Kept{Needed: 30, Held: 24, Recalled: 4, Told: Told{User: 4, UserOf: 8, Failed: 1, FailedOf: 4, False: 0, Stated: 2}}},
	}
	x := total(rows)
	for name, c := range map[string]struct {
		got  *Interval
		want float64
	}{
		"cost": {&x.OfRaw, 3.0 / 6}, "held": {&x.Held, 30.0 / 40}, "recalled": {x.Recall, 5.0 / 10}, "typed": {x.User, 5.0 / 10}, "failed": {x.Failed, 4.0 / 8}, "false": {x.False, 1.0 / 10},
	} {
		if c.got == nil || math.Abs(c.got.Value-c.want) > 1e-12 || c.got.Low > c.want || c.got.High < c.want {
			t.Errorf("%s: %+v, want %v", name, c.got, c.want)
		}
	}
	if x.Changed != 25 || x.Cost != 3 || x.Calls != 40 || x.Policy != "p" || x.Window != 9 {
		t.Errorf("%+v", x)
	}
	rows[0].Recalls, rows[0].Kept, rows[1].Kept = false, Kept{}, Kept{}
	if x := total(rows); x.Held != (Interval{1, 1, 1}) || x.Recall != nil || x.User != nil || x.Failed != nil || x.False != nil {
		t.Errorf("nothing was needed, and nothing removed: %+v", x)
	}
	if got := (&Row{Cost: 3}).OfRaw(); got != 0 {
		t.Errorf("a share of no cost is %v", got)
	}
}

// The words about the reliability of figures change at their limits.
func TestReliabilityChangesAtItsLimits(t *testing.T) {
	for _, c := range []struct {
		of    Interval
		count int
		want  string
	}{
		{Interval{0.9, 0.9, 0.9}, 10, ""},
		{Interval{0.9, 0.9, 0.9}, 9, "9 sessions: too few to tell small differences"},
		{Interval{1, 1, 1}, 10, "It saves no money on these sessions: the gain is calls that fit the window"},
		{Interval{0.9996, 0.9, 1.1}, 10, "It saves no money on these sessions: the gain is calls that fit the window"},
		{Interval{0.9, 0.8, 1}, 10, "That it saves money is not certain: in 95 of 100 samples of these sessions it costs 80.0–100.0 %"},
		{Interval{0.9, 0.8, 0.99}, 10, "In 95 of 100 samples of these sessions it costs 80.0–99.0 %, which is less than sending everything"},
	} {
		if got := strings.Join(sure(&Total{OfRaw: c.of}, nil, c.count), ". "); got != c.want {
			t.Errorf("%+v of %d: %q, want %q", c.of, c.count, got, c.want)
		}
	}
	list := []Total{
		{Policy: "raw", Reference: true, Calls: 50, Over: 3}, {Policy: "drop", Reference: true, Calls: 50, Over: 3}, {Policy: "a", Calls: 1, Refused: 1}, {Policy: "b", Calls: 5000, Over: 1200, Refused: 7}, {Policy: "c", Calls: 5},
	}
	want := []string{"sending everything leaves 3 of 50 calls above the window", "a leaves 1 of 1 call above the window", "b leaves 1,200 of 5,000 calls above the window"}
	if got := unsound(list); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Each window of a page has its own rows, in the order of the policies.
func TestEachWindowOfAPageHasItsOwnRows(t *testing.T) {
	d := &pageData{Report: &Report{}, index: map[string]int{"p": 0, "q": 1}}
	for i, session := range []string{"/x/a.jsonl", "/x/b.jsonl"} {
		for k, window := range []int{8000, 16_000} {
			for m, policy := range []string{"p", "q"} {
				d.Rows = append(d.Rows, Row{Session: session, Window: window, Policy: policy, Calls: 10 + i, RawCost: float64(1 + i), Cost: float64(100*i + 10*k + m), Points: []Point{{}}})
			}
		}
	}
	for k, window := range []int{8000, 16_000} {
		all := d.sessionsAt(window)
		if len(all) != 2 {
			t.Fatalf("%d sessions", len(all))
		}
		for i, s := range all {
			if s.Name != []string{"a.jsonl", "b.jsonl"}[i] || s.Calls != 10+i || s.Raw != float64(1+i) || len(s.Rows) != 2 {
				t.Errorf("window %d: %+v", window, s)
			}
			for m, r := range s.Rows {
				if r.Cost != float64(100*i+10*k+m) || r.Color != m {
					t.Errorf("window %d: row %d of %s costs %v, color %d", window, m, s.Name, r.Cost, r.Color)
				}
			}
		}
	}
}

// A file that several paths name is replayed once. Only files that can be sessions are taken
// from a folder.
func TestAFileIsReplayedOnce(t *testing.T) {
	dir := t.TempDir()
	var want []string
	for _, name := range []string{"a.jsonl", "b.json", "c.traj", "d.jsonl.gz", "sub/e.json.gz"} {
		want = append(want, filepath.Join(dir, filepath.FromSlash(name)))
		write(t, want[len(want)-1], []byte("x"))
	}
	for _, name := range []string{"f.txt", "g.gz", "h.jsonl.bak", "json"} {
		write(t, filepath.Join(dir, name), []byte("x"))
	}
	got, err := Files(want[1], dir, filepath.Join(dir, "*.jsonl"), want[1])
	if order := slices.Concat(want[1:2], want[:1], want[2:]); err != nil || !slices.Equal(got, order) {
		t.Errorf("%q, %v; want %q", got, err, order)
	}
}

// A transcript repeats the calls of earlier ones, so a recall is counted once. A later
// transcript can have the answer that an earlier one lacks.
func TestARecallInTwoTranscriptsIsCountedOnce(t *testing.T) {
	call := func(id, ref string) *message.Part {
		return &message.Part{Kind: message.KindToolCall, CallID: id, Name: recallTool, Args: json.RawMessage(`{"ref":"` + ref + `"}`)}
	}
	answer := &message.Part{Kind: message.KindToolResult, CallID: "c", Text: strings.Repeat("word ", 50)}
	count := estimator(t)
	all := recalling{count: count, at: map[recallKey]int{}}
	one, two := &AccountStep{Step: 1, Agent: "a", At: beginning}, &AccountStep{Step: 2, Agent: "b", At: beginning.Add(time.Hour)}
	for _, transcript := range []struct {
		step  *AccountStep
		parts []*message.Part
	}{{one, []*message.Part{call("c", "r"), answer, call("d", "s")}}, {two, []*message.Part{call("c", "r"), answer, call("d", "s"), {Kind: message.KindToolResult, CallID: "d", Text: "x"}, call("c", "r"), answer}}} {
		all.begin()
		for _, p := range transcript.parts {
			all.part(p, transcript.step)
		}
	}
	tokens := count.Part(*answer)
	want := []AccountRecall{
		{At: one.At, Agent: "a", Asked: `{"ref":"r"}`, Tokens: tokens}, {At: one.At, Agent: "a", Asked: `{"ref":"s"}`, Tokens: count.Part(message.Part{Kind: message.KindToolResult, CallID: "d", Text: "x"})},
		{At: two.At, Agent: "b", Asked: `{"ref":"r"}`, Tokens: tokens}, // an equal call of a later turn
	}
	if !slices.Equal(all.found, want) {
		t.Errorf("%+v, want\n%+v", all.found, want)
	}
}

// All texts of a message count as read: its text, the names of tools, and the names and
// values of arguments. Facts are judged only after a compaction.
func TestEachTextOfAMessageIsRead(t *testing.T) {
	m := message.Assistant("see main.go", message.Call("c", "read_file", `{"first_line":7001,"path":"a/b.go","list":["x_1",true]}`))
	n := newNeeds([]message.Message{m})
	for _, id := range []string{"main.go", "read_file", "first_line", "7001", "a/b.go", "x_1"} {
		if len(n.holds[id]) != 1 {
			t.Errorf("%s is not read", id)
		}
	}
	h := append([]message.Message{message.User("Never push to main.")}, failing("x", "go test ./storage")...)
	h = append(h, message.Assistant("Done."))
	measured := measure{needs: newNeeds(h)}
	at := len(h) - 1
	for _, compacted := range []bool{false, true} {
		k, err := measured.kept(t.Context(), at, h[:at], &View{Messages: h[:1], Sources: []int{0}, Compacted: compacted})
		if err != nil || (k.Told.FailedOf > 0) != compacted {
			t.Errorf("compacted %v: %+v, %v", compacted, k, err)
		}
	}
}

// A failed call has no point on the curves, because it is unknown what was sent.
func TestFailedCallsHaveNoPoint(t *testing.T) {
	a := &Account{Calls: []AccountCall{{In: 1000, Sent: 500}, {In: 2000, Sent: 900, Failed: "E"}, {In: 3000, Sent: 700}}}
	drawn := a.curve("wide", 860)
	lines := strings.Split(drawn, "<polyline points=\"")
	if len(lines) != 3 {
		t.Fatalf("%d curves", len(lines)-1)
	}
	for _, line := range lines[1:] {
		points, _, _ := strings.Cut(line, "\"")
		if n := strings.Count(points, ","); n != 2 {
			t.Errorf("%d points: %s", n, points)
		}
	}
	if (&Account{}).curve("wide", 860) != "" {
		t.Error("a session without calls has a curve")
	}
}

// A session with a flaw is replayed, and its flaw is reported in the order of the sessions.
// A short session is only counted.
func TestFlawsAreReportedInOrder(t *testing.T) {
	flawed, short := session("a", 6), session("b", 2)
	flawed.Flaw = errors.New("a is cut off")
	silent := &Session{Name: "c", Messages: []message.Message{message.User("hello")}}
	rep := run(t, Options{Policies: []Policy{Raw()}, Workers: 3, Least: AtLeast{Calls: 3}}, silent, short, flawed, session("d", 6))
	want := "[c: it has no answer, so there is no call to replay a is cut off]"
	if got := fmt.Sprint(rep.Errors); rep.Sessions != 2 || rep.Short != 1 || got != want || rep.Rows[0].Session != "a" || rep.Rows[1].Session != "d" {
		t.Errorf("%d sessions, %d short, %s", rep.Sessions, rep.Short, got)
	}
}

// Options that are not given have the documented defaults.
func TestOptionsHaveTheirDefaults(t *testing.T) {
	card, _ := price.For("gpt-4o")
	o, err := Options{Policies: []Policy{Raw()}}.filled()
	if err != nil || !slices.Equal(o.Windows, []int{200_000}) || o.Model != "gpt-4o" || o.Card != card || o.Workers < 1 {
		t.Errorf("%+v, %v", o, err)
	}
	sonnet, _ := price.For("claude-sonnet-4-5")
	given := Options{Policies: []Policy{Raw()}, Windows: []int{9}, Model: "gpt-4", Card: sonnet, Workers: 7}
	if o, err = given.filled(); err != nil || !slices.Equal(o.Windows, []int{9}) || o.Model != "gpt-4" || o.Card != sonnet || o.Workers != 7 {
		t.Errorf("%+v, %v", o, err)
	}
	s, count := session("a", 4), estimator(t)
	size := count.Messages(s.Messages)
	for least, want := range map[AtLeast]bool{{}: true, {Calls: 4}: true, {Calls: 5}: false, {Tokens: size}: true, {Tokens: size + 1}: false, {Tokens: size, Calls: 5}: false} {
		if least.isMetBy(s, count) != want {
			t.Errorf("a session of %d tokens and 4 calls has %v: %v", size, least, !want)
		}
	}
}
