package legality

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/internal/provider/render"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/token"
)

// longTurns returns the number of turns of a long run: 1,000 with COMPACT_SOAK=1,
// otherwise a sample.
func longTurns() int {
	if soak() {
		return 1_000
	}
	return 32
}

// longRows returns a session of a given number of turns, with a request at every 25th.
func longRows(turns int) []render.Row {
	rows := []render.Row{{"role": "system", "content": "You fix bugs."}}
	for i := range turns {
		if i%25 == 0 {
			rows = append(rows, render.Row{"role": "user", "content": fmt.Sprintf("Request %d: make the next test pass.", i/25)})
		}
		id := fmt.Sprintf("call_%d", i)
		rows = append(rows,
			render.Row{"role": "assistant", "content": fmt.Sprintf("Step %d: I look at the next file.", i), "tool_calls": []any{map[string]any{
				"id": id, "type": "function", "function": map[string]any{"name": "read_file", "arguments": fmt.Sprintf(`{"path":"pkg/file%d.go"}`, i)},
			}}},
			render.Row{"role": "tool", "tool_call_id": id, "content": fmt.Sprintf("// file %d\n%s", i, bytes.Repeat([]byte("func f() error { return nil }\n"), 20))})
	}
	return rows
}

// Every preset on every wire, call after call: no request is refused because of
// a compaction, and no call fails.
func TestSweepLongRunsOfEveryPresetAreLegal(t *testing.T) {
	for _, preset := range compact.Presets() {
		for _, w := range provider.Wires() {
			t.Run(fmt.Sprintf("%s/%s", preset, w), func(t *testing.T) { longRun(t, preset, w) })
		}
	}
}

func longRun(t *testing.T, preset string, w provider.Wire) {
	cost, err := token.NewEstimator(models[w], nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := compact.New(context.Background(), compact.Config{
		Preset: preset, Model: models[w], MaxContextTokens: longWindow(preset), Archive: memory.New(),
	})
	if err != nil {
		t.Fatal(err)
	}
	c := &chain{t: t, label: "long run, " + preset, wire: w, m: m, judge: provider.NewJudge(w), cost: cost, cache: wire.NewCache(0)}
	c.judge.Dialects = true
	defer c.close()
	s := render.New(w, 7, longRows(longTurns()))
	cuts := s.Cuts()
	c.judge.Issue(s.Body(cuts[len(cuts)-1]))
	for _, cut := range cuts {
		c.call(s.Body(cut), false)
	}
	if c.tally[called] < longTurns() || c.tally[compactions] < longTurns()/100+1 || c.tally[insufficient] > 0 {
		t.Errorf("%d calls, %d compactions, %d refused", c.tally[called], c.tally[compactions], c.tally[insufficient])
	}
}

// longWindow returns a window that a run exceeds. The preset can keep a run in it, because
// the run has many tool results, and masking removes only those.
func longWindow(preset string) int {
	switch {
	case preset == "masking":
		return 300 * longTurns()
	case preset == "history-reducer":
		return 20_000 // characters
	}
	return max(7_500, min(10_000, 220*longTurns()))
}
