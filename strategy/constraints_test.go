package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// A rule tells somebody what to do or not to do. A description of the code does not count
// as a rule, and a statement about the next work does not either.
func TestBindsIgnoresDescriptions(t *testing.T) {
	for _, s := range []string{"no magic numbers!", "No new files, no new dependencies.", "Only edit index.html", "Change only the footer of the page.", "Keep each commit with working code please", "Make the change without touching the tests.",
		"At most 600 words, no advertising.", "Both types must stay in sync.", "please only touch the parser", "不要改测试文件", "Bitte keine neuen Abhängigkeiten einführen.", "No modifiques los tests.", "Il ne faut pas changer l'API publique.",
		"Never run migrations between 9 and 17 h.", "Tell me before deleting anything.", "Please ask before you push.", "minVersion stays 12.", "Please use double quotes, not single ones.", "Max 80 EUR, before noon.", "Stop adding comments everywhere.",
		"please don't rewrite the manual, make small edits", "You may run the import tonight at 22:00, once.", "OK. You may push, but only to the fork.", "Nur Bordmittel, kein Docker.", "Die API bleibt unverändert.", "Höchstens 80 Euro.", "Write a page, no ads.", "Ja, aber nur dieses eine Mal.", "Read the logs, no restarts until I say so."} {
		if binds(s) == 0 {
			t.Errorf("%q is not a rule", s)
		}
	}
	for _, s := range []string{"The endpoint already works for failed jobs (only blocks queued ones)", "The shared part (project and files), never benefits from the cache.", "We also need to add attribution to the summary.",
		"Use the other function to avoid the problem of time zones.", "It is read with io.ReadAll without any limit.", "The extractor now requires at least two lines.", "Only the list of files is affected, because the parser must hold the lock.",
		"no problem", "No errors were found in the log.", "no, it works now", "No idea why it is slow.", "change the colors to blue instead of green", "yes, but you don't need to commit",
		"shouldn't the URL be the remote one", "that covers it too and we can just keep them",
		"The report was sent before deleting it.", "The job takes at most 30 seconds.", "The page stays blank after the login.", "stop running containers", "I am not sure, not yet.", "You can run it once more.", "You can run it once the build is green.", "Nur noch eine Frage.", "Nur so nebenbei.",
		"Can I use double quotes, not single ones?", "it must be the third one, no?", "It has three functions, no tests.", "Then it ran once.", "The test never run on CI is slow.", "Make the read-only test deterministic."} {
		if v := binds(s); v != 0 {
			t.Errorf("%q is a rule with the value %v", s, v)
		}
	}
}

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
		t.Errorf("during the request: %q", got)
	}
	done := []message.Message{once, message.Assistant("The footer is dimmer now."), message.User("Now change the theme to green.")}
	if got := rules(done...); got != "" {
		t.Errorf("after the request: %q", got)
	}
	done[0] = message.User("make the footer dimmer, and never modify the theme")
	if got := rules(done...); !strings.HasSuffix(got, "never modify the theme [s1]\n") {
		t.Errorf("a standing rule: %q", got)
	}
}

// A short sentence after a rule belongs to it. Proposals and questions do not count as
// rules. A prohibition counts, even if its sentence also says what to do instead.
func TestConstraintsOfMessage(t *testing.T) {
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
