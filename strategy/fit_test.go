package strategy_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/corpus"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/strategy/eval"
)

// A sample is one identifier that left the view, with the share of the readings in which
// the identifier was needed.
type sample struct {
	features []float64
	needed   float64
	half     int
}

// TestRankingCanBeFittedAgain fits the weights of the ranking to the recorded sessions
// (COMPACT_TRAIN=1) and prints them next to the current weights. It also reports which
// identifiers summaries keep, for each half of the sessions with weights from the other half.
func TestRankingCanBeFittedAgain(t *testing.T) {
	if os.Getenv("COMPACT_TRAIN") == "" {
		t.Skip("takes minutes and only prints weights; set COMPACT_TRAIN=1 to fit the weights again")
	}
	sessions := recordings(t)
	half := halves(sessions)
	samples := samplesOf(t, sessions, half)
	now, all := strategy.Weights(), fit(samples, -1)
	parts := [2][]float64{fit(samples, 0), fit(samples, 1)} // parts[i] is fitted without half i
	for i, name := range strategy.FeatureNames() {
		t.Logf("%-12s %6.2f, now %6.2f, without half 0 %6.2f, without half 1 %6.2f", name, all[i], now[i], parts[0][i], parts[1][i])
	}
	defer strategy.SetWeights(now)
	var report eval.Report
	for h, w := range parts {
		strategy.SetWeights(w)
		own := slices.DeleteFunc(slices.Clone(sessions), func(s eval.Session) bool { return half[s.Source] != h })
		r, err := eval.Run(context.Background(), own, eval.Options{Strategies: []string{"task_state"}, Count: counter(t).Count})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range r.Totals() {
			row.Source = fmt.Sprint("half ", h)
			report.Rows = append(report.Rows, row)
		}
	}
	if err := report.Write(os.Stdout); err != nil {
		t.Fatal(err)
	}
}

// recordings returns the recorded sessions. The source of a session is its project and not
// the program that recorded it.
func recordings(t *testing.T) []eval.Session {
	var out []eval.Session
	for name, data := range corpus.Sessions(t, "chat") {
		msgs, _, err := openai.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(name, "-")
		source := parts[0]
		if slices.Contains([]string{"cc", "codex", "copilot", "oc", "gemini"}, source) {
			source = parts[1]
		}
		out = append(out, eval.Session{Name: name, Source: source, Messages: msgs})
	}
	return out
}

// halves assigns the sources to two halves, the largest source first, so that both halves
// have about the same number of messages.
func halves(sessions []eval.Session) map[string]int {
	size, order := map[string]int{}, []string{}
	for _, s := range sessions {
		if size[s.Source] == 0 {
			order = append(order, s.Source)
		}
		size[s.Source] += len(s.Messages)
	}
	slices.SortStableFunc(order, func(a, b string) int { return size[b] - size[a] })
	out, weight := map[string]int{}, [2]int{}
	for _, s := range order {
		h := 0
		if weight[1] < weight[0] {
			h = 1
		}
		out[s] = h
		weight[h] += size[s]
	}
	return out
}

func samplesOf(t *testing.T, sessions []eval.Session, half map[string]int) (out []sample) {
	c := counter(t)
	cost := func(m message.Message) int {
		n := 4
		for _, p := range m.Parts {
			n += c.Count(p.Text) + c.Count(string(p.Args)) + c.Count(p.Name)
		}
		return n
	}
	// The readings that compare names exactly.
	names := slices.DeleteFunc(eval.Readings(), func(s string) bool { return s == "any-case" || s == "inside-words" })
	for _, s := range sessions {
		for _, window := range []int{32_000, 128_000} {
			needed := map[string]float64{}
			var split eval.Split
			ok := false
			for _, name := range names {
				var err error
				if split, ok, err = eval.CutAs(name, s, window, cost); err != nil {
					t.Fatal(err)
				}
				for _, id := range split.Needed {
					needed[id] += 1 / float64(len(names))
				}
			}
			if !ok {
				continue
			}
			x := strategy.NewHistory(strategy.Request{Strategy: strategy.TaskState, Messages: split.Evicted,
				Visible: slices.Concat(split.Pinned, split.Recent), First: 1, Count: count4}).Index()
			for _, e := range x.All() {
				if !e.Visible {
					out = append(out, sample{x.Features(e), needed[e.Text], half[s.Source]})
				}
			}
		}
	}
	return out
}

// ridge is the strength of the regularization. It keeps weights with few samples small.
const ridge = 10

// fit returns the weights of a logistic regression by Newton's method, without the samples
// of one half; -1 = with all samples.
func fit(all []sample, without int) []float64 {
	w := make([]float64, len(all[0].features))
	for range 15 {
		m := newton(all, without, w)
		step := solve(m)
		most := 0.0
		for i := range w {
			w[i] += step[i]
			most = max(most, math.Abs(step[i]))
		}
		if most < 1e-4 {
			break
		}
	}
	return w
}

// newton returns the Hessian with the gradient as its last column.
func newton(all []sample, without int, w []float64) [][]float64 {
	n := len(w)
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n+1)
		m[i][i], m[i][n] = ridge, -ridge*w[i]
	}
	for _, s := range all {
		if s.half == without {
			continue
		}
		p := predict(w, s.features)
		for a, v := range s.features {
			if v == 0 {
				continue
			}
			m[a][n] += (s.needed - p) * v
			for b := range a + 1 {
				m[a][b] += max(p*(1-p), 1e-6) * v * s.features[b]
			}
		}
	}
	for a := range m {
		for b := range a {
			m[b][a] = m[a][b]
		}
	}
	return m
}

// solve solves the linear equations m by elimination. The last column holds the right side.
func solve(m [][]float64) []float64 {
	n := len(m)
	for a := range n {
		pivot := m[a][a]
		for c := a; c <= n; c++ {
			m[a][c] /= pivot
		}
		for b := range n {
			if f := m[b][a]; b != a && f != 0 {
				for c := a; c <= n; c++ {
					m[b][c] -= f * m[a][c]
				}
			}
		}
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = m[i][n]
	}
	return out
}

func predict(w, features []float64) float64 {
	z := 0.0
	for i, v := range features {
		z += w[i] * v
	}
	return 1 / (1 + math.Exp(-z))
}
