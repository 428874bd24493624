package reduce

import (
	"errors"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// bytesCost counts one token per byte.
type bytesCost struct{}

func (bytesCost) Text(s string) int             { return len(s) }
func (bytesCost) Message(m message.Message) int { return len(m.Text()) + len(m.ResultText()) }

// changedBy returns the conversation after a stage: messages of b by their index, or new
// messages. decided holds the decisions on the removed messages.
func changedBy(b *Conversation, decided policy.Decision, items ...any) *Conversation {
	a := &Conversation{pins: b.pins, forms: b.forms}
	there := map[int]bool{}
	for _, x := range items {
		switch x := x.(type) {
		case int:
			a.items.add(*b.items.at(x))
			there[x] = true
		case item:
			a.items.add(x)
			there[x.src] = true
		case message.Message:
			a.items.add(item{m: x, src: -1, pinned: b.pins.Pinned(&x)})
		}
	}
	for i := range b.fates.len() {
		f := *b.fates.at(i)
		if !there[i] {
			f.decision = decided
		}
		a.fates.add(f)
	}
	return a
}

func TestCheckReportsBrokenPromises(t *testing.T) {
	pins := policy.Pins{message.RoleSystem, message.RoleDeveloper}
	kept := message.Assistant("what I keep")
	kept.Protected = true
	history := []message.Message{
		message.System("be good"), message.User("do the task"), // 0, 1
		message.Assistant("", message.Call("a", "bash", "{}"), message.Call("b", "bash", "{}")), message.ToolResult("a", strings.Repeat("x", 90)), message.ToolResult("b", "small"), // 2 to 4
		message.Developer("be better"), message.Assistant("an answer"), kept, // 5 to 7
		message.User("and now?"), message.Assistant("", message.Call("c", "bash", "{}"), message.Call("d", "bash", "{}")), message.ToolResult("c", strings.Repeat("y", 90)), // 8 to 10
	}
	b := NewConversation(history, pins, nil)
	as := func(src int, m message.Message) item { it := *b.items.at(src); it.m = m; return it }
	result := func(id, text string) message.Message { return message.ToolResult(id, text) }
	unprotected := message.Assistant("what I keep")
	summary, other := policy.NewSummary(1, "what happened"), policy.NewSummary(2, "what else happened")
	const pinned, pairs, growth = "pinned messages come out byte for byte", "no orphan: calls and results stay together", "no edit makes a message larger"
	const anchor, open, account = "the anchor stays, behind the summary", "the open round stays", "every message is accounted for once"
	for _, tc := range []struct {
		name  string
		items []any
		rule  string
		what  string
	}{
		{"nothing", []any{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, "", ""},
		{"a smaller result", []any{0, 1, 2, as(3, result("a", "x")), 4, 5, 6, 7, 8, 9, 10}, "", ""},
		{"a summary in place of a round", []any{0, 5, 7, summary, 6, 8, 9, 10}, "", ""},
		{"a round is gone", []any{0, 1, 5, 6, 7, 8, 9, 10}, "", ""},
		{"the system message is gone", []any{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, pinned, "message 1 is gone"},
		{"a protected message is gone", []any{0, 1, 2, 3, 4, 5, 6, 8, 9, 10}, pinned, "message 8 is gone"},
		{"a changed system message", []any{as(0, message.System("be bad")), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, pinned, "message 1 was changed"},
		{"a message is no longer protected", []any{0, 1, 2, 3, 4, 5, 6, as(7, unprotected), 8, 9, 10}, pinned, "message 8 was changed"},
		{"pinned messages change places", []any{5, 0, 1, 2, 3, 4, 6, 7, 8, 9, 10}, pinned, "message 6 changed its place among the pinned"},
		{"a result is gone", []any{0, 1, 2, 3, 5, 6, 7, 8, 9, 10}, pairs, "round 3 keeps 2 of 3 messages"},
		{"a call is gone", []any{0, 1, 3, 4, 5, 6, 7, 8, 9, 10}, pairs, "round 3 keeps 2 of 3 messages"},
		{"a summary in a round", []any{0, 1, 2, 3, summary, 4, 5, 6, 7, 8, 9, 10}, pairs, "round 3 is torn apart"},
		{"another message in a round", []any{0, 1, 2, 3, 6, 4, 5, 7, 8, 9, 10}, pairs, "round 3 is torn apart"},
		{"results change places", []any{0, 1, 2, 4, 3, 5, 6, 7, 8, 9, 10}, pairs, "round 3 is torn apart"},
		{"as many tokens as before", []any{0, 1, 2, 3, as(4, result("b", "other")), 5, 6, 7, 8, 9, 10}, "", ""},
		{"one token more", []any{0, 1, 2, 3, as(4, result("b", "small1")), 5, 6, 7, 8, 9, 10}, growth, "message 5 went from 5 to 6 tokens"},
		{"a summary larger than the removed messages", []any{0, 5, 7, policy.NewSummary(1, strings.Repeat("z", 200)), 1, 2, 3, 4, 8, 9, 10}, growth, "the view went from"},
		{"the last user message is gone", []any{0, 1, 2, 3, 4, 5, 6, 7, 9, 10}, anchor, "the last user message is gone"},
		{"a changed last user message", []any{0, 1, 2, 3, 4, 5, 6, 7, as(8, message.User("and")), 9, 10}, anchor, "the last user message was changed"},
		{"the last user message before the summary", []any{0, 5, 7, 8, summary, 9, 10}, anchor, "the last user message stands before the summary"},
		{"two summaries", []any{0, 5, 7, summary, other, 8, 9, 10}, anchor, "there are two summaries"},
		{"the open round is gone", []any{0, 1, 2, 3, 4, 5, 6, 7, 8}, open, "message 10 is gone"},
	} {
		a := changedBy(b, policy.Dropped, tc.items...)
		err := check("s", policy.NewView(b.Messages(), pins, bytesCost{}), policy.NewView(a.Messages(), pins, bytesCost{}), b, a)
		broken := (*BrokenError)(nil)
		switch errors.As(err, &broken); {
		case tc.rule == "" && err == nil:
		case broken == nil || broken.Rule != tc.rule || !strings.HasPrefix(broken.Detail, tc.what) || broken.Stage != "s":
			t.Errorf("%s: %v, want %s: %s", tc.name, err, tc.rule, tc.what)
		}
	}

	masked := changedBy(b, policy.Kept, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, as(10, result("c", "y")))
	masked.fates.edit(10).decision = policy.Masked
	if err := check("s", policy.NewView(b.Messages(), pins, bytesCost{}), policy.NewView(masked.Messages(), pins, bytesCost{}), b, masked); err == nil || !strings.HasSuffix(err.Error(), open+": message 11 was masked") {
		t.Errorf("check of a masked result in the open round: %v", err)
	}
	was := changedBy(b, policy.Kept, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
	was.fates.edit(10).decision = policy.Masked
	if err := check("s", policy.NewView(was.Messages(), pins, bytesCost{}), policy.NewView(masked.Messages(), pins, bytesCost{}), was, masked); err != nil {
		t.Errorf("check of a result that was masked before: %v", err)
	}
	gone := changedBy(b, policy.Kept, 0, 1, 2, 3, 4, 5, 7, 8, 9, 10)
	if err := check("s", policy.NewView(b.Messages(), pins, bytesCost{}), policy.NewView(gone.Messages(), pins, bytesCost{}), b, gone); err == nil || !strings.Contains(err.Error(), account+": message 7 is") {
		t.Errorf("check of a removed message with the decision kept: %v", err)
	}
	there := changedBy(b, policy.Kept, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
	there.fates.edit(6).decision = policy.Summarized
	if err := check("s", policy.NewView(b.Messages(), pins, bytesCost{}), policy.NewView(there.Messages(), pins, bytesCost{}), b, there); err == nil || !strings.Contains(err.Error(), account+": message 7 is") {
		t.Errorf("check of a remaining message with the decision summarized: %v", err)
	}
}

// A summary that the history already holds, or a text that looks like a summary, is not
// the new summary.
func TestCheckIdentifiesTheNewSummary(t *testing.T) {
	pins := policy.Pins{message.RoleSystem}
	old, quoted := policy.NewSummary(1, "what happened before"), message.User(policy.NewSummary(1, "quoted").Text())
	last := message.User("and now?")
	next := policy.NewSummary(2, "all")
	for name, tc := range map[string]struct {
		last  message.Message
		items []any
		ok    bool
	}{
		"the old summary stays":         {last, []any{0, 1, 2, 4}, true},
		"a new summary in its place":    {last, []any{0, next, 4}, true},
		"a new summary and the old one": {last, []any{0, 1, next, 4}, false},
		"the user quotes a summary":     {quoted, []any{0, next, 4}, true},
	} {
		b := NewConversation([]message.Message{message.System("be good"), old, message.User("do it"), message.Assistant("a long answer of many words"), tc.last}, pins, nil)
		a := changedBy(b, policy.Dropped, tc.items...)
		err := check("s", policy.NewView(b.Messages(), pins, bytesCost{}), policy.NewView(a.Messages(), pins, bytesCost{}), b, a)
		if (err == nil) != tc.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Tokens are an estimate. An edit must not make a text longer in characters either, even if
// it costs fewer tokens.
func TestCheckReportsMoreCharactersForFewerTokens(t *testing.T) {
	history := []message.Message{message.User("go"), message.Assistant("", message.Call("a", "bash", "{}")), message.ToolResult("a", strings.Repeat("é", 45))}
	b := NewConversation(history, nil, nil)
	for n, ok := range map[int]bool{45: true, 46: false, 60: false} {
		it := *b.items.at(2)
		it.m = message.ToolResult("a", strings.Repeat("e", n))
		a := changedBy(b, policy.Dropped, 0, 1, it)
		err := check("s", policy.NewView(b.Messages(), nil, bytesCost{}), policy.NewView(a.Messages(), nil, bytesCost{}), b, a)
		if (err == nil) != ok {
			t.Errorf("from 45 to %d characters: %v", n, err)
		}
	}
}

// A stage can find messages that an earlier stage made, also inside a round: a late result
// takes a notice in front of it into its round. Such messages may stay and go.
func TestCheckAcceptsMessagesMadeByStages(t *testing.T) {
	pins := policy.Pins{message.RoleSystem}
	history := []message.Message{
		message.User("go"), message.Assistant("a long answer"), message.System("rule"), // 0 to 2
		message.Assistant("", message.Call("x", "bash", "{}"), message.Call("y", "bash", "{}"), message.Call("z", "bash", "{}")), message.ToolResult("x", "one"), message.ToolResult("y", "two"), // 3 to 5
	}
	b := NewConversation(history, pins, nil)
	notice, made := policy.NewNotice(3), message.System("made by a stage")
	b = changedBy(b, policy.Kept, 0, notice, made, 1, 2, 3, 4, notice, 5)
	for _, tc := range []struct {
		name  string
		items []any
		rule  string
	}{
		{"all stay", []any{0, 1, 2, 3, 4, 5, 6, 7, 8}, ""},
		{"a message of a role that is pinned goes", []any{0, 1, 3, 4, 5, 6, 7, 8}, ""},
		{"the first notice goes", []any{0, 2, 3, 4, 5, 6, 7, 8}, ""},
		{"the notice in the round goes", []any{0, 1, 2, 3, 4, 5, 6, 8}, ""},
		{"an answer before them goes", []any{0, 1, 2, 4, 5, 6, 7, 8}, ""},
		{"a message of the history between the results", []any{0, 1, 2, 4, 5, 6, 7, 3, 8}, "no orphan: calls and results stay together"},
		{"a result behind the notice goes", []any{0, 1, 2, 3, 4, 5, 6, 7}, "no orphan: calls and results stay together"},
	} {
		a := changedBy(b, policy.Dropped, tc.items...)
		for i := range a.fates.len() {
			if _, there := places(a).index(i); there {
				a.fates.edit(i).decision = policy.Kept
			} else {
				a.fates.edit(i).decision = policy.Dropped
			}
		}
		err := check("s", policy.NewView(b.Messages(), pins, bytesCost{}), policy.NewView(a.Messages(), pins, bytesCost{}), b, a)
		broken := (*BrokenError)(nil)
		if tc.rule == "" && err != nil || tc.rule != "" && (!errors.As(err, &broken) || broken.Rule != tc.rule) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// The first message is one like the others: it can be the last user message, a call, or an
// instruction with a copy behind it, and it can take part in an edit.
func TestCheckCoversTheFirstMessage(t *testing.T) {
	pins := policy.Pins{message.RoleSystem, "example"}
	system, protected, tool := message.System("be good"), message.System("be good"), message.Message{Role: "example", Parts: message.User("x").Parts}
	protected.Protected = true
	call, result := message.Assistant("", message.Call("a", "bash", "{}")), message.ToolResult("a", "fine")
	for name, tc := range map[string]struct {
		history []message.Message
		items   []any
		rule    string
	}{
		"the only user message is gone":    {[]message.Message{message.User("go"), message.Assistant("fine")}, []any{1}, "the anchor stays, behind the summary"},
		"a call is gone":                   {[]message.Message{call, result, message.User("go")}, []any{1, 2}, "no orphan: calls and results stay together"},
		"a changed instruction has a copy": {[]message.Message{system, system, message.User("go")}, []any{item{m: message.System("be")}, 1, 2}, "pinned messages come out byte for byte"},
		"a copy is gone":                   {[]message.Message{system, system, message.User("go")}, []any{1, 2}, ""},
		"both copies are gone":             {[]message.Message{system, system, message.User("go")}, []any{2}, "pinned messages come out byte for byte"},
		"a protected copy is gone":         {[]message.Message{protected, protected, message.User("go")}, []any{1, 2}, "pinned messages come out byte for byte"},
		"a copy of another role is gone":   {[]message.Message{tool, tool, message.User("go")}, []any{1, 2}, "pinned messages come out byte for byte"},
		"a summary in front of the old":    {[]message.Message{policy.NewSummary(1, "old"), message.Assistant(strings.Repeat("long", 50)), message.User("go")}, []any{policy.NewSummary(2, "new"), 0, 2}, "the anchor stays, behind the summary"},
	} {
		b := NewConversation(tc.history, pins, nil)
		a := changedBy(b, policy.Dropped, tc.items...)
		err := check("s", policy.NewView(b.Messages(), pins, bytesCost{}), policy.NewView(a.Messages(), pins, bytesCost{}), b, a)
		broken := (*BrokenError)(nil)
		if tc.rule == "" && err != nil || tc.rule != "" && (!errors.As(err, &broken) || broken.Rule != tc.rule) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
