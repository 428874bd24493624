package strategy_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/strategy/eval"
	"github.com/agentcompact/compact/token"
)

func load(t testing.TB) []eval.Session {
	files, _ := filepath.Glob(filepath.Join("../shared/transcripts", "chat", "*.jsonl*"))
	var out []eval.Session
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f, ".gz") {
			z, _ := gzip.NewReader(bytes.NewReader(data))
			data, _ = io.ReadAll(z)
		}
		msgs, _, err := openai.Parse(data)
		if err != nil {
			t.Fatal(f, err)
		}
		name := filepath.Base(f)
		parts := strings.SplitN(name, "-", 3)
		out = append(out, eval.Session{Name: name, Source: parts[0] + "-" + parts[1], Messages: msgs})
	}
	return out
}

type row struct {
	f     []float64
	y     float64
	cost  int
	group int
	text  string
}

type sess struct {
	sp     eval.Split
	rows   []row
	window int
	group  int
	shown  int // needed, visible
}

func dataset(t *testing.T, windows ...int) []sess {
	c, _ := token.ForModel("gpt-4")
	cost := func(m message.Message) int {
		n := 4
		for _, p := range m.Parts {
			n += c.Count(p.Text) + c.Count(string(p.Args)) + c.Count(p.Name)
		}
		return n
	}
	groups := map[string]int{}
	var out []sess
	for _, s := range load(t) {
		for _, w := range windows {
			sp, ok := eval.Cut(s, w, cost)
			if !ok || len(sp.Needed) == 0 {
				continue
			}
			if _, ok := groups[s.Source]; !ok {
				groups[s.Source] = len(groups)
			}
			need := map[string]bool{}
			for _, id := range sp.Needed {
				need[id] = true
			}
			x := strategy.NewHistory(strategy.Request{Strategy: strategy.TaskState, Messages: sp.Evicted, Visible: append(slices.Clone(sp.Pinned), sp.Recent...), First: 1, Count: c.Count}).Index
			d := sess{sp: sp, window: w, group: groups[s.Source], shown: sp.InView("")}
			for _, e := range x.All() {
				if e.Visible {
					continue
				}
				y := 0.0
				if need[e.Text] {
					y = 1
				}
				d.rows = append(d.rows, row{x.Features(e), y, c.Count(" " + e.Text), groups[s.Source], e.Text})
			}
			out = append(out, d)
		}
	}
	return out
}

func fit(data []sess, skip int) []float64 {
	n := len(data[0].rows[0].f)
	var rows []*row
	for i := range data {
		if data[i].group == skip {
			continue
		}
		for k := range data[i].rows {
			rows = append(rows, &data[i].rows[k])
		}
	}
	mean, sd := make([]float64, n), make([]float64, n)
	for _, r := range rows {
		for i, v := range r.f {
			mean[i] += v
		}
	}
	for i := range mean {
		mean[i] /= float64(len(rows))
	}
	for _, r := range rows {
		for i, v := range r.f {
			sd[i] += (v - mean[i]) * (v - mean[i])
		}
	}
	for i := range sd {
		sd[i] = math.Sqrt(sd[i]/float64(len(rows))) + 1e-9
	}
	mean[0], sd[0] = 0, 1
	w, g2 := make([]float64, n), make([]float64, n)
	rng := rand.New(rand.NewSource(1))
	for epoch := range 6 {
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		lr := 0.1 / float64(1+epoch)
		for _, r := range rows {
			z := 0.0
			for i, v := range r.f {
				z += w[i] * (v - mean[i]) / sd[i]
			}
			d := 1/(1+math.Exp(-z)) - r.y
			for i, v := range r.f {
				g := d*(v-mean[i])/sd[i] + 1e-6*w[i]
				g2[i] += g * g
				w[i] -= lr * g / (math.Sqrt(g2[i]) + 1e-6) * 3
			}
		}
	}
	out := make([]float64, n)
	for i := range w {
		out[i] += w[i] / sd[i]
		if i > 0 {
			out[0] -= w[i] * mean[i] / sd[i]
		}
	}
	return out
}

func bare(d *sess, w []float64, budget int) int {
	type sc struct {
		v float64
		r *row
	}
	var all []sc
	for i := range d.rows {
		z := 0.0
		for k, v := range d.rows[i].f {
			z += w[k] * v
		}
		all = append(all, sc{1 / (1 + math.Exp(-z)) / float64(d.rows[i].cost), &d.rows[i]})
	}
	slices.SortFunc(all, func(a, b sc) int {
		if a.v > b.v {
			return -1
		}
		return 1
	})
	n := d.shown
	for _, s := range all {
		if budget < s.r.cost {
			continue
		}
		budget -= s.r.cost
		n += int(s.r.y)
	}
	return n
}

