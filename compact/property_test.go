package compact_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/corpus"
	"github.com/agentcompact/compact/internal/histgen"
	"github.com/agentcompact/compact/internal/invariant"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/token"
	"github.com/agentcompact/compact/trace"
)

const propertyModel = "gpt-4o"

func soak() bool { return os.Getenv("COMPACT_SOAK") == "1" }

// pinnedByRole is the default: it pins system and developer messages, and
// protected ones.
func pinnedByRole(m message.Message) bool {
	return m.Protected || m.Role == message.RoleSystem || m.Role == message.RoleDeveloper
}

// session drives one manager through a session, and the judge checks every call.
type session struct {
	t        testing.TB
	m        *compact.CompactManager
	cost     *token.Estimator
	window   int
	tidies   bool // results are reduced on arrival
	kept     bool // the SDK keeps the view, instead of coming back with the whole history
	steps    []invariant.Step
	refused  int
	compacts int
	reduced  int // reducers that worked, over the calls
	copies   int // removed copies of system messages
	found    []invariant.Violation

	// origins holds the texts of parts before they were edited, for an SDK that keeps
	// the view: placeholders state the size of the original.
	origins map[originKey]string
}

type originKey struct {
	fp   message.Fingerprint
	part int
}

// origin returns the text of part p of history[i] before any compaction.
func (s *session) origin(history []message.Message) func(i, p int) string {
	return func(i, p int) string {
		if text, ok := s.origins[originKey{history[i].Fingerprint(), p}]; ok {
			return text
		}
		return history[i].Parts[p].Text
	}
}

// remember records the original texts of the parts that this call edited.
func (s *session) remember(c invariant.Case) {
	sources, ok := invariant.Sources(c)
	if !ok {
		return
	}
	for o, i := range sources {
		if i < 0 || len(c.In[i].Parts) != len(c.Out[o].Parts) {
			continue
		}
		for p := range c.In[i].Parts {
			if c.In[i].Parts[p].Text != c.Out[o].Parts[p].Text {
				s.origins[originKey{c.Out[o].Fingerprint(), p}] = c.Origin(i, p)
			}
		}
	}
}

func newSession(t testing.TB, window int, kept bool) *session {
	t.Helper()
	return newSessionOn(t, memory.New(), window, kept)
}

