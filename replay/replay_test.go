package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/price"
)

// session makes a session of a given number of tool rounds. Each answer uses a path
// from a result some rounds before.
func session(name string, rounds int) *Session {
	msgs := []message.Message{message.System("You are an agent."), message.User("Please fix the build of storage/fs.")}
	for i := range rounds {
		args := fmt.Sprintf(`{"path":"pkg/file%d.go","near":"pkg/dep%d.go"}`, i, max(i-12, 0))
		msgs = append(msgs,
			message.Assistant("I look at the next one.", message.Part{Kind: message.KindToolCall, CallID: fmt.Sprintf("c%d", i), Name: "read", Args: []byte(args)}),
			message.ToolResult(fmt.Sprintf("c%d", i), fmt.Sprintf("The file imports pkg/dep%d.go and says:\n%s", i, strings.Repeat("some line of code here\n", 60))))
	}
	return &Session{Name: name, Messages: msgs}
}

func run(t *testing.T, o Options, sessions ...*Session) *Report {
	t.Helper()
	rep, err := Run(t.Context(), Of(sessions...), o)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func preset(t *testing.T, name string) Policy {
	t.Helper()
	c, err := compact.Preset(name)
	if err != nil {
		t.Fatal(err)
	}
	return Managed(name, c)
}

func TestRawCostsTheRawCostAndKeepsAll(t *testing.T) {
	rep := run(t, Options{Policies: []Policy{Raw()}, Windows: []int{8000}, Gap: time.Second}, session("a", 40))
	row, total := rep.Rows[0], rep.Totals[0]
	if row.Cost != row.RawCost || total.OfRaw.Value != 1 || total.Held.Value != 1 || row.Changed != 0 {
		t.Errorf("raw differs from its own reference: %+v, %+v", row, total)
	}
	if row.Calls != 40 || row.Over == 0 || row.Needed == 0 {
		t.Errorf("calls %d, over the window %d, needed %d; want 40, some, some", row.Calls, row.Over, row.Needed)
	}
}

func TestManagedStaysWithinTheWindowAndCostsLess(t *testing.T) {
	rep := run(t, Options{Policies: []Policy{preset(t, "graduated")}, Windows: []int{8000}, Gap: time.Second}, session("a", 60))
	row := rep.Rows[0]
	if row.Over != 0 || row.Refused != 0 || row.Compactions == 0 || row.Compactions > row.Calls/4 {
		t.Errorf("over %d, refused %d, compactions %d of %d calls", row.Over, row.Refused, row.Compactions, row.Calls)
	}
	if row.Cost >= row.RawCost || row.Largest > 8000 {
		t.Errorf("costs %v of %v, largest prompt %d", row.Cost, row.RawCost, row.Largest)
	}
	if row.Held >= row.Needed {
		t.Errorf("nothing that was needed is missing at 8,000 tokens of %d needed: the measure sees nothing", row.Needed)
	}
}

func TestColdCacheIsRewritten(t *testing.T) {
	card, _ := price.For("claude-sonnet-4-5")
	warm := run(t, Options{Policies: []Policy{Raw()}, Card: card, Gap: card.Lifetime}, session("a", 40)).Rows[0]
	cold := run(t, Options{Policies: []Policy{Raw()}, Card: card, Gap: card.Lifetime + time.Second}, session("a", 40)).Rows[0]
	if warm.Usage.Cached == 0 || cold.Usage.Cached != 0 || cold.Usage.Prompt() != warm.Usage.Prompt() {
		t.Errorf("cached %d warm and %d cold, prompts of %d and %d tokens", warm.Usage.Cached, cold.Usage.Cached, warm.Usage.Prompt(), cold.Usage.Prompt())
	}
}

func TestRunIsDeterministicAndKeepsTheOrder(t *testing.T) {
	var sessions []*Session
	for i := range 6 {
		sessions = append(sessions, session(fmt.Sprint("s", i), 10+2*i))
	}
	o := Options{Policies: []Policy{preset(t, "graduated"), preset(t, "masking"), Sliding(3), DropOldest(3), Summarize(0.85)}, Windows: []int{5000, 4000}}
	var out [2]bytes.Buffer
	for i := range out {
		o.Workers = 1 + 3*i
		rep := run(t, o, sessions...)
		if err := rep.WriteCSV(&out[i]); err != nil {
			t.Fatal(err)
		}
		if err := rep.Write(&out[i]); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(out[0].String(), out[1].String()); diff != "" {
		t.Errorf("two runs differ:\n%s", diff)
	}
}

func TestUnreplayableSessionIsReportedAndOthersContinue(t *testing.T) {
	broken := errors.New("broken.jsonl:3: not JSON")
	sources := []func() (*Session, bool, error){
		func() (*Session, bool, error) { return session("a", 5), true, nil },
		func() (*Session, bool, error) { return nil, true, broken },
		func() (*Session, bool, error) {
			return &Session{Name: "silent", Messages: []message.Message{message.User("hello")}}, true, nil
		},
		func() (*Session, bool, error) { return session("b", 5), true, nil },
		func() (*Session, bool, error) { return nil, false, nil },
	}
	n := -1
	rep, err := Run(t.Context(), func() (*Session, bool, error) { n = min(n+1, len(sources)-1); return sources[n]() }, Options{Policies: []Policy{Raw()}})
	if err != nil {
		t.Fatal(err)
	}
	if rep.Sessions != 2 || len(rep.Errors) != 2 || !errors.Is(rep.Err(), broken) || !strings.Contains(rep.Err().Error(), "silent: it has no answer") {
		t.Errorf("%d sessions, errors %v", rep.Sessions, rep.Err())
	}
}

func TestFinishedPartIsReportedWhenTheContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	from := func() (*Session, bool, error) {
		if n++; n == 3 {
			cancel()
		}
		return session(fmt.Sprint("s", n), 5), true, nil
	}
	rep, err := Run(ctx, from, Options{Policies: []Policy{Raw()}, Workers: 1})
	if !errors.Is(err, context.Canceled) || rep.Sessions != 2 || len(rep.Errors) != 0 {
		t.Errorf("Run = %v, %d sessions, errors %v; want the context's error and two sessions", err, rep.Sessions, rep.Errors)
	}
}

func TestProgressReachesTheTotal(t *testing.T) {
	last, total := 0, 0
	run(t, Options{Policies: []Policy{Raw(), Sliding(2)}, Workers: 1, Progress: func(d, n int) {
		if d != last+1 {
			t.Errorf("progress jumps from %d to %d", last, d)
		}
		last, total = d, n
	}}, session("a", 7), session("b", 3))
	if last != 30 || total != 30 {
		t.Errorf("ended at %d of %d, want 30 of 30", last, total)
	}
}

func TestProgressIncludesRemainingSessions(t *testing.T) {
	var totals []int
	run(t, Options{Policies: []Policy{Raw()}, Workers: 1, Expected: 3, Progress: func(_, n int) { totals = append(totals, n) }}, session("a", 4), session("b", 6), session("c", 5))
	if totals[0] != 24 || totals[8] != 30 || totals[len(totals)-1] != 30 { // two runs of a session: raw, and the policy
		t.Errorf("the totals are %v, want 24 of 3 sessions at first, 30 in the end", totals)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, o := range []Options{{}, {Policies: []Policy{Raw()}, Card: price.Card{Input: -1}}} {
		if _, err := Run(t.Context(), Of(), o); err == nil {
			t.Errorf("Run(%+v) has no error", o)
		}
	}
}
