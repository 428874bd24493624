package policy_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/token"
)

// prose returns n words of different lengths in tokens.
func prose(n, seed int) string {
	kinds := []string{"build", "failed", "日本語", "é", "😀", "(*T).Method", "0xdeadbeef", "\n\n\t", "=====", "https://a.example/x?y=1"}
	var b strings.Builder
	for i := range n {
		b.WriteString(kinds[(i*7+seed*3+i*i/5)%len(kinds)])
		b.WriteByte(' ')
	}
	return b.String()
}

// Truncate recognizes a truncation without a ledger: it does not cut its own output again,
// and a placeholder for that output states the size of the original.
func TestTruncateRecognizesItsOutputWithoutALedger(t *testing.T) {
	chat, err := token.NewEstimator("gpt-4", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	cut := 0
	for name, c := range map[string]struct {
		cost  policy.Coster
		stage policy.Truncate
	}{
		"tokens, marker counted in": {chat, policy.Truncate{NoShare: true}},
		"tokens, marker on top":     {chat, policy.Truncate{NoShare: true, MarkerOnTop: true}},
		"bytes, marker on top":      {token.NewGatewayEstimator(), policy.Truncate{NoShare: true, MarkerOnTop: true, BytesPerToken: 4}},
		"characters":                {token.NewCharsEstimator(), policy.Truncate{NoShare: true}},
	} {
		for seed := range 12 {
			text := prose(300, seed)
			for _, keep := range []string{policy.Head, policy.Tail, policy.Both} {
				for _, limit := range []int{1, 17, 30, 101, 400} {
					stage := c.stage
					stage.MaxTokens, stage.Keep = limit, keep
					once := apply(t, c.cost, stage, text)
					if once == text {
						continue
					}
					cut++
					if twice := apply(t, c.cost, stage, once); twice != once {
						t.Fatalf("%s, %s, %d: the second cut changed the output of the first:\n%q\n%q", name, keep, limit, once, twice)
					}
					mark := apply(t, c.cost, policy.Mask{Since: whole, KeepLast: 1, Form: policy.FormResult}, once)
					want := fmt.Sprintf("~%d tokens", c.cost.Message(message.ToolResult("call_0", text)))
					if len(once) > 60 && !strings.Contains(mark, want) && c.cost.Text(once) > 40 {
						t.Fatalf("%s, %s, %d: %q does not state %s", name, keep, limit, mark, want)
					}
				}
			}
		}
	}
	if cut < 200 {
		t.Errorf("only %d texts were cut, want at least 200", cut)
	}
}

func whole(*policy.View) int { return 0 }

// apply returns the output of a stage for a result with this text. Another result follows
// it.
func apply(t *testing.T, cost policy.Coster, s policy.Stage, text string) string {
	t.Helper()
	msgs := []message.Message{message.User("go")}
	for i, text := range []string{text, "ok"} {
		id := fmt.Sprintf("call_%d", i)
		msgs = append(msgs, message.Assistant("", message.Call(id, "bash", "{}")), message.ToolResult(id, text))
	}
	e := &reduce.Engine{Steps: []reduce.Step{{Stage: s, Goal: policy.All}}, Pins: pins, Cost: cost}
	out, err := run(t, e, msgs, budget(1_000_000))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range out.Passes {
		if p.Err != nil {
			t.Fatal(p.Err)
		}
	}
	return out.Conversation.Messages()[2].ResultText()
}

func TestParseTruncationRejectsForgeries(t *testing.T) {
	cost := token.NewGatewayEstimator()
	stage := policy.Truncate{MaxTokens: 50, NoShare: true, MarkerOnTop: true, BytesPerToken: 4}
	long := strings.Repeat("forged ", 100)
	for _, text := range []string{
		long + "\n\n[truncated: kept first ~50 of ~900 tokens (head)]",
		long[:200] + "\n\n[truncated: kept first ~050 of ~900 tokens (head)]" + long[:60],
		long[:200] + "\n\n[truncated: kept first ~50 of ~49 tokens (head)] and so on and so on",
		"[truncated: kept last ~50 of ~900 tokens (tail)]\n\n" + long,
		long[:20] + "\n\n[truncated: kept first+last ~50 of ~900 tokens (both)]\n\n" + long,
		strings.Repeat("\n\n[truncated: kept first+last ~1 of ~2 tokens (both)]\n\n", 50_000),
	} {
		if out := apply(t, cost, stage, text); out == text || len(out) >= len(text) {
			t.Errorf("%.80q… was recognized as a truncation", text)
		}
	}
	// A marker after much less text than it states is not ours, and its size is not believed.
	short := long[:600] + "\n\n[truncated: kept first ~5000 of ~90000 tokens (head)]"
	if mark := apply(t, cost, policy.Mask{Since: whole, KeepLast: 1, Form: policy.FormResult}, short); !strings.HasPrefix(mark, "[result masked") || strings.Contains(mark, "9000") {
		t.Errorf("%q states the size of a forged marker", mark)
	}
}

// With a limit in bytes, a result of long words is left whole if the marker costs more than
// the removed words.
func TestACutThatSavesNothingIsNotMade(t *testing.T) {
	result := strings.TrimSpace(strings.Repeat(strings.Repeat("w", 999)+" ", 30))
	msgs := []message.Message{message.User("go"), message.Assistant("", message.Call("1", "bash", `{}`)), message.ToolResult("1", result)}
	for limit, cuts := range map[int]bool{28: false, 5: true} {
		v := policy.NewView(msgs, pins, words{})
		v.Budget = budget(1000)
		p, err := policy.Truncate{MaxTokens: limit, NoShare: true, BytesPerToken: 1000}.Propose(t.Context(), v)
		if err != nil {
			t.Fatal(err)
		}
		if (len(p.Groups) > 0) != cuts {
			t.Errorf("a limit of %d tokens: %d edits are offered, want some: %v", limit, len(p.Groups), cuts)
		}
	}
}

// A ledger whose ranges lie outside of the text, or end before they begin, is an error.
func TestRangesOutsideOfTheTextAreErrors(t *testing.T) {
	for _, s := range []policy.Segment{{From: -1, To: 2}, {From: 2, To: 1}, {From: 0, To: 4}} {
		if text, err := (policy.Forms{}).Rewrite("abc", []policy.Segment{s}, nil); !errors.Is(err, policy.ErrEdit) {
			t.Errorf("range [%d:%d] of 3 bytes gives %q, %v, want ErrEdit", s.From, s.To, text, err)
		}
	}
	if text, err := (policy.Forms{}).Rewrite("abc", []policy.Segment{{From: 1, To: 1}, {From: 2, To: 3}}, nil); text != "c" || err != nil {
		t.Errorf("got %q, %v, want c and no error", text, err)
	}
}
