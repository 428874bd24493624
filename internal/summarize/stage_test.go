package summarize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/strategy"
)

// coster counts four characters as one token, and four tokens a message.
type coster struct{}

func (coster) Text(s string) int { return (len(s) + 3) / 4 }

func (c coster) Message(m message.Message) int {
	n := 4
	for _, p := range m.Parts {
		n += c.Text(p.Text) + c.Text(string(p.Args)) + c.Text(p.Name)
	}
	return n
}

var pins = policy.Pins{message.RoleSystem, message.RoleDeveloper}

// view returns a view of msgs with a budget of limit tokens.
func view(msgs []message.Message, limit int) *policy.View {
	v := policy.NewView(msgs, pins, coster{})
	v.Budget = policy.Budget{Max: limit + 1500, Cap: limit, Trigger: limit * 85 / 100, Target: limit * 60 / 100}
	v.Keep = policy.Keep{Turns: 2, Pairs: 2}
	v.Goal = v.Budget.Target
	return v
}

// session returns a coding session of n rounds.
func session(n int) []message.Message {
	msgs := []message.Message{
		message.System("You are a coding agent."),
		message.User("Fix the failing import in service/importer.go. Never touch db/schema.sql. All tests must pass."),
	}
	for i := range n {
		id := fmt.Sprintf("call_%d", i)
		msgs = append(msgs,
			message.Assistant(fmt.Sprintf("Step %d: I'll edit pkg%d/handler%d.go because the loader skips rows.", i, i, i),
				message.Call(id, "edit", fmt.Sprintf(`{"path":"pkg%d/handler%d.go","old_string":"a","new_string":"func loadRows%d() {}"}`, i, i, i))),
			message.ToolResult(id, strings.Repeat(fmt.Sprintf("row %d of the table is fine and %d is not\n", 1000+i, 2000+i), 20)))
	}
	return append(msgs, message.User("Go on."), message.Assistant("Working on it."))
}

