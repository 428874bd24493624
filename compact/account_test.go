package compact

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/memory"
)

// The common part of two prompts comes from the notes of the last call: no
// message is counted again, because that would need a look-up for each message
// of each call.
func TestCommonCountsNoTokens(t *testing.T) {
	sent := []message.Message{message.System("s"), message.User("one"), message.Assistant("two")}
	a := account{sentPrompt: sentPrompt{total: 100}}
	for i, m := range sent {
		a.sent = append(a.sent, sentMessage{m.Fingerprint(), 10 * (i + 1)})
	}
	for want, view := range map[int][]message.Message{
		100: append(sent[:3:3], message.User("three")),
		27:  {sent[0], sent[1], message.Assistant("another")},
		7:   {message.System("another"), sent[1], sent[2]},
	} {
		c := &call{res: &Result{Messages: view}, knowledge: knowledge{fixed: 7}} // without an estimator
		if got := a.common(c); got != want {
			t.Errorf("%d tokens in common, want %d", got, want)
		}
	}
}

// A call does not examine messages that cannot have changed. After calls that mask,
// make steps and change the history, the account of a lane equals the account of a full
// examination.
func TestAccountEqualsAFullScan(t *testing.T) {
	ctx := context.Background()
	m, err := New(ctx, Config{Preset: "masking", Model: "gpt-4o", MaxContextTokens: 100_000, Archive: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(ctx) }()
	history := []message.Message{message.System("You fix bugs."), message.User("Make the tests pass.")}
	var last []message.Message
	skipped := 0
	for i := range 80 {
		id := fmt.Sprintf("call_%d", i)
		history = append(history, message.Assistant("", message.Call(id, "read_file", `{"path":"a.go"}`)),
			message.ToolResult(id, fmt.Sprint(i)+strings.Repeat(" some words", 60)))
		if i == 60 {
			history[1] = message.User("Something else.")
		}
		before := account{}
		if s := m.sessions["s"]; s != nil {
			l := s.lanes[ledger.Owner{}]
			before.sent, before.conv, before.total = slices.Clone(l.account.sent), l.account.conv, l.account.total
		}
		res, err := m.Preflight(ctx, "s", history)
		if err != nil {
			t.Fatal(err)
		}
		a := &m.sessions["s"].lanes[ledger.Owner{}].account
		if before.conv != nil && before.conv.Shared(a.conv) > 0 {
			skipped++
		}
		same := 0
		for same < len(last) && same < len(res.Messages) && last[same].Fingerprint() == res.Messages[same].Fingerprint() {
			same++
		}
		c := &call{res: res, outcome: outcome{shown: a.conv}}
		if got := before.same(c); got != same {
			t.Fatalf("call %d: %d messages in common, want %d", i, got, same)
		}
		last = res.Messages
		checkSent(t, m, a, res)
	}
	if skipped < 40 {
		t.Errorf("of 80 calls %d had messages that need not be examined", skipped)
	}
}

func checkSent(t *testing.T, m *CompactManager, a *account, res *Result) {
	t.Helper()
	ep, err := m.epoch(context.Background(), epochKey{})
	if err != nil {
		t.Fatal(err)
	}
	upTo := 0
	if len(a.sent) != len(res.Messages) {
		t.Fatalf("the account has %d messages of %d", len(a.sent), len(res.Messages))
	}
	for i, msg := range res.Messages {
		upTo += ep.estimator.Message(msg)
		if a.sent[i] != (sentMessage{msg.Fingerprint(), upTo}) {
			t.Fatalf("message %d: the account has %+v, want %d tokens up to this message", i, a.sent[i], upTo)
		}
	}
}
