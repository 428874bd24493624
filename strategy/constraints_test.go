package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// A prohibition that is part of a request ends with the request. A prohibition for all later
// work stays, with the step of its message.
func TestConstraintsOmitRuleOfFinishedRequest(t *testing.T) {
	rules := func(msgs ...message.Message) string {
		out := ""
		for _, f := range NewHistory(Request{Strategy: taskState, First: 1, Messages: msgs}).constraints() {
			out += f.Text + "\n"
		}
		return out
	}
	once := message.User("make the footer dimmer, don't modify the theme, look into the sources of the footer")
	if got := rules(once); !strings.Contains(got, "don't modify the theme") {
		t.Errorf("during the request: %q, want the prohibition", got)
	}
	done := []message.Message{once, message.Assistant("The footer is dimmer now."), message.User("Now change the theme to green.")}
	if got := rules(done...); got != "" {
		t.Errorf("after the request: %q, want no rule", got)
	}
	done[0] = message.User("make the footer dimmer, and never modify the theme")
	if got := rules(done...); !strings.HasSuffix(got, "never modify the theme [s1]\n") {
		t.Errorf("a rule for all later work: %q, want it with its step", got)
	}
}

// A short sentence after a rule belongs to it. Proposals and questions do not count as
// rules. A prohibition counts, even if its sentence also says what to do instead.
func TestConstraintsAreTheRulesOfAMessage(t *testing.T) {
	for _, c := range []struct{ said, want string }{
		{"OK. You may run the import once, only for the shop. Nothing else.", "OK. You may run the import once, only for the shop. Nothing else. [s1]"},
		{"Never touch the schema of the shop. Run the tests.", "Never touch the schema of the shop. [s1]"},
		{"You may book the 28th once. Actually, no, I'm away then. Run the tests.", "You may book the 28th once. Actually, no, I'm away then. [s1]"},
		{"# Ideas\nThe cache must be global.\n# Task\nThe cache must be small.", "The cache must be small. [s1]"},
		{"To evaluate:\n- The cache must be global.\n- The cache must be small.\n\nNever drop the cache.", "Never drop the cache. [s1]"},
		{"it must be a user message or an answer of it no? please read the code of it", ""},
		{"please don't rewrite the manual, make small edits", "please don't rewrite the manual, make small edits [s1]"},
		{"don't commit, just show me the diff", ""},
	} {
		var got []string
		for _, f := range NewHistory(Request{Strategy: taskState, First: 1, Messages: []message.Message{message.User(c.said), message.Assistant("It is so now."), message.User("Go on with the next one.")}}).constraints() {
			got = append(got, f.Text)
		}
		if text := strings.Join(got, " | "); text != c.want {
			t.Errorf("%q: %q, want %q", c.said, text, c.want)
		}
	}
}

// A list of what the user observed sets no rules. A list of what the user wants sets rules.
func TestObservationsAreNoRules(t *testing.T) {
	const items = "\n\n- Power light is on\n- No cable signal (no picture)\n- No new firmware\n"
	tells(t, long("My box has no picture.", message.Assistant("What does the menu say?"), message.User("Here's what I found in the menu:"+items+"\nWhat next?"), message.Assistant("Let me look.")),
		nil, []string{"## Constraints"})
	tells(t, long("Repair the box.", message.Assistant("How?"), message.User("Here's what I need you to keep in mind:"+items), message.Assistant("Let me look.")),
		[]string{"No new firmware [s5]"}, nil)
}
