package compact

import (
	"context"
	"testing"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage/memory"
)

// A step comes after the edits that its decision knew. An edit of another process that is read
// before the commit comes after the step: a replay in another order would leave the step out.
func TestStepComesAfterTheEditsThatItKnew(t *testing.T) {
	m, err := New(t.Context(), Config{Preset: "masking", Model: "gpt-4", MaxContextTokens: 1_000_000, Archive: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(context.Background()) }()
	c := newCall(m, "s", reads(3), request{})
	if err := c.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer c.release()
	if err := c.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.s.mu.Lock()
	c.s.learnEdit(ledger.Step{Session: "s", Kind: "preflight", Seq: 5})
	c.s.mu.Unlock()
	if c.s.lastEdit() != 5 {
		t.Fatalf("the last known edit is %d, want 5", c.s.lastEdit())
	}
	if step := c.ledger(&run{}, &reduce.Outcome{Conversation: c.now.conv}, 1); step.Edits != 0 {
		t.Errorf("the step comes after edit %d, which the decision did not know", step.Edits)
	}
}

// A summary that is being written serves an offer only if it was begun for that offer: the same
// turns, and the same turns whose results are masked.
func TestSummaryIsReadyOnlyForItsOffer(t *testing.T) {
	ep := &epoch{}
	c := &call{ep: ep, lane: &lane{}}
	waiting := summaryOnItsWay(t, c.lane)
	offer := policy.Offer{Keep: policy.Keep{Turns: 6, Pairs: 2}, Cut: true, Mask: 8}
	other := func(change func(*policy.Offer)) policy.Offer { o := offer; change(&o); return o }
	for name, test := range map[string]struct {
		ahead *expectedCompaction
		offer policy.Offer
		want  bool
	}{
		"its own":       {&expectedCompaction{ep: ep, offer: &offer}, offer, true},
		"none is begun": {nil, offer, false},
		"other turns":   {&expectedCompaction{ep: ep, offer: &offer}, other(func(o *policy.Offer) { o.Keep.Turns = 12 }), false},
		"other pairs":   {&expectedCompaction{ep: ep, offer: &offer}, other(func(o *policy.Offer) { o.Keep.Pairs = 3 }), false},
		"other masks":   {&expectedCompaction{ep: ep, offer: &offer}, other(func(o *policy.Offer) { o.Mask = 0 }), false},
		"no cut":        {&expectedCompaction{ep: ep, offer: &offer}, other(func(o *policy.Offer) { o.Cut = false }), false},
		"other model":   {&expectedCompaction{ep: &epoch{}, offer: &offer}, offer, false},
		"the window's":  {&expectedCompaction{ep: ep}, offer, false},
	} {
		c.lane.ahead = test.ahead
		if got := c.hasSummaryFor(test.offer); got != test.want {
			t.Errorf("%s: ready %v, want %v", name, got, test.want)
		}
	}
	c.lane.ahead = &expectedCompaction{ep: ep, offer: &offer}
	if waiting.Throw(); c.hasSummaryFor(offer) {
		t.Error("the summary is ready although it was thrown away")
	}
}

// summaryOnItsWay begins a summary for a lane, which is never finished.
func summaryOnItsWay(t *testing.T, l *lane) *summarize.Flights {
	t.Helper()
	stage, err := summarize.NewStage(summarize.Writer{Summarizer: &asked{}})
	if err != nil {
		t.Fatal(err)
	}
	v := policy.NewView(reads(200), nil, perMessage{})
	v.Budget, v.Keep, v.Goal = policy.Budget{Max: 20_000, Cap: 16_000, Trigger: 15_000, Target: 8_000}, policy.Keep{Turns: 2, Pairs: 2}, 8_000
	ahead := summarize.Beside{Ahead: true, Flights: &l.flights, Start: func(func(context.Context)) bool { return true }}
	if _, err := stage.Beside(ahead).Propose(t.Context(), v); err != nil || !l.flights.Waiting() {
		t.Fatalf("no summary is begun: %v", err)
	}
	return &l.flights
}
