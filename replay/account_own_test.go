package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// A ledger also lists the messages that calls have edited since the previous step. An edit
// that an earlier step listed is subtracted only once. Equal messages have one fingerprint,
// and with a second subtraction the second message would be missing from its step.
func TestEarlierEditIsSubtractedFromAStepOnce(t *testing.T) {
	gone := func(fps ...string) (all []evicted) {
		for _, fp := range fps {
			all = append(all, evicted{FP: fp, Is: "masked"})
		}
		return all
	}
	way := newCourse([]AccountEdit{
		{seq: 4, owner: owner{"one", ""}, evicted: gone("x")},
		{seq: 5, owner: owner{"two", ""}, evicted: gone("y")},
		{seq: 8, owner: owner{"one", ""}, evicted: gone("z")},
	})
	for _, step := range []struct {
		agent string
		edits int64
		all   []evicted
		want  []string
	}{
		{"one", 5, gone("x", "a", "y", "z"), []string{"a", "y", "z"}}, // z was edited after it
		{"one", 8, gone("x", "z", "b"), []string{"x", "b"}},
		{"one", 8, gone("z"), []string{"z"}},
		{"two", 8, gone("y", "z"), []string{"z"}},
	} {
		var got []string
		for _, e := range way.own(&ledgerData{Agent: step.agent, Edits: step.edits, Evicted: step.all}) {
			got = append(got, e.FP)
		}
		if !slices.Equal(got, step.want) {
			t.Errorf("the step of %s up to edit %d has %v of its own, want %v", step.agent, step.edits, got, step.want)
		}
	}
}

// The bill of an event determines the cached part only if the bill was made with the same
// card. With another card, such as the configured one, the previous call determines the
// cached part.
func TestCachedTokensComeFromABillWithTheSameCard(t *testing.T) {
	card, _ := price.For("claude-sonnet-4-5")
	call := func(prices string, tokens int, usd float64) string {
		line, err := json.Marshal(map[string]any{"name": "before_model_call", "span_id": fmt.Sprint(usd), "data": map[string]any{
			"model": "claude-sonnet-4-5", "tokens_in": tokens, "tokens_before": tokens, "tokens_after": tokens,
			"bill": map[string]any{"prices": prices, "estimated_prompt_usd": usd, "projected_whole_prompt_usd": usd},
		}})
		if err != nil {
			t.Fatal(err)
		}
		return string(line)
	}
	warm := card.Cost(card.Split(12_000, 9_000))
	for prices, same := range map[string]int{card.String(): 9_000, "mine (configuration)": 10_000} {
		a, spans := &Account{}, map[string]int{}
		for _, line := range []string{call(prices, 10_000, 2), call(prices, 12_000, warm)} {
			var e event
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatal(err)
			}
			a.take(&e, spans)
		}
		a.price(card)
		if got, want := a.Calls[1].Cost, card.Cost(card.Split(12_000, same)); got != want || a.Calls[1].Raw != want {
			t.Errorf("by %s the call costs %v, and %v with the whole history; want %v", prices, got, a.Calls[1].Raw, want)
		}
	}
}

// Without a card, the price of each call comes from its own bill, or from the list prices
// of its own model. A call whose provider cached nothing stays cold.
func TestEachCallIsPricedByItsOwnBill(t *testing.T) {
	sonnet, _ := price.For("claude-sonnet-4-5")
	mini, _ := price.For("gpt-4o-mini")
	cold, warm := sonnet.Cost(sonnet.Split(10_000, 0)), sonnet.Cost(sonnet.Split(10_000, 10_000))
	type bill = recordedBill
	for name, c := range map[string]struct {
		models   string // of two calls of 10,000 tokens
		bills    [2]bill
		want     [2]float64
		unpriced int
	}{
		"the configuration's prices": {"claude-sonnet-4-5 claude-sonnet-4-5", [2]bill{{"mine (configuration)", false, 7, 7, 7}, {"mine (configuration)", false, 5, 5, 12}}, [2]float64{7, 5}, 0},
		"nothing was cached":         {"claude-sonnet-4-5 claude-sonnet-4-5", [2]bill{{sonnet.String(), false, cold, cold, cold}, {sonnet.String(), false, cold, cold, 2 * cold}}, [2]float64{cold, cold}, 0},
		"another process":            {"claude-sonnet-4-5 claude-sonnet-4-5", [2]bill{{sonnet.String(), false, cold, cold, cold}, {sonnet.String(), false, cold, cold, cold}}, [2]float64{cold, warm}, 0},
		"another model":              {"claude-sonnet-4-5 gpt-4o-mini", [2]bill{}, [2]float64{cold, mini.Cost(mini.Split(10_000, 0))}, 0},
		"a model without a price":    {"our-own claude-sonnet-4-5", [2]bill{{"our-own", true, 9, 9, 9}}, [2]float64{0, cold}, 1},
	} {
		a := &Account{}
		for i, model := range strings.Fields(c.models) {
			a.Calls = append(a.Calls, AccountCall{Model: model, In: 10_000, Sent: 10_000, bill: c.bills[i]})
		}
		a.price(price.Card{})
		if got := [2]float64{a.Calls[0].Cost, a.Calls[1].Cost}; got != c.want || a.Money.Unpriced != c.unpriced || !a.Money.Priced || a.Money.Sent != c.want[0]+c.want[1] {
			t.Errorf("%s: %v, want %v; %+v", name, got, c.want, a.Money)
		}
	}
}

