package strategy_test

import (
	"fmt"
	"math"
	"math/rand"
	"os"
	"slices"
	"testing"

	"github.com/agentcompact/compact/internal/corpus"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/strategy/eval"
)

func TestRankingPutsWhatTheAssistantUsesBeforeWhatItWasOnlyShown(t *testing.T) {
	msgs := []message.Message{
		message.User("fix the loader"),
		message.Assistant("reading", message.Call("a", "read", `{"path":"src/used_file.go"}`)),
		message.ToolResult("a", "src/other_file.go src/third_file.go src/fourth_file.go"),
		message.Assistant("I changed src/used_file.go"),
	}
	x := strategy.NewHistory(strategy.Request{Strategy: strategy.TaskState, Messages: msgs, First: 1, Count: count4}).Index
	if top := x.Top(1); len(top) != 1 || top[0].Text != "src/used_file.go" {
		t.Errorf("first is %+v", top)
	}
}

func TestRankingPutsWhatIsVisibleLast(t *testing.T) {
	msgs := []message.Message{message.Assistant("src/seen_file.go and src/gone_file.go")}
	visible := []message.Message{message.Assistant("src/seen_file.go")}
	x := strategy.NewHistory(strategy.Request{Strategy: strategy.TaskState, Messages: msgs, Visible: visible, First: 1, Count: count4}).Index
	if top := x.Top(2); len(top) != 2 || top[0].Text != "src/gone_file.go" || !top[1].Visible {
		t.Errorf("order %+v", top)
	}
}

func count4(s string) int { return (len(s) + 3) / 4 }

// A sample is one identifier that left the view, and whether it was needed.
type sample struct {
	features []float64
	needed   float64
	group    int // by source
}

// TestRankingCanBeFittedAgain prints the weights that the recorded sessions
// give (COMPACT_TRAIN=1), and how good each source is ranked by the weights
// that the other sources give.
func TestRankingCanBeFittedAgain(t *testing.T) {
	if os.Getenv("COMPACT_TRAIN") == "" {
		t.Skip("set COMPACT_TRAIN=1 to fit the weights of the ranking")
	}
	samples, groups := samples(t)
	for i, w := range fit(samples, -1) {
		fmt.Printf("feature %2d: %7.2f (now %7.2f)\n", i, w, strategy.Weights()[i])
	}
	for g := range groups {
		own := slices.DeleteFunc(slices.Clone(samples), func(s sample) bool { return s.group != g })
		fmt.Printf("source %2d: log loss %.4f, now %.4f\n", g, loss(own, fit(samples, g)), loss(own, strategy.Weights()))
	}
}

func samples(t *testing.T) (out []sample, groups int) {
	c := counter(t)
	cost := func(m message.Message) int {
		n := 4
		for _, p := range m.Parts {
			n += c.Count(p.Text) + c.Count(string(p.Args))
		}
		return n
	}
	sources := map[string]int{}
	for name, data := range corpus.Sessions(t, "chat") {
		msgs, _, err := openai.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		source := name[:min(len(name), 8)]
		if _, ok := sources[source]; !ok {
			sources[source] = len(sources)
		}
		for _, window := range []int{32_000, 128_000} {
			if s, ok := eval.Cut(eval.Session{Messages: msgs}, window, cost); ok && len(s.Needed) > 0 {
				out = append(out, samplesOf(&s, sources[source])...)
			}
		}
	}
	return out, len(sources)
}

func samplesOf(s *eval.Split, group int) (out []sample) {
	x := strategy.NewHistory(strategy.Request{Strategy: strategy.TaskState, Messages: s.Evicted, Visible: slices.Concat(s.Pinned, s.Recent), First: 1, Count: count4}).Index
	for _, e := range x.All() {
		if e.Visible {
			continue
		}
		needed := 0.0
		if slices.Contains(s.Needed, e.Text) {
			needed = 1
		}
		out = append(out, sample{x.Features(e), needed, group})
	}
	return out
}

// fit is a logistic regression by stochastic gradient steps, without the
// samples of one group.
func fit(all []sample, without int) []float64 {
	rows := slices.DeleteFunc(slices.Clone(all), func(s sample) bool { return s.group == without })
	n := len(rows[0].features)
	w, steps := make([]float64, n), make([]float64, n)
	rng := rand.New(rand.NewSource(1))
	for epoch := range 8 {
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		for _, r := range rows {
			d := predict(w, r.features) - r.needed
			for i, v := range r.features {
				g := d*v + 1e-5*w[i]
				steps[i] += g * g
				w[i] -= 0.5 / float64(1+epoch) * g / (math.Sqrt(steps[i]) + 1e-9)
			}
		}
	}
	return w
}

func predict(w, features []float64) float64 {
	z := 0.0
	for i, v := range features {
		z += w[i] * v
	}
	return 1 / (1 + math.Exp(-z))
}

func loss(rows []sample, w []float64) float64 {
	sum := 0.0
	for _, r := range rows {
		p := min(max(predict(w, r.features), 1e-9), 1-1e-9)
		sum -= r.needed*math.Log(p) + (1-r.needed)*math.Log(1-p)
	}
	return sum / float64(max(len(rows), 1))
}
