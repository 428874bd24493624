package replay

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"

	"github.com/agentcompact/compact/internal/corpus"
	part "github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/price"
)

// The independent calculation below shares nothing with the package: it reads
// the JSON by itself, counts with tiktoken-go, compares prompts message by
// message, and has the prices as literals.

// entry is a message as the calculation sees it.
type entry struct {
	id, tokens int  // equal ids are equal messages
	long       bool // more bytes than a placeholder; a shorter result is not masked
	role       string
}

type calculation struct {
	enc     *tiktoken.Tiktoken
	session []entry
	masked  int // tokens of a masked result
}

func newCalculation(t *testing.T, jsonl []byte) *calculation {
	t.Helper()
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	enc, err := tiktoken.GetEncoding("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	c := &calculation{enc: enc, masked: len(enc.EncodeOrdinary("[old tool output removed]")) + 4}
	for at, l := range bytes.Split(bytes.TrimSpace(jsonl), []byte("\n")) {
		var m struct {
			Role      string
			Content   any
			Reasoning string `json:"reasoning_content"`
			Calls     []struct {
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		if err := json.Unmarshal(l, &m); err != nil {
			t.Fatal(err)
		}
		n := len(enc.EncodeOrdinary(flatten(m.Content)+m.Reasoning)) + 4
		for _, call := range m.Calls {
			n += len(enc.EncodeOrdinary(call.Function.Name)) + len(enc.EncodeOrdinary(call.Function.Arguments)) + 8
		}
		c.session = append(c.session, entry{at, n, len(flatten(m.Content)) > len("[old tool output removed]"), m.Role})
	}
	return c
}

func flatten(content any) string {
	switch x := content.(type) {
	case string:
		return x
	case []any:
		var b strings.Builder
		for _, p := range x {
			if part, ok := p.(map[string]any); ok {
				s, _ := part["text"].(string)
				b.WriteString(s)
			}
		}
		return b.String()
	}
	return ""
}

// cost prices a policy: read 0.30, write 3.75, answer 15 dollars a million.
func (c *calculation) cost(view func(at int) (v []entry, read, out int)) float64 {
	dollars, last := 0.0, []entry(nil)
	for at, m := range c.session {
		if m.role != "assistant" || at == 0 {
			continue
		}
		v, read, out := view(at)
		k := 0
		for k < len(v) && k < len(last) && v[k] == last[k] {
			read += v[k].tokens
			k++
		}
		written := 0
		for _, e := range v[k:] {
			written += e.tokens
		}
		dollars += (float64(read)*0.30 + float64(written)*3.75 + float64(out+m.tokens)*15) / 1e6
		last = v
	}
	return dollars
}

func (c *calculation) raw(at int) ([]entry, int, int) { return c.session[:at], 0, 0 }

func (c *calculation) sliding(at int) ([]entry, int, int) {
	v, seen := append([]entry(nil), c.session[:at]...), 0
	for i := at - 1; i >= 0; i-- {
		if v[i].role == "tool" && seen >= 10 && v[i].long {
			v[i] = entry{-1 - i, c.masked, false, "tool"}
		}
		if v[i].role == "assistant" {
			seen++
		}
	}
	return v, 0, 0
}

// summarized returns the policy that replaces all but six turns with 1500
// tokens, at 85 % of the window.
func (c *calculation) summarized(window int) func(at int) ([]entry, int, int) {
	cut, n := 0, 0
	view := func(at int) (v []entry, total int) {
		for i, e := range c.session[:at] {
			if i == cut && n > 0 {
				v, total = append(v, entry{-n, 1500, false, "assistant"}), total+1500
			}
			if i >= cut || e.role == "system" || e.role == "developer" {
				v, total = append(v, e), total+e.tokens
			}
		}
		return v, total
	}
	return func(at int) ([]entry, int, int) {
		v, total := view(at)
		if total < window*85/100 {
			return v, 0, 0
		}
		from, turns := at, 0
		for from > 0 && turns < 6 {
			from--
			if c.session[from].role == "assistant" {
				turns++
			}
		}
		if turns < 6 || from <= cut {
			return v, 0, 0
		}
		cut = from
		n++
		v, _ = view(at)
		return v, total, 1500
	}
}

// compare compares the cost of two policies, as a share of the cost of raw,
// with the calculation.
func compare(t *testing.T, name string, jsonl []byte, window int) {
	t.Helper()
	msgs, _, err := openai.Parse(jsonl)
	if err != nil {
		t.Fatal(err)
	}
	card := price.Card{Model: "test", Input: 3, CacheRead: 0.3, CacheWrite: 3.75, CacheWriteHour: 6, Output: 15, MinPrefix: 1, Granularity: 1, Lifetime: time.Hour}
	rep := run(t, Options{Policies: []Policy{Sliding(10), Summarize(0.85)}, Windows: []int{window}, Card: card, Gap: time.Second},
		&Session{Name: name, Messages: msgs})
	c := newCalculation(t, jsonl)
	raw := c.cost(c.raw)
	if off := rep.Rows[0].RawCost/raw - 1; math.Abs(off) > 0.02 {
		t.Errorf("%s: raw costs %.4f, calculated %.4f (%.1f %% off)", name, rep.Rows[0].RawCost, raw, 100*off)
	}
	for i, want := range []float64{c.cost(c.sliding) / raw, c.cost(c.summarized(window)) / raw} {
		if got := rep.Totals[i].OfRaw.Value; math.Abs(got-want) > 0.02*max(want, 1) {
			t.Errorf("%s: %s costs %.1f %% of raw, calculated %.1f %%", name, rep.Totals[i].Policy, 100*got, 100*want)
		}
	}
}

func TestCostsEqualAnIndependentCalculation(t *testing.T) {
	var jsonl []byte
	for _, m := range session("a", 120).Messages {
		jsonl = append(openai.AppendJSONL(jsonl, m), '\n')
	}
	compare(t, "generated", bytes.ReplaceAll(jsonl, []byte("\n\n"), []byte("\n")), 16_000)
}

func TestCostsOfRecordedSessionsEqualAnIndependentCalculation(t *testing.T) {
	n := 0
	for name, data := range corpus.Sessions(t, "chat") {
		if len(data) < 400_000 || len(data) > 900_000 && os.Getenv("COMPACT_SOAK") == "" {
			continue
		}
		compare(t, name, data, 64_000)
		if n++; n == part.Of(3) && os.Getenv("COMPACT_SOAK") == "" {
			break
		}
	}
}
