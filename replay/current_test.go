package replay

import (
	"errors"
	"slices"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// The order of a view depends on the user's last message, even if the archive has that
// message in redacted form: protected messages stay after it. In another order the
// prefixes that the cache held would be billed as new.
func TestCurrentHasTheOrderOfTheViewsThatWereSent(t *testing.T) {
	s := session("s", 40)
	s.Messages[1].Parts[0].Text = "The key is AKIA" + "Q7ZK3MPLW2XRT6NB" + "."
	for _, i := range []int{1, 6, 7, 14, 15} {
		s.Messages[i].Protected = true
	}
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
	var sent [][]int
	moved := false
	for _, at := range s.Calls() {
		res, err := m.Preflight(t.Context(), "s", s.Messages[:at:at])
		if err != nil {
			t.Fatal(err)
		}
		sent = append(sent, slices.Clone(res.Sources))
		moved = moved || len(res.Sources) > 3 && slices.Equal(res.Sources[:4], []int{0, -1, 1, 6})
	}
	if err := errors.Join(m.Archive(t.Context(), "s", s.Messages), m.Close(t.Context())); err != nil || !moved {
		t.Fatalf("%v; a summary stands before the protected messages: %v, %v", err, moved, sent[len(sent)-1])
	}
	stored, err := record.OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	was, err := FromArchive(t.Context(), a, stored, "s")
	if err != nil {
		t.Fatal(err)
	}
	again, err := was.Current().Begin(t.Context(), was.Session, Env{Count: estimator(t)})
	if err != nil {
		t.Fatal(err)
	}
	for i, at := range was.Session.Calls() {
		v, err := again.View(t.Context(), was.Session.Messages[:at:at])
		if err != nil || !slices.Equal(v.Sources, sent[i]) {
			t.Fatalf("call %d had the messages %v, was sent %v; %v", i+1, v.Sources, sent[i], err)
		}
	}
}

// The prompt of one agent is not cached for another agent: each has its own prefix.
func TestEachAgentOfASessionWarmsItsOwnCache(t *testing.T) {
	card, _ := price.For("claude-sonnet-4-5")
	call := func(agent string, tokens int) AccountCall {
		return AccountCall{Agent: agent, Model: "claude-sonnet-4-5", In: tokens, Sent: tokens}
	}
	a := &Account{Calls: []AccountCall{call("one", 10_000), call("two", 12_000), call("one", 11_000), call("two", 12_500)}}
	a.price(price.Card{})
	for i, same := range []int{0, 0, 10_000, 12_000} {
		c := &a.Calls[i]
		if want := card.Cost(card.Split(c.Sent, same)); c.Cost != want || c.Raw != want {
			t.Errorf("call %d costs %v, and %v with the whole history; want %v", i+1, c.Cost, c.Raw, want)
		}
	}
}
