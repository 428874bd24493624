package legality

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/internal/provider/render"
	"github.com/agentcompact/compact/policy"
)

// Results that are reduced on arrival are legal on every wire: several results, results
// in one message with other content, and results as objects if the wire requires
// objects.
func TestResultsReducedOnArrivalAreLegalOnEveryWire(t *testing.T) {
	c, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.Storage.Adapter, c.MaxContextTokens = "gpt-4o", "memory", 200_000
	c.Policy.Stages = append([]string{"tidy"}, c.Policy.Stages...)
	c.Tidy.Wait = time.Hour
	for seed := range uint64(4) {
		rows := loopRows(rand.New(rand.NewPCG(seed, 41)), 1, 3)
		for last := len(rows) - 1; rows[last]["role"] != "assistant"; last-- {
			if rows[last]["role"] == "tool" {
				rows[last]["content"] = "\x1b[1mbuild\x1b[0m\n" + strings.Repeat("waiting for the port\n", 40) + strings.Repeat("one of many lines that say nothing\n--\n", 900) + "error: no port\n"
			}
		}
		for _, w := range provider.Wires() {
			s := render.New(w, seed, rows)
			cuts := s.Cuts()
			label := fmt.Sprintf("seed %d, %s", seed, w)
			o := once(t, label, w, c, s.Body(cuts[len(cuts)-1]))
			if o.err != nil || o.res.TruncatedCount == 0 || !o.res.Triggered {
				t.Errorf("%s: %d results are reduced, %v, %v", label, o.res.TruncatedCount, o.res.Warnings, o.err)
			}
			for i, d := range o.res.Decisions {
				if text := o.res.Messages[i].ResultText(); d.Decision == policy.Truncated && (!strings.HasPrefix(text, "[tidied — ") || strings.Contains(text, "\x1b")) {
					t.Errorf("%s: message %d says\n%.400s", label, i, text)
				}
			}
		}
	}
}
