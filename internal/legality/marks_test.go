package legality

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/internal/provider/render"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/storage/memory"
)

type dict = map[string]any

// A place is a block that may carry a mark of the cache; message -1 is the
// system prompt, -2 the tools.
type place struct {
	block   dict
	message int
}

// markable returns the places of a request, in the provider's order.
func markable(body dict) (out []place) {
	add := func(list any, message int) {
		all, _ := list.([]any)
		for _, e := range all {
			if b, ok := e.(dict); ok && b["type"] != "thinking" && b["type"] != "redacted_thinking" && b["text"] != "" {
				out = append(out, place{b, message})
			}
		}
	}
	add(body["tools"], -2)
	add(body["system"], -1)
	for i, m := range body["messages"].([]any) {
		add(m.(dict)["content"], i)
	}
	return out
}

// blocked returns a request as an object, texts as blocks, without marks.
func blocked(t *testing.T, raw []byte) dict {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var body dict
	if err := d.Decode(&body); err != nil {
		t.Fatal(err)
	}
	block := func(o dict, key string) {
		if s, ok := o[key].(string); ok && s != "" {
			o[key] = []any{dict{"type": "text", "text": s}}
		}
	}
	block(body, "system")
	for _, m := range body["messages"].([]any) {
		block(m.(dict), "content")
	}
	for _, p := range markable(body) {
		delete(p.block, "cache_control")
	}
	return body
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// markRandomly sets up to four marks. Marks with a longer lifetime come first.
func markRandomly(rng *rand.Rand, body dict) {
	all := markable(body)
	var at []int
	for range rng.IntN(5) {
		at = append(at, rng.IntN(len(all)))
	}
	slices.Sort(at)
	long := rng.IntN(5)
	for i, k := range slices.Compact(at) {
		all[k].block["cache_control"] = dict{"type": "ephemeral"}
		if i < long {
			all[k].block["cache_control"] = dict{"type": "ephemeral", "ttl": "1h"}
		} else if rng.IntN(2) == 0 {
			all[k].block["cache_control"] = dict{"type": "ephemeral", "ttl": "5m"}
		}
	}
}

// marked returns the number of marks of each message.
func marked(body dict) map[int]int {
	n := map[int]int{}
	for _, p := range markable(body) {
		if p.block["cache_control"] != nil {
			n[p.message]++
		}
	}
	return n
}

func sum(counts map[int]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// markedCase is a request with random marks and the same one without.
type markedCase struct{ with, without []byte }

func newMarkedCase(t *testing.T, seed uint64) (markedCase, *rand.Rand) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 15))
	s := render.New(provider.Anthropic, seed, distinctRows(rng, rng.IntN(4)))
	cuts := s.Cuts()
	body := blocked(t, s.Body(cuts[len(cuts)-1-rng.IntN(3)]))
	without := encoded(t, body)
	markRandomly(rng, body)
	return markedCase{encoded(t, body), without}, rng
}

// For all places of a caller's marks and all compactions, the provider accepts the
// request, and no mark moves to a later place. Without its marks the request equals a
// request that had no marks.
func TestPropertyMarksOfTheCache(t *testing.T) {
	n := samples.Of(9)
	if soak() {
		n = 3_000
	}
	compacted, moved, whole := 0, 0, 0
	for seed := range uint64(n) {
		c, rng := newMarkedCase(t, seed)
		m, err := compact.New(context.Background(), compact.Config{
			Model: models[provider.Anthropic], MaxContextTokens: 3_000 + 1_000*rng.IntN(5), Archive: memory.New(),
			Preset: []string{"graduated", "masking", "summarize"}[seed%3],
		})
		if err != nil {
			t.Fatal(err)
		}
		judge := provider.NewJudge(provider.Anthropic)
		judge.Issue(c.with)
		if found := judge.Judge(c.with); len(found) > 0 {
			t.Fatalf("seed %d: the request itself is refused: %s", seed, found[0].Text)
		}
		out, changed := sentOf(t, m, c.with, fmt.Sprint("with ", seed))
		autoMarked(t, m, judge, c.with, fmt.Sprint("with ", seed), out)
		control, _ := sentOf(t, m, c.without, fmt.Sprint("without ", seed))
		_ = m.Close(context.Background())
		if !changed {
			if whole++; !bytes.Equal(out, c.with) {
				t.Errorf("seed %d: a request that needs no change was changed", seed)
			}
			continue
		}
		compacted++
		if found := judge.Judge(out); len(found) > 0 {
			t.Errorf("seed %d: the view is refused: %s", seed, found[0].Text)
		}
		if got, want := encoded(t, blocked(t, out)), encoded(t, blocked(t, control)); !bytes.Equal(got, want) {
			t.Errorf("seed %d: apart from its marks the view differs:\n%s\n%s", seed, got, want)
		}
		moved += keptMarks(t, seed, c.with, out)
	}
	t.Logf("%d compacted with %d marks that moved, %d that needed nothing", compacted, moved, whole)
	if compacted < n/3 || moved == 0 {
		t.Errorf("the test proves nothing")
	}
}

