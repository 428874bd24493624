package summarize

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/strategy"
)

func TestDefaultLimitGrowsWithTarget(t *testing.T) {
	for _, c := range []struct {
		name    string
		w       Writer
		target  int
		want    int
		because string
	}{
		{"small", Writer{}, 19_200, 1500, "never less"},
		{"middle", Writer{}, 76_800, 3840, "a twentieth"},
		{"large", Writer{}, 600_000, 8000, "never more"},
		{"set", Writer{MaxTokens: 700}, 600_000, 700, "a configured limit is used as it is"},
		{"small model", Writer{Summarizer: sizedSummarizer(16_000)}, 600_000, 4000, "a quarter of the summarizer's window"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := &policy.View{Budget: policy.Budget{Target: c.target}}
			if got := stage(t, c.w).most(v); got != c.want {
				t.Errorf("%d, want %d: %s", got, c.want, c.because)
			}
		})
	}
}

// sizedSummarizer is a summarizer whose window has this number of tokens.
type sizedSummarizer int

func (sizedSummarizer) Summarize(context.Context, strategy.Request) (strategy.Draft, error) {
	return strategy.Draft{}, nil
}
func (s sizedSummarizer) Describe() strategy.Info {
	return strategy.Info{Name: "sized", Window: int(s), Remote: true}
}

func TestStageCutsNoFurtherThanTheTarget(t *testing.T) {
	v := view(session(60), 14_000)
	p, err := stage(t, Writer{MaxTokens: 400}).Propose(context.Background(), v)
	if err != nil {
		t.Fatal(err)
	}
	left := policy.NewView(apply(t, v, p), pins, coster{}).Total()
	const round = 300 // tokens of a round of the session, at most
	if left > v.Goal || left < v.Goal-400-round {
		t.Errorf("%d tokens are left, the target is %d", left, v.Goal)
	}
	v.Goal = -1
	if p, err = stage(t, Writer{MaxTokens: 400}).Propose(context.Background(), v); err != nil {
		t.Fatal(err)
	}
	if all := policy.NewView(apply(t, v, p), pins, coster{}).Total(); all >= left/2 {
		t.Errorf("%d tokens are left without a target, %d with one", all, left)
	}
}

// The newest words of the user are quoted whole, even if they exceed the limit of the words. The
// stage then removes more messages.
func TestStageMakesRoomForLongNewestWords(t *testing.T) {
	msgs, wishes, size := session(60), []message.Message{}, 0
	for i := range 10 {
		wish := message.User(fmt.Sprintf("Wish %d: ", i) + strings.Repeat(fmt.Sprintf("skip column %d of the loader; ", i), 20))
		wishes, size = append(wishes, wish, message.Assistant("All right.")), size+coster{}.Message(wish)
	}
	msgs = slices.Insert(msgs, 42, wishes...)
	v := view(msgs, 14_000)
	s := stage(t, Writer{MaxTokens: 400})
	if words := s.userTokens(v); size <= words {
		t.Fatalf("the words are not longer than %d tokens", words)
	}
	p, err := s.Propose(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	got := apply(t, v, p)
	if left := policy.NewView(got, pins, coster{}).Total(); left > v.Goal || !strings.Contains(got[1].Text(), strings.TrimSpace(wishes[0].Text())) {
		t.Errorf("%d tokens are left, the target is %d; the summary is\n%s", left, v.Goal, got[1].Text())
	}
}

func TestStageKeepsMessagesCheaperThanSummary(t *testing.T) {
	msgs := []message.Message{message.System("s")}
	for range 15 {
		msgs = append(msgs, message.User("go"), message.Assistant("yes"))
	}
	v := view(msgs, 4000)
	v.Goal = -1
	long := "## Goals and success criteria\n- " + strings.Repeat("word ", 30)
	p, err := stage(t, Writer{Summarizer: fixedSummarizer(long)}).Propose(context.Background(), v)
	if err != nil || len(p.Groups) > 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

// fixedSummarizer is a summarizer that always returns the same text.
type fixedSummarizer string

func (s fixedSummarizer) Summarize(context.Context, strategy.Request) (strategy.Draft, error) {
	return strategy.Draft{Text: string(s)}, nil
}

func TestLowTargetKeepsTheUsersWords(t *testing.T) {
	for _, c := range []struct{ limit, trigger, target, want int }{
		{2000, 170_000, 8400, 2000}, {2000, 170_000, 4000, 1000}, {2000, 170_000, 120_000, 2000}, // the target chosen by prices, the smallest target, and the configured target
		{2000, 6800, 4800, 480}, {5000, 42_000, 30_000, 3000}, {300, 170_000, 8400, 300}, {2000, 10, 0, 1},
	} {
		s := &Stage{w: Writer{UserTokens: c.limit}}
		if got := s.userTokens(&policy.View{Budget: policy.Budget{Trigger: c.trigger, Target: c.target}}); got != c.want {
			t.Errorf("%d of a target of %d and a trigger of %d: %d tokens, want %d", c.limit, c.target, c.trigger, got, c.want)
		}
	}
}

// A summary replaces messages only if it costs less than they do.
func TestStageUsesNoSummaryAsExpensiveAsTheMessages(t *testing.T) {
	msgs := []message.Message{message.System("s")}
	for range 15 {
		msgs = append(msgs, message.User("go"), message.Assistant("yes"))
	}
	used, refused := 0, 0
	for n := range 120 {
		v := view(msgs, 4000)
		v.Goal = -1
		p, err := stage(t, Writer{Summarizer: fixedSummarizer("## Goals and success criteria\n- go" + strings.Repeat(" yes", n))}).Propose(t.Context(), v)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Groups) == 0 {
			refused++
			continue
		}
		used++
		if after := policy.NewView(apply(t, v, p), pins, coster{}).Total(); after >= v.Total() {
			t.Errorf("%d words: the view cost %d, and now %d", n, v.Total(), after)
		}
	}
	if used == 0 || refused == 0 {
		t.Errorf("%d summaries are used, %d not", used, refused)
	}
}