func stage(t *testing.T, w Writer) *Stage {
	t.Helper()
	s, err := NewStage(w)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// apply returns the messages after the proposal.
func apply(t *testing.T, v *policy.View, p policy.Proposal) []message.Message {
	t.Helper()
	if len(p.Groups) != 1 {
		t.Fatalf("%d groups, want 1", len(p.Groups))
	}
	c, err := reduce.NewConversation(v.Messages, pins, v.Forms).Apply(p.Groups[0])
	if err != nil {
		t.Fatal(err)
	}
	return c.Messages()
}

func TestStagePutsSummaryBetweenPinnedAndAnchor(t *testing.T) {
	v := view(session(20), 6000)
	p, err := stage(t, Writer{}).Propose(context.Background(), v)
	if err != nil {
		t.Fatal(err)
	}
	got := apply(t, v, p)
	if got[0].Role != message.RoleSystem {
		t.Errorf("first message has role %s", got[0].Role)
	}
	version, body, ok := policy.ParseSummary(got[1])
	if !ok || version != 1 {
		t.Fatalf("second message is %q, want summary v1", got[1].Text())
	}
	for _, want := range []string{"Never touch db/schema.sql", "service/importer.go", "## Goals and success criteria"} {
		if !strings.Contains(body, want) {
			t.Errorf("summary lacks %q:\n%s", want, body)
		}
	}
	if info := p.Groups[0][0].Cut.Summary; info.Backend != BackendExtractive || info.Input == 0 || info.Tokens > DefaultMaxTokens+80 { // 80 tokens for the user's words
		t.Errorf("summary info %+v", info)
	}
}

func TestStageCountsVersionsUpAndKeepsOneSummary(t *testing.T) {
	msgs := session(20)
	s := stage(t, Writer{})
	for want := 1; want <= 3; want++ {
		v := view(msgs, 6000)
		p, err := s.Propose(context.Background(), v)
		if err != nil {
			t.Fatal(err)
		}
		msgs = apply(t, v, p)
		summaries := 0
		for _, m := range msgs {
			if version, _, ok := policy.ParseSummary(m); ok {
				summaries++
				if version != want {
					t.Errorf("version %d, want %d", version, want)
				}
			}
		}
		if summaries != 1 {
			t.Fatalf("%d summaries after compaction %d", summaries, want)
		}
		msgs = append(msgs, session(12)[2:]...)
	}
}

func TestStageOffersNothingIfOnlyItsOwnMessagesAreLeft(t *testing.T) {
	msgs := []message.Message{
		message.System("s"), policy.NewSummary(3, "## Decisions\n- x"), policy.NewNotice(4),
		message.User("hi"), message.Assistant("hello"),
	}
	p, err := stage(t, Writer{}).Propose(context.Background(), view(msgs, 6000))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(policy.Proposal{}, p); d != "" {
		t.Error(d)
	}
}

type failing struct{ err error }

func (f failing) Summarize(context.Context, strategy.Request) (strategy.Draft, error) {
	return strategy.Draft{}, f.err
}

func TestStageFallsBackToPruningWithAReason(t *testing.T) {
	for _, earlier := range [][]int{{7}, {7, 5}} {
		msgs := session(20)
		var had []message.Message
		omitted := 0
		for _, n := range earlier {
			had, omitted = append(had, policy.NewNotice(n)), omitted+n
		}
		v := view(slices.Concat(msgs[:1], []message.Message{policy.NewSummary(2, "## Decisions\n- keep me")}, had, msgs[1:]), 6000)
		p, err := stage(t, Writer{Summarizer: failing{&strategy.Failure{Reason: strategy.ErrRejected, Status: 401}}}).Propose(context.Background(), v)
		if err != nil {
			t.Fatal(err)
		}
		if p.Summary == nil || p.Summary.Fallback != FallbackPruning || p.Summary.Attempts != 1 || len(p.Summary.Errors) != 1 {
			t.Fatalf("summary info %+v", p.Summary)
		}
		got := apply(t, v, p)
		removed := len(p.Groups[0][0].Cut.Removed) - len(earlier) // a notice is not a message of the session
		if n, ok := policy.ParseNotice(got[1]); !ok || n != removed+omitted {
			t.Errorf("after the notices %v: notice %q, want %d messages", earlier, got[1].Text(), removed+omitted)
		}
		if !policy.IsSummary(got[2]) {
			t.Errorf("the earlier summary is missing: %q", got[2].Text())
		}
	}
}

func TestStageUsesExtractiveFallbackWhenConfigured(t *testing.T) {
	v := view(session(20), 6000)
	p, err := stage(t, Writer{Summarizer: failing{&strategy.Failure{Reason: strategy.ErrRejected}}, Fallback: FallbackExtractive}).Propose(context.Background(), v)
	if err != nil {
		t.Fatal(err)
	}
	info := p.Groups[0][0].Cut.Summary
	if info == nil || info.Backend != BackendExtractive || info.Fallback != FallbackExtractive || len(info.Errors) == 0 {
		t.Errorf("summary info %+v", info)
	}
}

func TestStageReturnsTheContextsError(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := stage(t, Writer{}).Propose(ctx, view(session(20), 6000))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

func TestStageEstimateIsFreeAndHasTheSameCut(t *testing.T) {
	v := view(session(20), 6000)
	s := stage(t, Writer{Summarizer: failing{errors.New("must not be called")}})
	e, err := s.Estimate(v)
	if err != nil {
		t.Fatal(err)
	}
	p, err := stage(t, Writer{}).Propose(context.Background(), v)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(p.Groups[0][0].Cut.Removed, e.Groups[0][0].Cut.Removed); d != "" {
		t.Error(d)
	}
	if n := (coster{}).Message(*e.Groups[0][0].Cut.New); n < 60 || n > DefaultMaxTokens {
		t.Errorf("stand-in of %d tokens", n)
	}
}

func TestObserverGetsSummariesAndFailuresButNoEstimates(t *testing.T) {
	v, bad := view(session(20), 6000), errors.New("nobody answers")
	for _, c := range []struct {
		name       string
		summarizer strategy.Summarizer
		want       error
	}{{"summary", nil, nil}, {"failure", failing{bad}, bad}} {
		t.Run(c.name, func(t *testing.T) {
			var told []CallInfo
			s := stage(t, Writer{Summarizer: c.summarizer, Observe: func(i CallInfo) { told = append(told, i) }})
			if _, err := s.Estimate(v); err != nil || len(told) != 0 {
				t.Fatalf("the observer got an estimate: %+v, error %v", told, err)
			}
			if _, err := s.Propose(t.Context(), v); err != nil {
				t.Fatal(err)
			}
			if n := len(told); n != 3 || told[0].Phase != Started || told[1].Phase != Answered || told[n-1].Phase != Finished {
				t.Fatalf("observed %+v", told)
			}
			for _, i := range told[1:] {
				if !errors.Is(i.Err, c.want) {
					t.Errorf("%s: error %v, want %v", i.Phase, i.Err, c.want)
				}
			}
		})
	}
}

func TestStageKeepsSmallRemainder(t *testing.T) {
	msgs := []message.Message{message.User("hi"), message.Assistant("hello"), message.User("a"), message.Assistant("b"), message.User("c"), message.Assistant("d")}
	v := view(msgs, 6000)
	v.Manual = true
	p, err := stage(t, Writer{}).Propose(context.Background(), v)
	if err != nil || len(p.Groups) != 0 {
		t.Errorf("groups %v, error %v; want nothing", p.Groups, err)
	}
}

func TestNewStageRefusesAnUnknownFallback(t *testing.T) {
	_, err := NewStage(Writer{Fallback: "guess"})
	if err == nil || err.Error() != "strategy: fallback must be pruning-only or extractive (got guess)" {
		t.Errorf("error %v", err)
	}
	for _, known := range []string{"", FallbackPruning, FallbackExtractive} {
		if _, err := NewStage(Writer{Fallback: known}); err != nil {
			t.Errorf("%q: %v", known, err)
		}
	}
}

// The agent's model sees the whole view, so that a summary may name what stays in it.
func TestStagePassesTheVisibleMessages(t *testing.T) {
	msgs := append(session(20), message.Assistant("It is in lexer_table.go."))
	a := Agent{Model: "m", Seen: len(msgs), Ask: func(context.Context, string) (strategy.Draft, error) {
		return strategy.Draft{Text: "## Goals and success criteria\n- [open] fix service/importer.go, whose tables are in lexer_table.go\n"}, nil
	}}
	p, err := stage(t, Writer{Summarizer: a}).Propose(t.Context(), view(msgs, 6000))
	if err != nil || len(p.Groups) != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	if info := p.Groups[0][0].Cut.Summary; !strings.Contains(info.Text, "lexer_table.go") || info.Tokens != (coster{}).Text(info.Text) {
		t.Errorf("%d tokens: %s", info.Tokens, info.Text)
	}
}

func TestStageKeepsTheViewWithinTheBudget(t *testing.T) {
	for _, limit := range []int{900, 1200, 2000, 4000, 8000} {
		v := view(session(40), limit)
		v.Keep = policy.Keep{Turns: 6, Pairs: 4}
		p, err := stage(t, Writer{}).Propose(context.Background(), v)
		if err != nil {
			t.Fatal(err)
		}
		after := 0
		for _, m := range apply(t, v, p) {
			after += coster{}.Message(m)
		}
		if after > limit {
			t.Errorf("%d tokens in a budget of %d", after, limit)
		}
		if info := p.Groups[0][0].Cut.Summary; info == nil || info.Tokens > DefaultMaxTokens+80 { // 80 tokens for the user's words
			t.Errorf("budget %d: summary %+v", limit, info)
		}
	}
}

// countingSummarizer is a Summarizer that counts its calls.
type countingSummarizer struct{ asked int }

func (o *countingSummarizer) Summarize(context.Context, strategy.Request) (strategy.Draft, error) {
	o.asked++
	return strategy.Draft{Text: "## Decisions\n- shrink the keep counts"}, nil
}

func TestStageAsksOnceForAnyKeepCounts(t *testing.T) {
	o := &countingSummarizer{}
	v := view(session(40), 1500)
	v.Keep = policy.Keep{Turns: 30, Pairs: 30}
	if _, err := stage(t, Writer{Summarizer: o, MaxTokens: 300}).Propose(context.Background(), v); err != nil {
		t.Fatal(err)
	}
	if o.asked != 1 {
		t.Errorf("asked %d times", o.asked)
	}
}

func TestStagePrunesWithoutRoomForASummary(t *testing.T) {
	msgs := append(session(10), message.User(strings.Repeat("a very long request ", 200)))
	v := view(msgs, 1000)
	p, err := stage(t, Writer{Summarizer: failing{errors.New("must not be called")}}).Propose(context.Background(), v)
	if err != nil {
		t.Fatal(err)
	}
	if p.Summary == nil || p.Summary.Attempts != 0 || p.Summary.Fallback != FallbackPruning {
		t.Fatalf("summary info %+v", p.Summary)
	}
	if e := p.Groups[0][0]; e.Decision != policy.Dropped || e.Cut.Summary != nil {
		t.Errorf("edit %+v", e)
	}
}

// The existing summary costs more than a new summary may, because the setting was lowered.
// The view does not fit with this summary, and no other message is old. The stage
// therefore removes the summary together with the turns that do not fit beside it.
func TestStageRemovesTurnsForSummaryAboveItsLimit(t *testing.T) {
	msgs := []message.Message{message.System("You are a coding agent."), policy.NewSummary(3, "## Decisions\n"+strings.Repeat("- the loader keeps its rows in order\n", 90))}
	for i := range 3 {
		msgs = append(msgs, message.User(fmt.Sprintf("Part %d: %s", i, strings.Repeat("go on with the loader ", 50))), message.Assistant(fmt.Sprintf("Done with %d: %s", i, strings.Repeat("the rows are read ", 50))))
	}
	probe := view(msgs, 1<<20)
	v := view(msgs, probe.Total()-100)
	v.Keep = policy.Keep{Turns: 3, Pairs: 1}
	p, err := stage(t, Writer{MaxTokens: 200}).Propose(context.Background(), v)
	if err != nil || len(p.Groups) != 1 {
		t.Fatalf("%v: %d groups, the view does not fit", err, len(p.Groups))
	}
	cut := p.Groups[0][0].Cut
	if after := policy.NewView(apply(t, v, p), pins, coster{}).Total(); after > v.Budget.Cap || len(cut.Removed) < 3 {
		t.Errorf("%d tokens of %d, messages %v were removed", after, v.Budget.Cap, cut.Removed)
	}
}

// A view that does not fit may consist of messages that stay, with or without a summary.
func TestStageRewritesOnlyASummaryThatIsThere(t *testing.T) {
	asked := message.User("Go on: " + strings.Repeat("with the loader and its rows ", 60))
	old := policy.NewSummary(3, "## Decisions\n"+strings.Repeat("- the loader keeps its rows in order\n", 90))
	for name, c := range map[string]struct {
		msgs    []message.Message
		version int // of the summary afterwards, 0 = nothing is offered
	}{
		"a summary": {[]message.Message{message.System("s"), old, asked}, 4},
		"nothing":   {[]message.Message{message.System("s"), asked}, 0},
	} {
		v := view(c.msgs, view(c.msgs, 1<<20).Total()-100)
		p, err := stage(t, Writer{MaxTokens: 2000}).Propose(t.Context(), v)
		if err != nil {
			t.Fatal(err)
		}
		if c.version == 0 {
			if d := cmp.Diff(policy.Proposal{}, p); d != "" {
				t.Errorf("%s: %s", name, d)
			}
			continue
		}
		got := apply(t, v, p)
		if version, _, ok := policy.ParseSummary(got[1]); !ok || version != c.version || len(got) != len(c.msgs) || policy.NewView(got, pins, coster{}).Total() > v.Budget.Cap {
			t.Errorf("%s: %d messages, %q", name, len(got), got[1].Text())
		}
	}
}

func TestStageDoesNotModifyTheView(t *testing.T) {
	v := view(session(20), 6000)
	var before []string
	for _, m := range v.Messages {
		before = append(before, m.Fingerprint().String())
	}
	if _, err := stage(t, Writer{Redact: strings.ToUpper}).Propose(context.Background(), v); err != nil {
		t.Fatal(err)
	}
	for i, m := range v.Messages {
		if m.Fingerprint().String() != before[i] {
			t.Errorf("message %d was changed", i)
		}
	}
}

// The request for the summary of a conversation states how many of its messages come
// after the last words of the user that stay. The number is 0 if no words of the user
// stay.
func TestMessagesAfterTheUsersLastWordsAreCounted(t *testing.T) {
	s := stage(t, Writer{})
	with := s.cut(view(session(20), 2000))
	alone := session(20)
	for i := range alone {
		if alone[i].Role == message.RoleUser {
			alone[i] = message.Assistant("Nobody asks.")
		}
	}
	without := s.cut(view(alone, 2000))
	if with == nil || without == nil || len(without.removed) == 0 {
		t.Fatal("nothing is cut")
	}
	if n := with.after(); n != 0 { // the last message of the user stands behind the cut
		t.Errorf("%d messages come after the last user message of the view", n)
	}
	if n := without.after(); n != 0 {
		t.Errorf("%d messages come after a user message that is not there", n)
	}
}

func TestStageNamesItself(t *testing.T) {
	if got := stage(t, Writer{}).Name(); got != StageName {
		t.Errorf("name %q", got)
	}
}