// If a process lost the number of its step to another process, its decision is not the
// decision of the step with that number.
func TestDecisionOfALostRaceBelongsToNoStep(t *testing.T) {
	a, log := &Account{}, &logged{reasons: map[int]string{}, times: map[int]time.Time{}, voids: map[string]bool{}}
	for _, line := range []string{
		`{"name":"compact.trigger_decision","span_id":"a","data":{"triggered":true,"step":1,"reason":"manual"}}`,
		`{"name":"compact.trigger_decision","span_id":"b","data":{"triggered":true,"step":1,"reason":"economic"}}`,
		`{"name":"compact.error","span_id":"c","data":{"error_type":"CommitLost","fallback":"next number","step":1,"voids":["b"]}}`,
	} {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if !log.take(&e) {
			a.take(&e, map[string]int{})
		}
	}
	if log.settle(); log.reasons[1] != "manual" || len(a.Errors) != 1 {
		t.Errorf("%v, %+v", log.reasons, a.Errors)
	}
}

// A message of several results is recalled by its largest result, because a reader most
// likely looks for that one.
func TestAMessageIsRecalledByItsLargestPart(t *testing.T) {
	result := func(n int) message.Part {
		return message.Part{Kind: message.KindToolResult, Text: strings.Repeat("x", n)}
	}
	m := archivedLine{Message: message.Message{Parts: []message.Part{result(5), result(90), result(40), result(200)}}}
	for _, c := range []struct {
		refs []string
		want string
	}{
		{[]string{"a", "b", "c", "d"}, "d"},
		{[]string{"a", "b", "c", ""}, "b"},
		{[]string{"a", "", "c"}, "c"},
		{[]string{"a"}, "a"},
		{nil, "0123456789ab"},
	} {
		m.refs = c.refs
		if got := m.ref("0123456789abcdef"); got != c.want {
			t.Errorf("%v: %s, want %s", c.refs, got, c.want)
		}
	}
}

// Each branch of an agent has its own history. FromArchive reads the whole history of
// the branch that compacted last.
func TestAnArchiveOfTwoBranchesGivesTheLastOne(t *testing.T) {
	c, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	a := memory.New()
	c.Model, c.MaxContextTokens, c.Archive = "gpt-4o", 8000, a
	m, err := compact.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	left, right := session("s", 25), session("s", 25)
	for i := 2; i < len(right.Messages); i++ {
		if right.Messages[i].Role == message.RoleTool {
			right.Messages[i].Parts[0].Text = "right: " + right.Messages[i].Parts[0].Text
		}
	}
	sendBranch(t, m, "", left)
	sendBranch(t, m, "right", right)
	if err := errors.Join(m.Archive(t.Context(), "s", right.Messages), m.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	stored, err := record.OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	was, err := FromArchive(t.Context(), a, stored, "s")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(was.Session.Messages, right.Messages, func(x, y message.Message) bool { return x.ResultText() == y.ResultText() }) {
		t.Errorf("%d messages of another branch", len(was.Session.Messages))
	}
}

// sendBranch makes the calls of a session on a branch, and wants a compaction.
func sendBranch(t *testing.T, m *compact.CompactManager, branch string, s *Session) {
	t.Helper()
	steps := 0
	for _, at := range s.Calls() {
		res, err := m.Preflight(t.Context(), "s", s.Messages[:at:at], compact.WithBranch(branch))
		if err != nil {
			t.Fatal(err)
		}
		steps += one(res.Step > 0)
	}
	if steps == 0 {
		t.Fatalf("branch %q made no compaction", branch)
	}
}

// A call that compacted shares no view with the previous call, also if its view is longer
// because much was said meanwhile. The whole history continues the previous one.
func TestACompactionSharesNoViewWithThePreviousCall(t *testing.T) {
	before := prefix{sent: 10_000, in: 20_000, model: "m", at: beginning}
	for _, c := range []struct {
		call      AccountCall
		sent, raw int
	}{
		{AccountCall{Model: "m", At: beginning, In: 30_000, Sent: 12_000}, 10_000, 20_000},
		{AccountCall{Model: "m", At: beginning, In: 30_000, Sent: 12_000, Step: 2}, 0, 20_000},
		{AccountCall{Model: "m", At: beginning, In: 30_000, Sent: 12_000, Step: 2, cached: 900, cachedRaw: 19_000}, 900, 19_000},
		{AccountCall{Model: "m", At: beginning, In: 30_000, Sent: 9_000}, 0, 20_000},
		{AccountCall{Model: "other", At: beginning, In: 30_000, Sent: 12_000}, 0, 0},
	} {
		if sent, raw := before.shared(&c.call, price.Card{}); sent != c.sent || raw != c.raw {
			t.Errorf("%+v: %d of the view and %d of the history, want %d and %d", c.call, sent, raw, c.sent, c.raw)
		}
	}
}