func newSessionOn(t testing.TB, archive *memory.Archive, window int, kept bool) *session {
	t.Helper()
	cost, err := token.NewEstimator(propertyModel, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return newSessionOf(t, compact.Config{Model: propertyModel, MaxContextTokens: window, Archive: archive}, cost, kept)
}

func newSessionOf(t testing.TB, c compact.Config, cost *token.Estimator, kept bool) *session {
	t.Helper()
	m, err := compact.New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	window := c.MaxContextTokens
	return &session{tidies: slices.Contains(c.Policy.Stages, "tidy"), t: t, m: m, cost: cost, window: window, kept: kept, origins: map[originKey]string{}}
}

// onlyDispatch is the one tool of the random histories that dispatches work.
func onlyDispatch(tool string) bool { return tool == "dispatch" }

func (s *session) close() { _ = s.m.Close(context.Background()) }

// call makes one call, and the judge checks the result. It returns the view.
func (s *session) call(history []message.Message, manual bool) []message.Message {
	frozen := invariant.Freeze(history)
	var res *compact.Result
	var err error
	if manual {
		res, err = s.m.ManualCompact(context.Background(), "s", history, "property")
	} else {
		res, err = s.m.Preflight(context.Background(), "s", history)
	}
	s.found = append(s.found, frozen()...)
	edited := s.kept && s.compacts > 0 // the input contains the edits of earlier calls
	compacted := res.Triggered && res.Reason != trace.ReasonArrival
	if compacted {
		s.compacts++
	}
	s.reduced += len(res.Tidied)
	step := invariant.Step{
		History: history, View: res.Messages, Triggered: compacted && !manual, Manual: manual && compacted,
		Tidies: s.tidies, Waits: !compacted && err == nil && res.Before.Total >= res.Trigger, Refused: err != nil,
		Before: res.Before.Total, After: res.After.Total, Budget: res.Budget, Target: res.Target,
		Trigger: min(s.window*85/100, s.window-1500),
	}
	if err != nil {
		s.refusal(history, res, err)
		s.steps = append(s.steps, step)
		return res.Messages
	}
	for _, d := range res.Decisions {
		step.Decisions = append(step.Decisions, d.Decision.String())
		if res.Triggered && d.Reason == "duplicate_of" {
			s.copies++
		}
	}
	s.steps = append(s.steps, step)
	c := invariant.Case{
		In: history, Out: res.Messages, Pinned: pinnedByRole, Decisions: step.Decisions,
		Cost: s.cost.Message, Text: s.cost.Text, Fixed: s.cost.Reply(), Budget: res.Budget, Target: res.Target,
		MaxSummaryTokens: max(1500, min(8000, res.Target/20)) + 32 + s.words(history, res.Target), Summarizes: true, KeepTurns: 6, KeepPairs: 4, MaskWindow: 10, MaskFirst: 2,
		Deeper: s.leaps(step), Tidies: s.tidies, Dispatch: onlyDispatch,
		Triggered: step.Triggered, Manual: step.Manual, Fallback: res.InvariantStatus != compact.InvariantsOK,
		Earlier:  res.Replayed > 0 || s.kept && s.compacts > 1,
		Reported: &invariant.Reported{In: res.TokensIn, Out: res.After.Total},
	}
	for _, d := range res.Decisions {
		c.Reported.Messages = append(c.Reported.Messages, [2]int{d.TokensBefore, d.TokensAfter})
	}
	if edited {
		c.MaskFirst, c.MaskWindow, c.Text = 0, 0, nil // the window was different then
	}
	c.Origin = s.origin(history)
	for _, v := range invariant.Check(c) {
		// A full history contains no real summary: a similar text is forged, and its version
		// does not count. A notice can't count the messages that an earlier summary or a
		// forged notice replaces.
		if !s.kept && strings.Contains(v.Detail, "replaces version") || strings.Contains(v.Detail, "the notice speaks of") {
			continue
		}
		s.found = append(s.found, v)
	}
	s.remember(c)
	for _, w := range res.Warnings {
		// A summary without room in the budget is not a discarded stage.
		if res.InvariantStatus != compact.InvariantsOK && !strings.Contains(w, "the requested summary failed") {
			s.found = append(s.found, invariant.Violation{Rule: "the edits of a stage were discarded", Detail: w})
		}
	}
	return res.Messages
}

// leaps reports whether the session has grown since the previous compaction by
// more than the distance from target to trigger.
func (s *session) leaps(step invariant.Step) bool {
	for k := len(s.steps) - 2; k >= 0; k-- {
		if before := &s.steps[k]; before.Triggered || before.Manual {
			return step.Before-before.After > step.Trigger-step.Target
		}
	}
	return false
}

// refusal checks the error with the independent floor.
func (s *session) refusal(history []message.Message, res *compact.Result, err error) {
	s.refused++
	var b *compact.BudgetError
	if !errors.As(err, &b) {
		s.found = append(s.found, invariant.Violation{Rule: "only insufficient budget may fail a call", Detail: err.Error()})
		return
	}
	r := invariant.Refusal{
		In: history, Out: res.Messages, Pinned: pinnedByRole, Cost: s.cost.Message, Fixed: s.cost.Reply(), Budget: res.Budget, Tokens: b.Tokens,
	}
	r.Named, r.Parts = namedBy(b)
	s.found = append(s.found, invariant.CheckRefusal(r)...)
}

// namedBy returns the messages that an error names, and the sum of the tokens that it
// names and counts.
func namedBy(b *compact.BudgetError) (at []int, sum int) {
	sum = b.Fixed
	for _, l := range b.Largest {
		at, sum = append(at, l.Index), sum+l.Tokens
	}
	for _, s := range b.Others {
		sum += s.Tokens
	}
	return at, sum
}

// again passes the same history once more, after a call with its beginning: the
// view is the same, without a compaction.
func (s *session) again(history, view []message.Message) {
	_, _ = s.m.Plan(context.Background(), "s", history[:(len(history)*2+2)/3]) // which may well be refused
	res, err := s.m.Preflight(context.Background(), "s", history)
	if err != nil || s.steps[len(s.steps)-1].Refused {
		return
	}
	if res.Triggered {
		s.found = append(s.found, invariant.Violation{Rule: invariant.RuleSame, Detail: "compacted again: " + res.Reason})
	}
	s.found = append(s.found, invariant.Same("the same history again", view, res.Messages)...)
}

// report fails the test for the findings.
func (s *session) report(label string) {
	s.t.Helper()
	s.found = append(s.found, invariant.Chain(s.steps...)...)
	for i, v := range s.found {
		if i == 5 {
			s.t.Errorf("%s: … and %d more", label, len(s.found)-i)
			return
		}
		s.t.Errorf("%s: %s", label, v)
	}
}

// chain continues a history until it was compacted a given number of times.
func (s *session) chain(history []message.Message, compactions int, grow func([]message.Message) []message.Message, manual func(int) bool) {
	for turn := 0; turn < 6*compactions && s.compacts < compactions; turn++ {
		view := s.call(history, manual(turn))
		s.again(history, view)
		if s.kept && !s.steps[len(s.steps)-1].Refused {
			s.again(view, view)
			history = view
		}
		history = grow(history)
	}
}

func TestPropertyRandomHistoriesChained(t *testing.T) {
	n := samples.Of(75)
	switch {
	case soak():
		n = 10_000
	case testing.Short():
		n = 30
	}
	compactions, calls, refused := 0, 0, 0
	seeds := samples.Seeds(n)
	for _, seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 7))
		window := []int{3_000, 4_500, 8_000, 16_000, 32_000}[rng.IntN(5)]
		s := newSession(t, window, seed%2 == 1)
		every := 5 + rng.IntN(20) // a manual compaction from time to time
		s.chain(histgen.New(seed), 1+rng.IntN(8),
			func(h []message.Message) []message.Message { return histgen.Grow(h, rng) },
			func(turn int) bool { return turn%every == every-1 })
		s.report(fmt.Sprintf("seed %d, window %d, kept %v", seed, window, s.kept))
		compactions, calls, refused = compactions+s.compacts, calls+len(s.steps), refused+s.refused
		s.close()
		if t.Failed() && !soak() {
			break
		}
	}
	t.Logf("%d histories, %d calls, %d compactions, %d refused (%.2f %%), every refusal confirmed by the independent floor",
		len(seeds), calls, compactions, refused, 100*float64(refused)/float64(max(calls, 1)))
}