var full [][][]float64

func TestTrain(t *testing.T) {
	if os.Getenv("TRAIN") == "" {
		t.Skip()
	}
	data := dataset(t, 32000, 128000)
	groups := 0
	for _, d := range data {
		groups = max(groups, d.group+1)
	}
	report := func(name string, w func(g int) []float64) {
		for _, c := range []struct{ window, budget int }{{32000, 1500}, {32000, 1000}, {128000, 1500}, {128000, 1000}, {128000, 4000}} {
			need, got := 0, 0
			for i := range data {
				if data[i].window == c.window {
					need += len(data[i].sp.Needed)
					got += bare(&data[i], w(data[i].group), c.budget)
				}
			}
			fmt.Printf("%s %v: %.1f (%d)\n", name, c, 100*float64(got)/float64(need), need)
		}
	}
	old := strategy.Weights()
	report("now", func(int) []float64 { return old })
	all := fit(data, -1)
	report("train", func(int) []float64 { return all })
	if os.Getenv("TRAIN") == "ablate" {
		ab := func(name string, drop func(i int) bool) {
			for i := range data {
				for k := range data[i].rows {
					f := slices.Clone(full[i][k])
					for j := range f {
						if drop(j) {
							f[j] = 0
						}
					}
					data[i].rows[k].f = f
				}
			}
			ws := make([][]float64, groups)
			for g := range groups {
				ws[g] = fit(data, g)
			}
			report(name, func(g int) []float64 { return ws[g] })
		}
		for i := range data {
			full = append(full, nil)
			for k := range data[i].rows {
				full[i] = append(full[i], data[i].rows[k].f)
			}
		}
		in := func(l ...int) func(int) bool { return func(i int) bool { return slices.Contains(l, i) } }
		ab("min7", in(6, 7, 10, 14, 15, 17, 18))
		ab("min8", in(6, 7, 10, 14, 15, 16, 17, 18))
		ab("min7+spread", in(6, 7, 10, 14, 15, 17))
		ab("min7+sinceused", in(6, 7, 14, 15, 17, 18))
		ab("min7-changed", in(6, 7, 10, 12, 14, 15, 17, 18))
		ab("min7-told-said", in(1, 2, 6, 7, 10, 14, 15, 17, 18))
		ab("min7-company", in(6, 7, 10, 11, 14, 15, 17, 18))
		return
	}
	if os.Getenv("TRAIN") == "cv" {
		ws := make([][]float64, groups)
		for g := range groups {
			ws[g] = fit(data, g)
		}
		report("cv", func(g int) []float64 { return ws[g] })
	}
	for i, v := range all {
		fmt.Printf("%d: %.3f,\n", i, v)
	}
	_ = context.Background()
}

func TestMisses(t *testing.T) {
	if os.Getenv("TRAIN") == "" {
		t.Skip()
	}
	data := dataset(t, 128000)
	w := fit(data, -1)
	kinds := map[string][2]int{}
	for i := range data {
		d := &data[i]
		type sc struct {
			v float64
			r *row
		}
		var all []sc
		for i := range d.rows {
			z := 0.0
			for k, v := range d.rows[i].f {
				z += w[k] * v
			}
			all = append(all, sc{1 / (1 + math.Exp(-z)) / float64(d.rows[i].cost), &d.rows[i]})
		}
		slices.SortFunc(all, func(a, b sc) int {
			if a.v > b.v {
				return -1
			}
			return 1
		})
		budget := 1500
		miss := 0
		for rank, s := range all {
			in := s.r.cost <= budget
			if in {
				budget -= s.r.cost
			}
			if s.r.y == 1 {
				k := "?"
				for j := 29; j < 36; j++ {
				}
				k = s.r.text
				c := kinds["all"]
				c[0]++
				if !in {
					c[1]++
					miss++
					if miss < 9 {
						fmt.Printf("%s rank %d/%d p %.3f cost %d %s told %.0f said %.0f asked %.0f shown %.0f since %.0f company %.0f\n", d.sp.Name, rank, len(all), s.v*float64(s.r.cost), s.r.cost, k,
							math.Expm1(s.r.f[1]), math.Expm1(s.r.f[2]), math.Expm1(s.r.f[4]), math.Expm1(s.r.f[5]), math.Expm1(s.r.f[9]), math.Expm1(s.r.f[11]))
					}
				}
				kinds["all"] = c
			}
		}
	}
	fmt.Println(kinds)
}
