package legality

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/histgen"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/internal/provider/render"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/message/wire"
)

// chatFields are the fields of a row that every server accepts.
var chatFields = []string{"role", "content", "tool_calls", "tool_call_id", "reasoning_content"}

// randomRows returns a random history as a session of chat, with or without the odd
// properties of some histories.
func randomRows(t *testing.T, rng *rand.Rand, seed uint64, odd bool) []render.Row {
	t.Helper()
	h := histgen.New(seed)
	if !odd {
		plain := histgen.Shape{Rounds: 30, Preamble: 1, Tools: 0.8, Parallel: 3, Words: 80, Huge: 0.05, HugeWords: 2_000, Foreign: 0.2, Forged: 0.1, Empty: 0.1, Wire: 1}
		h = plain.History(rng)
	}
	for len(h) < 40 {
		h = histgen.Grow(h, rng)
	}
	return rowsOf(t, h)
}

func rowsOf(t *testing.T, h []message.Message) []render.Row {
	t.Helper()
	var rows []render.Row
	for _, m := range h {
		var r render.Row
		if err := json.Unmarshal(openai.Wire.AppendMessage(nil, m), &r); err != nil {
			t.Fatal(err)
		}
		for name := range r {
			if !slices.Contains(chatFields, name) {
				delete(r, name)
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// Compactions of an irregular history break only rules that the history itself already
// breaks.
func TestPropertyRandomHistoriesStayLegalOnEachWire(t *testing.T) {
	n := samples.Of(24)
	if soak() {
		n = 4000
	}
	total := totals{}
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(seed, 5))
		w := provider.Wires()[seed%4]
		window := []int{4_000, 8_000, 16_000}[rng.IntN(3)]
		s := render.New(w, seed, randomRows(t, rng, seed, seed/8%2 == 0))
		if len(s.Cuts()) == 0 {
			continue
		}
		c := newChain(t, fmt.Sprint("seed ", seed), w, window)
		c.run(s, seed/4%2 == 1)
		c.close()
		total.add(w, window, c.tally)
	}
	t.Logf("%d random histories%s", n, table(total))
}

// The codecs' checks decide which views the manager may send, so they must find
// everything that a provider refuses: both judge random views that no reduction
// would make.
func TestPropertyCheckFindsRequestsThatAProviderRefuses(t *testing.T) {
	n := samples.Of(240)
	if soak() {
		n = 40_000
	}
	refused, found, views := 0, 0, 0
	stricter := map[string]int{} // violations that only the checks find, and no judge refuses
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(seed, 6))
		w := provider.Wires()[seed%4]
		s := render.New(w, seed, randomRows(t, rng, seed/16, seed/4%2 == 0))
		cuts := s.Cuts()
		if len(cuts) == 0 {
			continue
		}
		in := s.Body(cuts[rng.IntN(len(cuts))])
		judge := provider.NewJudge(w)
		judge.Issue(in)
		req, err := parse(w, in)
		if err != nil {
			t.Fatalf("seed %d, %s: %v", seed, w, err)
		}
		before, v := viewOf(req), viewOf(req)
		edits := v.mangle(rng)
		out, err := req.Write(v.msgs, v.sources)
		if err != nil {
			t.Errorf("seed %d, %s, %v: not written: %v", seed, w, edits, err)
			continue
		}
		views++
		no := provider.New(judge.Judge(in), judge.Judge(out))
		broken := wire.New(req.Check(before.msgs, before.sources), req.Check(v.msgs, v.sources))
		if len(no) > 0 {
			refused++
		}
		if len(broken) > 0 {
			found++
		}
		if len(no) > 0 && len(broken) == 0 {
			t.Errorf("seed %d, %s, %v: the check finds nothing, the provider says: %s: %s", seed, w, edits, no[0].Rule, no[0].Text)
		}
		if len(no) == 0 {
			for _, b := range broken {
				stricter[string(w)+" "+b.Check]++
			}
		}
	}
	t.Logf("%d views: %d refused by the judge, %d by the codec's check; found by the checks but accepted by the judges:%s", views, refused, found, sorted(stricter))
}

