package transport_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/internal/samples"
)

// callerMarks are places of a caller's marks.
var callerMarks = []string{"none", "system", "last", "system and last", "system and last two", "two of system and last two", "body", "system and body", "first", "tools and last"}

// A markedConversation is a conversation with rounds of parallel calls.
type markedConversation struct {
	rounds [][2]string // %s takes the mark of the last block
	style  string
	long   bool // long system prompt
}

func newMarkedConversation(rng *rand.Rand, style string, rounds, widest int) markedConversation {
	c := markedConversation{style: style, long: rng.IntN(2) == 0}
	for r := range rounds {
		calls := 1 + rng.IntN(widest)
		words := 40 + rng.IntN(1_200)
		var asked, answered []string
		for k := range calls {
			id := fmt.Sprintf("c%d_%d", r, k)
			asked = append(asked, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"read","input":{"why":%q}}`, id, strings.Repeat(fmt.Sprintf("the part %d of it ", k), 3)))
			answered = append(answered, fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":%q`, id, strings.Repeat(fmt.Sprintf("line %d of %s ", k, id), 1+words/calls)))
		}
		c.rounds = append(c.rounds, [2]string{
			fmt.Sprintf(`{"role":"assistant","content":[%s]}`, strings.Join(asked, ",")),
			fmt.Sprintf(`{"role":"user","content":[%s%%s}]}`, strings.Join(answered, "},")),
		})
	}
	return c
}

func (c markedConversation) body(f form, rounds int) string {
	const mark = `,"cache_control":{"type":"ephemeral"}`
	at := func(on bool) string {
		if on {
			return mark
		}
		return ""
	}
	has := func(s string) bool { return strings.Contains(c.style, s) }
	repeat := 100
	if c.long {
		repeat = 1_500
	}
	var b strings.Builder
	fmt.Fprintf(&b, `{%s,"tools":[{"name":"read","description":%q,"input_schema":{"type":"object"}%s}],`, f.fields, strings.Repeat("line 3 of c1_2 ", 500), at(has("tools")))
	if has("body") {
		b.WriteString(`"cache_control":{"type":"ephemeral"},`)
	}
	fmt.Fprintf(&b, `"system":[{"type":"text","text":"You are an agent."%s},{"type":"text","text":%q%s}],"messages":[{"role":"user","content":[{"type":"text","text":"Find the bug."%s}]}`,
		at(has("two of system")), strings.Repeat("line 3 of c1_2 ", repeat), at(has("system")), at(has("first") || rounds == 0 && has("last")))
	for r := range rounds {
		fmt.Fprintf(&b, ","+c.rounds[r][0]+","+c.rounds[r][1], at(has("last") && r == rounds-1 || has("last two") && r == rounds-2))
	}
	return b.String() + "]}"
}

// The estimate of the cached tokens follows the provider's rules for random conversations,
// for all places of the caller's marks. A warning comes only with marks that are out of
// reach. The first call out of reach is estimated as if the provider had no limit. Twelve
// points are left for the different units of the estimate and of the cache.
func TestPropertyEstimatedCache(t *testing.T) {
	f := forms()[4]
	warned := 0
	for seed := range uint64(max(samples.Of(32), 8)) { // of fewer, none is out of reach
		rng := rand.New(rand.NewPCG(seed, 1))
		style, widest := callerMarks[seed%uint64(len(callerMarks))], []int{4, 30}[rng.IntN(2)]
		preset, marks := []string{"economy", "graduated", "masking"}[rng.IntN(3)], []string{"auto", "keep", "keep"}[rng.IntN(3)]
		name := fmt.Sprintf("seed %d: %s, %s, marks at %s, up to %d calls", seed, preset, marks, style, widest)
		c := newMarkedConversation(rng, style, 20, widest)
		r := newRig(t, compact.Config{Preset: preset, MaxContextTokens: map[string]int{"masking": 150_000}[preset] + 50_000, Cache: compact.CacheConfig{Marks: marks}})
		r.server.Cache = &provider.PromptCache{}
		for n := range c.rounds {
			if status, answer := r.post(f, c.body(f, n)); status != 200 {
				t.Fatalf("%s: %d: %.300s, want 200", name, status, answer)
			}
		}
		r.quiet()
		var cache provider.PromptCache
		var off []string
		for i, q := range r.server.Requests() {
			u, err := cache.Use(q.Body)
			if err != nil {
				t.Fatal(name, err)
			}
			b, res := r.results[i].Bill.Estimated, r.results[i]
			d := float64(b.Cached)/float64(b.Prompt()) - float64(u.Read)/float64(u.Prompt())
			if d > 0.12 || d < -0.12 {
				off = append(off, fmt.Sprintf("call %d by %+.2f (%s)", i, d, res.Reason))
			}
			if said(res, "more blocks than it looks back") {
				warned++
				if marks == "auto" || widest == 4 || !strings.Contains(style, "last") && !strings.Contains(style, "body") {
					t.Errorf("%s: call %d: %q", name, i, res.Warnings)
				}
			}
		}
		if allowed := map[bool]int{true: 1}[marks == "keep" && widest == 30]; len(off) > allowed {
			t.Errorf("%s: the estimate is off in %s", name, strings.Join(off, ", "))
		}
	}
	if warned == 0 {
		t.Error("no conversation goes out of reach")
	}
}
