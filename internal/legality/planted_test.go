package legality

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/internal/provider/render"
	"github.com/agentcompact/compact/message"
)

// pinnedAnswer returns a session whose first answer is protected: if the messages before
// it are summarized, the view would begin with a message of the model.
func pinnedAnswer(t *testing.T) []render.Row {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"role":"user","content":"Make a plan."}` + "\n" + `{"role":"assistant","content":"PLAN"}` + "\n")
	for i := range 20 {
		fmt.Fprintf(&b, `{"role":"user","content":"Step %d."}`+"\n", i)
		fmt.Fprintf(&b, `{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"run","arguments":"{}"}}]}`+"\n", i)
		fmt.Fprintf(&b, `{"role":"tool","tool_call_id":"c%d","content":"%s"}`+"\n", i, strings.Repeat("what was found ", 100))
		b.WriteString(`{"role":"assistant","content":"Done."}` + "\n")
	}
	b.WriteString(`{"role":"user","content":"And now?"}` + "\n")
	rows, err := render.Rows([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// The sweep must be able to fail: a manager without the wire's rules makes a
// view that the provider refuses, and the judge reports it. With the rules, it
// makes another view.
func TestManagerWithoutRulesIsDetected(t *testing.T) {
	rows := pinnedAnswer(t)
	plan := compact.WithProtected(func(m message.Message) bool { return strings.Contains(m.Text(), "PLAN") })
	for _, w := range []provider.Wire{provider.Anthropic, provider.Gemini} {
		for seed := range uint64(6) {
			body := render.New(w, seed, rows).Body(len(rows))
			judge := provider.NewJudge(w)
			judge.Issue(body)
			req, err := parse(w, body)
			if err != nil {
				t.Fatal(err)
			}
			for _, knows := range []bool{false, true} {
				opts := []compact.Option{plan, compact.WithModel(models[w])}
				if knows {
					opts = append(opts, compact.WithRequest(req))
				}
				c := newChain(t, "planted", w, 8_000)
				res, err := c.m.ManualCompact(context.Background(), "s", req.Messages(), "planted", opts...)
				c.close()
				if err != nil || !res.Triggered {
					t.Fatalf("%s, seed %d, rules known %v: %v, %s", w, seed, knows, err, res.Reason)
				}
				out, err := req.Write(res.Messages, res.Sources)
				if err != nil {
					t.Fatal(err)
				}
				refused := slices.ContainsFunc(judge.Judge(out), func(r provider.Refusal) bool { return r.Rule == "first_role" })
				if refused == knows {
					t.Errorf("%s, seed %d, rules known %v: refused %v, stage %s", w, seed, knows, refused, res.ReductionStage)
				}
			}
		}
	}
}
