package compact_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/histgen"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/memory"
)

// A plan agrees with the next call, manual or not: in the view, the decisions and the
// reason.
func TestPropertyPlanEqualsTheNextCall(t *testing.T) {
	n := samples.Of(80)
	switch {
	case soak():
		n = 5_000
	case testing.Short():
		n = 20
	}
	calls, differ := 0, 0
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(seed, 19))
		c, _ := compact.Preset(oneOf(rng, "graduated", "economy", "summarize", "masking", "gateway", "history-reducer"))
		c.Model, c.Archive, c.MaxContextTokens = propertyModel, memory.New(), 6_000+rng.IntN(10_000)
		c.Tidy.Wait = time.Hour // all calls reduce the results, however busy the machine is
		m, err := compact.New(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		history := histgen.New(seed)
		for turn := range 6 {
			manual := turn == 4
			ask, do := m.Plan, m.Preflight
			if manual {
				ask = m.PlanManual
				do = func(ctx context.Context, session string, history []message.Message, opts ...compact.Option) (*compact.Result, error) {
					return m.ManualCompact(ctx, session, history, "", opts...)
				}
			}
			plan, planned := ask(context.Background(), "s", history)
			res, err := do(context.Background(), "s", history)
			calls++
			switch {
			case fmt.Sprint(planned) != fmt.Sprint(err):
				differ++
				t.Errorf("seed %d, %s, turn %d: planned %v, then %v", seed, c.Preset, turn, planned, err)
			case plan.Triggered != res.Triggered || plan.Reason != res.Reason || bytesOf(plan.Messages) != bytesOf(res.Messages) || fmt.Sprint(plan.Decisions) != fmt.Sprint(res.Decisions) || plan.After != res.After:
				differ++
				t.Errorf("seed %d, %s, turn %d: planned %v (%s, %d tokens, %d messages), then %v (%s, %d, %d)", seed, c.Preset, turn,
					plan.Triggered, plan.Reason, plan.After.Total, len(plan.Messages), res.Triggered, res.Reason, res.After.Total, len(res.Messages))
			}
			if res.Decisions != nil && seed%2 == 1 {
				history = res.Messages
			}
			history = histgen.Grow(history, rng)
		}
		_ = m.Close(context.Background())
	}
	t.Logf("%d of %d calls differ from their plan", differ, calls)
}

// The result of a manual compaction can't be compacted further: another manual
// compaction changes nothing, whether the caller keeps the view or the whole history.
func TestPropertyManualCompactionOfItsOwnResultChangesNothing(t *testing.T) {
	n := samples.Of(60)
	if testing.Short() {
		n = 20
	}
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(seed, 23))
		c, _ := compact.Preset(oneOf(rng, "graduated", "summarize", "masking", "gateway", "history-reducer"))
		c.Model, c.Archive, c.MaxContextTokens = propertyModel, memory.New(), 100_000
		m, err := compact.New(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		history := histgen.New(seed)
		first, err := m.ManualCompact(context.Background(), "s", history, "")
		if err != nil {
			continue
		}
		for name, again := range map[string]func() (*compact.Result, error){
			"the view":            func() (*compact.Result, error) { return m.ManualCompact(context.Background(), "s", first.Messages, "") },
			"the history":         func() (*compact.Result, error) { return m.ManualCompact(context.Background(), "s", history, "") },
			"the view, elsewhere": func() (*compact.Result, error) { return m.ManualCompact(context.Background(), "t", first.Messages, "") },
		} {
			res, err := again()
			if err != nil || res.Triggered || bytesOf(res.Messages) != bytesOf(first.Messages) {
				t.Errorf("seed %d, %s, %s: %v, triggered %v (%s), %d messages of %d; want no error and false", seed, c.Preset, name, err, res.Triggered, res.Reason, len(res.Messages), len(first.Messages))
			}
		}
		_ = m.Close(context.Background())
	}
}