// keptMarks checks that each mark stayed, was removed with its message, or moved to an
// earlier message. It returns the number of moved marks.
func keptMarks(t *testing.T, seed uint64, before, after []byte) (moved int) {
	t.Helper()
	var a, b dict
	if json.Unmarshal(before, &a) != nil || json.Unmarshal(after, &b) != nil {
		t.Fatal("no JSON")
	}
	had, has := marked(a), marked(b)
	if sum(has) > sum(had) {
		t.Errorf("seed %d: %d marks became %d", seed, sum(had), sum(has))
	}
	if has[-2] != had[-2] || has[-1] < had[-1] {
		t.Errorf("seed %d: marks of the tools or of the system prompt are gone", seed)
	}
	from := map[string]int{} // a message without its marks → the original message
	for i, m := range a["messages"].([]any) {
		from[string(encoded(t, unmarked(m.(dict))))] = i
	}
	covered := has[-1] > 0 // a mark covers everything up to here
	for i, m := range b["messages"].([]any) {
		src, kept := from[string(encoded(t, unmarked(m.(dict))))]
		if kept && has[i] < had[src] {
			t.Errorf("seed %d: message %d lost a mark on its way", seed, src)
		}
		if kept && has[i] > had[src] || !kept && has[i] > 0 {
			moved++
		}
		covered = covered || has[i] > 0
	}
	if sum(had) > had[-2] && !covered {
		t.Logf("seed %d: nothing stays in front of the only mark", seed)
	}
	return moved + has[-1] - had[-1]
}

// unmarked returns a message without its marks.
func unmarked(m dict) dict {
	out := dict{}
	for k, v := range m {
		out[k] = v
	}
	if list, ok := m["content"].([]any); ok {
		var blocks []any
		for _, e := range list {
			b := dict{}
			for k, v := range e.(dict) {
				if k != "cache_control" {
					b[k] = v
				}
			}
			blocks = append(blocks, b)
		}
		out["content"] = blocks
	}
	return out
}

// autoMarked checks a request with automatic marks: it is accepted, has at
// least the expected marks, and is otherwise the same.
func autoMarked(t *testing.T, m *compact.CompactManager, judge *provider.Judge, body []byte, session string, kept []byte) {
	t.Helper()
	req, err := parse(provider.Anthropic, body)
	if err != nil {
		t.Fatal(err)
	}
	res, err := m.Preflight(context.Background(), session, req.Messages(), compact.WithRequest(req))
	if err != nil {
		return
	}
	out, err := req.(wire.Marker).WriteMarked(res.Messages, res.Sources, res.Settled())
	if err != nil {
		t.Fatal(err)
	}
	if found := judge.Judge(out); len(found) > 0 {
		t.Errorf("%s: with marks of ours the view is refused: %s", session, found[0].Text)
	}
	if !bytes.Equal(encoded(t, blocked(t, out)), encoded(t, blocked(t, kept))) {
		t.Errorf("%s: with marks of ours, more than the marks differs", session)
	}
	var a, b dict
	if json.Unmarshal(kept, &a) != nil || json.Unmarshal(out, &b) != nil {
		t.Fatal("no JSON")
	}
	had, has := marked(a), marked(b)
	for at, n := range had {
		if has[at] < n {
			t.Errorf("%s: message %d had %d marks and has %d", session, at, n, has[at])
		}
	}
	if sum(had) < 2 && has[len(b["messages"].([]any))-1] == 0 {
		t.Errorf("%s: the last message has no mark", session)
	}
}

// sentOf returns the sent request, and whether it differs from the given one.
func sentOf(t *testing.T, m *compact.CompactManager, body []byte, session string) ([]byte, bool) {
	t.Helper()
	req, err := parse(provider.Anthropic, body)
	if err != nil {
		t.Fatal(err)
	}
	res, err := m.Preflight(context.Background(), session, req.Messages(), compact.WithRequest(req))
	if err != nil && !errors.Is(err, compact.ErrInsufficientBudget) {
		t.Fatal(err)
	}
	if err != nil {
		return body, false
	}
	out, err := req.Write(res.Messages, res.Sources)
	if err != nil {
		t.Fatal(err)
	}
	return out, res.Triggered
}
