package legality

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/internal/provider/render"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/memory"
)

var keepMark = regexp.MustCompile(`KEEP-\d+`)

// markedRows returns a session of tasks with several rounds each; some questions,
// answers and results have a number.
func markedRows(t *testing.T, rng *rand.Rand) []render.Row {
	t.Helper()
	var b strings.Builder
	n := 0
	say := func(format string, args ...any) {
		text := strings.Repeat("as it was said ", 10)
		if rng.IntN(5) == 0 {
			n++
			text = fmt.Sprintf("KEEP-%03d ", n) + text
		}
		fmt.Fprintf(&b, format+"\n", append(args, text)...)
	}
	for i := range 8 {
		say(`{"role":"user","content":%q}`)
		for k := range 1 + rng.IntN(12) {
			id := fmt.Sprintf("c%d_%d", i, k)
			fmt.Fprintf(&b, `{"role":"assistant","content":null,"tool_calls":[{"id":%q,"type":"function","function":{"name":"run","arguments":"{}"}}]}`+"\n", id)
			say(`{"role":"tool","tool_call_id":%q,"content":%q}`, id)
		}
		say(`{"role":"assistant","content":%q}`)
	}
	rows, err := render.Rows([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// marks returns the numbers in a conversation, in order.
func marks(msgs []message.Message) (found []string) {
	for _, m := range msgs {
		if m.Protected || keepMark.MatchString(m.Text()+m.ResultText()) {
			found = append(found, keepMark.FindAllString(m.Text()+m.ResultText(), -1)...)
		}
	}
	return found
}

// Protected messages keep their order through many compactions of a session, even if
// one of them was the last user message at the time of a compaction.
func TestProtectedMessagesKeepTheirOrder(t *testing.T) {
	for w := range names {
		for seed := range uint64(samples.Of(5)) {
			for _, kept := range []bool{false, true} {
				keepsOrder(t, w, seed, kept)
			}
		}
	}
}

func keepsOrder(t *testing.T, w provider.Wire, seed uint64, kept bool) {
	t.Helper()
	s := render.New(w, seed, markedRows(t, rand.New(rand.NewPCG(seed, 7))))
	c := compact.Config{Model: models[w], MaxContextTokens: 32_000, Archive: memory.New()}
	c.Policy.KeepRecentTurns, c.Policy.KeepToolIOPairs = 1, 1
	m, err := compact.New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(context.Background()) }()
	keep := compact.WithProtected(func(m message.Message) bool { return keepMark.MatchString(m.Text() + m.ResultText()) })
	cuts := s.Cuts()
	var body []byte
	last := 0
	for k := 1; k <= 5; k++ {
		cut := cuts[(len(cuts)-1)*k/5]
		in := s.Body(cut)
		full, err := parse(w, in)
		if err != nil {
			t.Fatal(err)
		}
		if kept && body != nil {
			if in, err = s.Extend(body, last, cut); err != nil {
				t.Fatal(err)
			}
		}
		req, err := parse(w, in)
		if err != nil {
			t.Fatal(err)
		}
		res, err := m.ManualCompact(context.Background(), "s", req.Messages(), "", compact.WithRequest(req), compact.WithModel(models[w]), keep)
		if err != nil {
			t.Fatal(err)
		}
		for _, warning := range res.Warnings {
			if strings.Contains(warning, "policy: stage") {
				t.Errorf("%s, seed %d, kept %v, compaction %d: edits were thrown away: %s", w, seed, kept, k, warning)
			}
		}
		want := marks(full.Messages())
		if got := marks(res.Messages); !slices.Equal(got, want) {
			t.Errorf("%s, seed %d, kept %v, compaction %d: %v, want %v", w, seed, kept, k, got, want)
			return
		}
		if body, err = req.Write(res.Messages, res.Sources); err != nil {
			t.Fatal(err)
		}
		last = cut
	}
}
