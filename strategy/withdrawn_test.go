package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/rules"
)

// A withdrawn message gives neither a constraint nor a goal. If the user lifts a ban,
// its line quotes the later sentence.
func TestSummaryOmitsWithdrawnConstraints(t *testing.T) {
	answer := message.Assistant("I read the code and will do so.")
	for name, c := range map[string]struct {
		said      []string
		want, not []string // in the lines of goals and constraints
	}{
		"taken back, and more": {
			[]string{"Fix the flaky test in pkg/queue.go. Keep the public API.", "Instead of finalize call it update, never rename the branch.", "sorry wrong chat. ignore last message. I think the fix in pkg/queue.go can be simpler, please try."},
			[]string{"can be simpler"}, []string{"finalize", "rename", "ignore last message", "wrong chat"},
		},
		"taken back, and nothing else": {
			[]string{"Fix the flaky test in pkg/queue.go.", "Never rename the branch of release.yaml.", "Never mind."},
			[]string{"flaky test"}, []string{"rename"},
		},
		"forgotten": {
			[]string{"Fix the flaky test in pkg/queue.go.", "You must always rename the branch of release.yaml.", "Please disregard my last message."},
			[]string{"flaky test"}, []string{"rename"},
		},
		"not taken back": {
			[]string{"Fix the flaky test in pkg/queue.go.", "Never rename the branch of release.yaml.", "Never mind the typo in the README, but ignore that file in the linter of release.yaml from now on, please."},
			[]string{"Never rename the branch"}, nil,
		},
		"lifted": {
			[]string{"Fix the flaky test, but never touch pkg/legacy.go.", "OK, you may now change pkg/legacy.go."},
			[]string{"never touch pkg/legacy.go.; the user then said “OK, you may now change pkg/legacy.go.” [s3]"}, nil,
		},
		"lifted for another": {
			[]string{"Fix the flaky test, but never touch pkg/legacy.go.", "OK, you may now change pkg/queue.go."},
			[]string{"never touch pkg/legacy.go."}, []string{"the user then said"},
		},
		"forbidden again": {
			[]string{"Fix the flaky test, but never touch pkg/legacy.go.", "You may change pkg/queue.go, but don't touch pkg/legacy.go."},
			[]string{"never touch pkg/legacy.go."}, []string{"the user then said"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var msgs []message.Message
			for _, s := range c.said {
				msgs = append(msgs, message.User(s), answer)
			}
			h := NewHistory(Request{Strategy: TaskState, Messages: msgs, First: 1})
			var lines []string
			for _, f := range append(h.goals(), h.constraints()...) {
				lines = append(lines, f.Text)
			}
			got := strings.Join(lines, "\n")
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("the summary lacks %q:\n%s", w, got)
				}
			}
			for _, w := range c.not {
				if strings.Contains(got, w) {
					t.Errorf("the summary has %q:\n%s", w, got)
				}
			}
		})
	}
}

// If a later part lifts a rule of the previous summary, the line of the rule says so.
func TestCarriedRuleSaysThatItWasLifted(t *testing.T) {
	const previous = "## Constraints\n- Do not use numpy. [s1]\n- Never touch the schema. [s2]\n"
	h := NewHistory(Request{Strategy: TaskState, Previous: previous, Messages: []message.Message{message.User("You can use numpy now.")}, First: 9})
	var got []string
	for _, l := range h.carried(TaskState, nil) {
		got = append(got, l.Text)
	}
	want := "Do not use numpy. [s1]; the user then said “You can use numpy now.” [s9] | Never touch the schema. [s2]"
	if text := strings.Join(got, " | "); text != want {
		t.Errorf("carried: %s, want %s", text, want)
	}
}

// A quoted request is a whole message if the message is short. It is not cut before the sentence
// that changes the request.
func TestRequestKeepsWhatChangesIt(t *testing.T) {
	long := "Please move the report to the new server, with all of its tables, the two views and the job that fills them every night at two. "
	for _, c := range []struct{ said, want string }{
		{"Vault. Cookie lifetime 20 minutes. Hmm, make that 45.", "Vault. Cookie lifetime 20 minutes. Hmm, make that 45."},
		{"Don't drop nickname, the export reads it. You may run the import tonight.", "Don't drop nickname, the export reads it. You may run the import tonight."},
		{long + "The batch has 500 rows in each of its parts. Wait, make that 200 rows. It is a slow one, as you know from last week.", strings.TrimSpace(long) + " … Wait, make that 200 rows."},
		{long + "It is a slow server. Wait for the backup of the night first, as the last time there was none of them left.", strings.TrimSpace(long)},
	} {
		goals := NewHistory(Request{Strategy: TaskState, Messages: []message.Message{message.User("Begin."), message.User("Look at the report and tell me its size."), message.User(c.said)}, First: 1}).goals()
		if want := newestRequest + ": " + c.want + " [s3]"; len(goals) == 0 || goals[0].Text != want {
			t.Errorf("%q is not among the goals %v", c.want, goals)
		}
	}
}

// A number that the user accepts has the unit that the assistant named.
func TestAcceptedNumberChangesRule(t *testing.T) {
	for _, c := range []struct {
		told, said string
		want       bool
	}{
		{"It delivers 85 W at the port.", "85 is fine for my laptop.", true},
		{"It delivers 85W at the port.", "ok, 85 is enough", true},
		{"It delivers 85 W at the port.", "Is 85 fine?", false},
		{"It delivers 85 W at the port.", "85 is not what I asked for.", false},
		{"It delivers 100 W at the port.", "100 is fine.", false},
		{"It costs 85 euros.", "85 is fine.", false},
	} {
		h := NewHistory(Request{Strategy: TaskState, First: 1, Messages: []message.Message{message.User("Find a dock with at least 100 W, black."), message.Assistant(c.told), message.User(c.said)}})
		rules := h.constraints()
		if len(rules) != 1 || strings.Contains(rules[0].Text, thenSaid) != c.want {
			t.Errorf("%q, %q: rules %+v, want one that is changed or not as the case says", c.told, c.said, rules)
		}
	}
}

// The second summary states each request once. Of a rule, it states only the part that still
// holds.
func TestCarriedRequestAppearsOnce(t *testing.T) {
	const previous = "## What the user said\n[s1] Move the scheduler of the app from cron to a queue. Keep the old entry until I say so.\n\n## Goals and success criteria\n- Move the scheduler of the app from cron to a queue.\n"
	text := write4(t, Input{Previous: previous, First: 9, Messages: long("Now write the migration of the table for the queue.").Messages})
	if n := strings.Count(text, "Move the scheduler"); n != 2 { // the user's words, the first request
		t.Errorf("the request occurs %d times in:\n%s\nwant 2", n, text)
	}
	for said, want := range map[string]string{
		"Register both. And merge alpha already, but don't push.": "… don't push.",
		"It is slow, but don't touch it.":                         "It is slow, but don't touch it.",
		"Never merge without a review.":                           "Never merge without a review.",
	} {
		if got := rules.LastingPart(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}