func sorted(counts map[string]int) string {
	var lines []string
	for name, n := range counts {
		lines = append(lines, fmt.Sprintf("\n  %6d %s", n, name))
	}
	sort.Strings(lines)
	return strings.Join(lines, "")
}

// mangle makes some random edits, both legal and illegal ones.
func (v *view) mangle(rng *rand.Rand) (edits []string) {
	for range 1 + rng.IntN(3) {
		first := 0 // messages in a separate field keep their places
		for first < len(v.msgs) && v.msgs[first].Protected {
			first++
		}
		n := len(v.msgs)
		if n-first < 2 {
			return edits
		}
		i := first + rng.IntN(n-first)
		switch k := rng.IntN(5); {
		case k < 2:
			v.drop(i)
			edits = append(edits, fmt.Sprint("drop ", i))
		case k == 2 && i > first:
			v.swap(i, i-1)
			edits = append(edits, fmt.Sprint("swap ", i))
		case k == 3:
			end := min(n-1, i+1+rng.IntN(6))
			v.msgs, v.sources = slices.Delete(v.msgs, i, end), slices.Delete(v.sources, i, end)
			edits = append(edits, fmt.Sprint("drop ", i, " to ", end))
		case k == 4:
			text := []string{message.SummaryText(1, "What was done."), message.NoticeText(3)}[rng.IntN(2)]
			made := message.Assistant(text)
			if _, notice := message.ParseNoticeText(text); notice {
				made = message.System(text)
			}
			v.insert(i, made)
			edits = append(edits, fmt.Sprint("insert ", i))
		}
	}
	return edits
}

// ruledRows returns a session in which one of two rules recurs after a user
// message or a result.
func ruledRows(rng *rand.Rand) []render.Row {
	rule := func(k int) render.Row {
		return render.Row{"role": "system", "content": fmt.Sprintf("Rule %d. %s", k, strings.Repeat("Look before you leap, and say so. ", 20))}
	}
	rows := []render.Row{{"role": "system", "content": "You fix bugs."}}
	for i := range 36 {
		rows = append(rows, render.Row{"role": "user", "content": fmt.Sprintf("Request %d: %s", i, strings.Repeat("make it pass ", rng.IntN(30)))})
		if rng.IntN(3) > 0 {
			rows = append(rows, rule(rng.IntN(2)))
		}
		if rng.IntN(2) == 0 {
			id := fmt.Sprintf("call_%d", i)
			rows = append(rows,
				render.Row{"role": "assistant", "content": "I look.", "tool_calls": []any{map[string]any{"id": id, "type": "function", "function": map[string]any{"name": "read_file", "arguments": "{}"}}}},
				render.Row{"role": "tool", "tool_call_id": id, "content": strings.Repeat("a line of it\n", 1+rng.IntN(60))}, rule(0))
		}
		rows = append(rows, render.Row{"role": "assistant", "content": fmt.Sprintf("Answer %d: %s", i, strings.Repeat("it is so ", rng.IntN(40)))})
	}
	return append(rows, render.Row{"role": "user", "content": "Go on."})
}

// After older copies of a system message are removed, the rest is legal,
// whether or not the agent keeps the view. Gemini's conversations have none.
func TestPropertyRemovedCopiesLeaveALegalRequestOnEachWire(t *testing.T) {
	n := samples.Of(24)
	if soak() {
		n = 2_000
	}
	copies := map[provider.Wire]int{}
	total := totals{}
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(seed, 29))
		w, window := provider.Wires()[seed%4], 3_000+1_000*rng.IntN(3)
		if w == provider.Anthropic {
			window += 1_000 // the tokens of this wire are counted with a margin
		}
		c := newChain(t, fmt.Sprint("seed ", seed), w, window)
		c.run(render.New(w, seed, ruledRows(rng)), seed/4%2 == 1)
		c.close()
		copies[w] += c.copies
		total.add(w, window, c.tally)
	}
	t.Logf("%d histories; copies that went: %v%s", n, copies, table(total))
	for _, w := range []provider.Wire{provider.Chat, provider.Responses, provider.Anthropic} {
		if copies[w] == 0 {
			t.Errorf("%s: no copy was removed: the test proves nothing", w)
		}
	}
}
