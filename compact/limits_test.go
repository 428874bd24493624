package compact

import (
	"context"
	"errors"
	"hash/maphash"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/trace"
)

func small(t *testing.T, c Config) *CompactManager {
	t.Helper()
	c.Model, c.Archive = "gpt-4", memory.New()
	m, err := New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	return m
}

// An archive that was opened late is not missing any more, so summaries read originals from it.
func TestArchiveThatOpensLateIsNotMissing(t *testing.T) {
	m := small(t, Config{MaxContextTokens: 100_000})
	var none *lateArchive
	if err := none.missing(); err != nil {
		t.Errorf("an archive that opened at once is missing: %v", err)
	}
	a := newLate(&m.env, &m.side, "bucket", errors.New("no network"), func(context.Context) (storage.Archive, error) { return memory.New(), nil })
	if a.missing() == nil {
		t.Error("an archive that did not open is not missing")
	}
	a.try(t.Context())
	if err := a.missing(); err != nil {
		t.Errorf("after the archive was opened: %v", err)
	}
}

// If a compaction is due only because of the bytes of the request, it has no target in tokens
// below the cap.
func TestCompactionForBytesHasNoTargetInTokens(t *testing.T) {
	for reason, want := range map[string]int{trace.ReasonBytes: 9_000, trace.ReasonUsage: 4_000} {
		c := &call{res: &Result{Reason: reason}, ep: &epoch{model: model{exact: true}}}
		c.budget = policy.Budget{Max: 10_000, Cap: 9_000, Trigger: 8_000, Target: 4_000}
		var q reduce.Request
		if c.aim(&reduce.Engine{}, &q); q.Budget.Target != want || q.Budget.Cap != 9_000 {
			t.Errorf("%s: the target is %d of %d, want %d", reason, q.Budget.Target, q.Budget.Cap, want)
		}
	}
}

// A mask that works on every call has already masked the results that an offer
// would mask.
func TestOffersIncludeOnlyStagesThatWait(t *testing.T) {
	for when, want := range map[policy.When]bool{policy.AtTrigger: true, policy.Always: false} {
		c := &call{ep: &epoch{engine: &reduce.Engine{Steps: []reduce.Step{{Stage: policy.Mask{KeepFirst: 3}, When: when}}}}}
		mask, masks, cuts := c.stages()
		if mask.KeepFirst != 3 || masks != want || cuts {
			t.Errorf("%s: masks %v, cuts %v; want %v and false", when, masks, cuts, want)
		}
	}
}

// longer counts the characters of a message, and a hundred at least.
type longer struct{ perMessage }

func (longer) Message(m message.Message) int { return max(100, len(m.Text())) }

// A summary has the size of the one in the view, or else its limit and the words of the user.
func TestExpectedSummaryIncludesTheUsersWords(t *testing.T) {
	c := &call{ep: &epoch{}}
	c.ep.cfg.Summarizer.MaxTokens, c.ep.cfg.Summarizer.UserTokens = 3000, 250
	said := []message.Message{message.User("a"), message.Assistant("b"), message.User("c")}
	for name, test := range map[string]struct {
		msgs []message.Message
		want int
	}{
		"few words":  {said, 3000 + 200}, // perMessage counts a hundred tokens per message
		"many words": {append(said[:3:3], said...), 3000 + 250},
		"a summary":  {[]message.Message{policy.NewSummary(1, "s"), message.User("d")}, 100},
		// The next summary keeps to the limits, even if the one in the view was written under others.
		"a larger summary": {[]message.Message{policy.NewSummary(1, strings.Repeat("s", 9000)), message.User("d")}, 3000 + 250},
	} {
		if got := c.expected(policy.NewView(test.msgs, nil, longer{})); got != test.want {
			t.Errorf("%s: %d tokens, want %d", name, got, test.want)
		}
	}
}

// The estimate of cached tokens is at most the size of the history, which can have been rewound.
func TestCacheHoldsNoMoreThanTheHistory(t *testing.T) {
	c := &call{ep: &epoch{model: model{name: "m"}}, res: &Result{TokensIn: 1000}, asker: asker{began: time.Now()}}
	a := &account{sentPrompt: sentPrompt{known: true, model: "m", tools: maphash.Bytes(toolSeed, nil), last: c.began, inMarked: 5000}}
	if _, whole := a.cached(c); whole != 1000 {
		t.Errorf("%d tokens of a history of 1000, want 1000", whole)
	}
}

// The bill of a session includes the estimated part of the cost of its summaries.
func TestBillOfACallIsPartOfTheSessions(t *testing.T) {
	b := Bill{EstimatedUSD: 1, WholeUSD: 2, SummaryUSD: 3, SummaryEstimatedUSD: 0.5}
	if one := b.one(); one != (SessionBill{Calls: 1, EstimatedUSD: 1, WholeUSD: 2, SummaryUSD: 3, SummaryEstimatedUSD: 0.5}) {
		t.Errorf("%+v, want one call with all costs", one)
	}
}

// A session that leaves memory while a call uses it has no weight when the call ends.
func TestForsakenSessionHasNoWeight(t *testing.T) {
	for _, why := range []error{record.ErrScrubbed, record.ErrErased} {
		m := small(t, Config{MaxContextTokens: 100_000})
		s, err := m.session(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		m.mu.Lock()
		m.reweigh(s)
		m.mu.Unlock()
		m.forsake(s, why)
		s.stepsWeight += 1 << 20 // what the call learned meanwhile
		m.release(s)
		m.mu.Lock()
		if len(m.sessions) != 0 || m.bytes != 0 {
			t.Errorf("%v: %d sessions are in memory, with %d bytes; want 0 and 0", why, len(m.sessions), m.bytes)
		}
		m.mu.Unlock()
	}
}

// Edits are stored as a step every editBatch calls that change something.
func TestStepsOfEveryCallPresetsHaveABatch(t *testing.T) {
	m := small(t, Config{Preset: "masking", MaxContextTokens: 1_000_000})
	changed, steps := 0, []int(nil)
	for n := range 100 {
		res, err := m.Preflight(t.Context(), "s", reads(n+1))
		if err != nil {
			t.Fatal(err)
		}
		if res.Triggered {
			changed++
		}
		if res.Step > 0 {
			steps = append(steps, changed)
		}
	}
	if len(steps) != 2 || steps[0] != editBatch || steps[1] != 2*editBatch {
		t.Errorf("steps are stored at changes %v, want every %d", steps, editBatch)
	}
}
