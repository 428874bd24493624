package replay

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/agentcompact/compact/compact"
)

// The settings that a search may change, and their values. In replays of recorded
// sessions, these settings change the cost or the kept share. The first value of each
// setting is the value in the preset graduated.
var knobs = []knob{
	{"policy.trigger_pct", []float64{0.85, 0.7, 0.55, 0.4, 0.3, 0.2}, func(c *compact.Config, v float64) { c.Policy.TriggerPct = v }},
	{"policy.target_pct", []float64{0.6 / 0.85, 0.85, 0.55, 0.4}, func(c *compact.Config, v float64) { c.Policy.TargetPct = rounded(v * c.Policy.TriggerPct) }}, // of the trigger
	{"policy.keep_recent_turns", []float64{6, 3, 12, 20, 40}, func(c *compact.Config, v float64) { c.Policy.KeepRecentTurns = int(v) }},
	{"policy.keep_tool_io_pairs", []float64{4, 8, 16}, func(c *compact.Config, v float64) { c.Policy.KeepToolIOPairs = int(v) }},
	{"mask.window_turns", []float64{10, 4, 20, 40, 80}, func(c *compact.Config, v float64) { c.Mask.WindowTurns = int(v) }},
	{"mask.min_tokens", []float64{50, 200, 500}, func(c *compact.Config, v float64) { c.Mask.MinTokens = int(v) }},
	{"summarizer.max_tokens", []float64{0, 1500, 4000, 8000}, func(c *compact.Config, v float64) { c.Summarizer.MaxTokens = int(v) }},
}

// knob is one setting. The set functions are called in order.
type knob struct {
	path   string
	values []float64
	set    func(c *compact.Config, v float64)
}

// candidate is a choice of values, by index.
type candidate [7]int

// config returns the preset graduated with the values of a candidate.
func (k candidate) config() (compact.Config, error) {
	c, err := compact.Preset("graduated")
	for i, n := range knobs {
		n.set(&c, n.values[k[i]])
	}
	return c, err
}

func (k candidate) String() string { return fmt.Sprint([7]int(k)) }

// random returns a candidate with random values.
func (k candidate) random(rng *rand.Rand) candidate {
	for i := range k {
		k[i] = rng.IntN(len(knobs[i].values))
	}
	return k
}

// near returns a candidate with one value changed, sometimes two.
func (k candidate) near(rng *rand.Rand) candidate {
	first := rng.IntN(len(k))
	k = k.moved(rng, first)
	if rng.IntN(4) == 0 {
		k = k.moved(rng, (first+1+rng.IntN(len(k)-1))%len(k))
	}
	return k
}

func (k candidate) moved(rng *rand.Rand, i int) candidate {
	k[i] = (k[i] + 1 + rng.IntN(len(knobs[i].values)-1)) % len(knobs[i].values)
	return k
}

// yaml returns the settings of the candidate, section by section.
func (k candidate) yaml() (string, error) {
	c, err := k.config()
	if err != nil {
		return "", err
	}
	value := map[string]string{
		"policy.trigger_pct": number(c.Policy.TriggerPct), "policy.target_pct": number(c.Policy.TargetPct),
		"policy.keep_recent_turns": itoa(c.Policy.KeepRecentTurns), "policy.keep_tool_io_pairs": itoa(c.Policy.KeepToolIOPairs),
		"mask.window_turns": itoa(c.Mask.WindowTurns), "mask.min_tokens": itoa(c.Mask.MinTokens), "summarizer.max_tokens": itoa(c.Summarizer.MaxTokens),
	}
	var b strings.Builder
	b.WriteString("preset: graduated\n")
	section := ""
	for _, n := range knobs {
		in, leaf, _ := strings.Cut(n.path, ".")
		if in != section {
			fmt.Fprintf(&b, "%s:\n", in)
			section = in
		}
		fmt.Fprintf(&b, "  %s: %s\n", leaf, value[n.path])
	}
	return b.String(), nil
}

// edges names the settings whose value is the lowest or highest one tried,
// unless it is the preset's. Values outside that range were not tried.
func (k candidate) edges() (out []string) {
	for i, n := range knobs {
		v := n.values[k[i]]
		if k[i] > 0 && (v == slices.Min(n.values) || v == slices.Max(n.values)) {
			out = append(out, n.path)
		}
	}
	return out
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func rounded(v float64) float64 { return float64(int(1000*v+0.5)) / 1000 }