func TestSweepRecordedSessionsAtThreeWindows(t *testing.T) {
	for _, window := range []int{8_000, 32_000, 128_000} {
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			sessions, calls, compactions, refused, refusedSessions, i := 0, 0, 0, 0, 0, 0
			for _, dir := range []string{"chat", "chat_asis"} {
				take := func() bool {
					i++
					return (soak() || i%samples.Every(32) == window/1000%32) && (!testing.Short() || i%64 == 8)
				}
				for name, data := range corpus.Some(t, dir, take) {
					msgs, _, err := openai.Parse(data)
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					s := newSession(t, window, i%2 == 1)
					s.replay(msgs)
					s.report(fmt.Sprintf("%s/%s, window %d, kept %v", dir, name, window, s.kept))
					sessions, calls, compactions, refused = sessions+1, calls+len(s.steps), compactions+s.compacts, refused+s.refused
					if s.refused > 0 {
						refusedSessions++
					}
					s.close()
				}
			}
			t.Logf("window %d: %d sessions, %d calls, %d compactions, %d calls refused in %d sessions", window, sessions, calls, compactions, refused, refusedSessions)
			if window == 128_000 && refused > 0 {
				t.Errorf("at 128k every session fits, %d calls were refused", refused)
			}
		})
	}
}

// replay calls the hook before model calls of a recorded session: as often as
// its length allows, up to 40 times.
func (s *session) replay(msgs []message.Message) {
	var at []int
	for i, m := range msgs {
		if m.Role == message.RoleAssistant && i > 0 {
			at = append(at, i)
		}
	}
	at = append(at, len(msgs))
	stride := max(1, len(at)/40)
	var history []message.Message
	done := 0
	for k := (len(at) - 1) % stride; k < len(at); k += stride {
		history = append(history[:len(history):len(history)], msgs[done:at[k]]...)
		done = at[k]
		view := s.call(history, false)
		if s.compacts > 8 {
			return
		}
		if s.kept && !s.steps[len(s.steps)-1].Refused {
			history = view
		}
	}
	s.again(history, s.steps[len(s.steps)-1].View)
}

// words returns the maximum size of the user's words in a summary: their share,
// or the cost of the ten longest messages, which are never cut while they are
// among the newest, plus the rest of each of the others. The words of an earlier
// summary are at most as long as that summary.
func (s *session) words(history []message.Message, target int) int {
	const number, stub = 8, 120 // tokens
	var costs []int
	earlier := 0
	for _, m := range history {
		switch {
		case m.Role == message.RoleUser:
			costs = append(costs, s.cost.Message(m)+number)
		case policy.IsSummary(m):
			earlier = max(earlier, s.cost.Message(m))
		}
	}
	slices.SortFunc(costs, func(a, b int) int { return b - a })
	n := 0
	for i, c := range costs {
		if i >= 10 {
			c = min(c, stub)
		}
		n += c
	}
	return max(min(2000, target/10), n) + earlier
}
