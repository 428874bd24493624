package legality

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/corpus"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/internal/provider/render"
	"github.com/agentcompact/compact/internal/samples"
)

var windows = []int{8_000, 32_000, 128_000}

// calls is the maximum number of calls of a chain: eight compactions, at least
// one at every second call.
const calls = 30

// longEnough repeats a session, under other call ids, until a model was called
// often enough in it.
func longEnough(rows []render.Row) []render.Row {
	out := rows
	for again := 2; len(render.New(provider.Chat, 0, out).Cuts()) < calls && again < calls+2; again++ {
		for _, r := range rows {
			if r["role"] != "system" && r["role"] != "developer" {
				out = append(out[:len(out):len(out)], renamed(r, fmt.Sprint("_", again)))
			}
		}
	}
	return out
}

// renamed returns a row with other call ids.
func renamed(r render.Row, suffix string) render.Row {
	out := render.Row{}
	for k, v := range r {
		out[k] = v
	}
	if id, ok := r["tool_call_id"].(string); ok {
		out["tool_call_id"] = id + suffix
	}
	if calls, ok := r["tool_calls"].([]any); ok {
		var renamed []any
		for _, c := range calls {
			call := map[string]any{}
			for k, v := range c.(map[string]any) {
				call[k] = v
			}
			call["id"] = fmt.Sprint(call["id"], suffix)
			renamed = append(renamed, call)
		}
		out["tool_calls"] = renamed
	}
	return out
}

// thinned returns the cuts at which a session calls the model, at most as many
// as the constant calls.
func thinned(cuts []int) []int {
	if len(cuts) <= calls {
		return cuts
	}
	var out []int
	for k := range calls {
		out = append(out, cuts[(k+1)*len(cuts)/calls-1])
	}
	return out
}

func TestSweepChainedCompactionsAreLegalOnEachWire(t *testing.T) {
	total := totals{}
	i := 0
	taken := func(chain int) bool { return soak() || (i*12+chain)%samples.Every(149) == 0 }
	all := make([]int, len(provider.Wires())*len(windows)) // chains of one session
	for chain := range all {
		all[chain] = chain
	}
	for _, dir := range []string{"chat", "chat_asis"} {
		for name, data := range corpus.Some(t, dir, func() bool { i++; return slices.ContainsFunc(all, taken) }) {
			rows, err := render.Rows(data)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			rows = longEnough(rows)
			for wi, w := range provider.Wires() {
				for k, window := range windows {
					if !taken(wi*3 + k) {
						continue
					}
					c := newChain(t, fmt.Sprintf("%s/%s, seed %d", dir, name, i), w, window)
					c.run(render.New(w, uint64(i), rows), (i+k)%2 == 0)
					c.close()
					total.add(w, window, c.tally)
				}
			}
		}
	}
	t.Log(table(total))
}

type at struct {
	wire   provider.Wire
	window int
}

// totals are the counts of a sweep, by wire and window.
type totals map[at]*tally

func (all totals) add(w provider.Wire, window int, c tally) {
	k := at{w, window}
	if all[k] == nil {
		all[k] = &tally{}
	}
	all[k].add(c)
}

// table prints the results of a sweep, by wire and window.
func table(all totals) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%-10s %7s %9s %6s %6s %12s %6s %13s %6s %10s %10s %11s\n", "wire", "window", "sessions", "calls", "clean", "compactions", "eight", "insufficient", "stuck", "discarded", "untouched", "new illegal")
	for _, w := range provider.Wires() {
		for window := 1_000; window <= 128_000; window += 1_000 {
			if c := all[at{w, window}]; c != nil {
				fmt.Fprintf(&b, "%-10s %7d %9d %6d %6d %12d %6d %13d %6d %10d %10d %11d\n", w, window,
					c[sessions], c[called], c[clean], c[compactions], c[eight], c[insufficient], c[stuck], c[discarded], c[untouched], c[bad])
			}
		}
	}
	return b.String()
}
