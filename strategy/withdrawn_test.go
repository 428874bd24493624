package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// A withdrawn message gives neither a constraint nor a goal, and a lifted ban says so.
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

// A later sentence lifts a rule if it permits the forbidden action, or ends the
// required one.
func TestLaterSentenceLiftsRule(t *testing.T) {
	for _, c := range []struct {
		rule, later string
		want        bool
	}{
		{"Do not use numpy.", "You can use numpy now.", true},
		{"Don't email the tenants, only write letters.", "Emails are fine after all.", true},
		{"No blog posts.", "One page, and blog posts are fine after all if you date them.", true},
		{"If the parcel comes after the 12th I don't want it.", "Fine. Forget the 12th.", true},
		{"Please use double quotes.", "Single quotes instead.", true},
		{"Never push to the fork.", "You may push once.", true},
		{"Always run the slow suite.", "You don't need to run the slow suite.", true},
		{"Keine Anrufe, nur Mails.", "Anrufe sind doch in Ordnung.", true},
		{"Bitte nicht numpy verwenden.", "Moment, und nimm ruhig numpy, das ist jetzt erlaubt.", true},
		{"Die Frist muss der 12. sein, niemals später als im Mai.", "Vergiss den Mai.", true},

		{"Don't fix the leak, check that the server restarts.", "You can restart here.", false},
		{"Do not use numpy.", "Can you use numpy?", false},
		{"Do not use numpy.", "You can see numpy in the log.", false},
		{"Do not use numpy.", "You may not use numpy, don't try.", false},
		{"Do not use numpy.", "You may use scipy now.", false},
		{"Do not use numpy.", "Use scipy instead of numpy.", false},
		{"Don't email the tenants.", "Don't forget the tenants.", false},
		{"Don't email the tenants.", "You don't need to email the tenants.", false},
		{"The suite must never fail.", "It fails after all tests of the suite.", false},
		{"Never push to the fork.", "The push no longer fails.", false},
		{"Always run the slow suite.", "You may run the slow suite on the server.", false},
		{"Never touch the schema of the shop.", "You can change the colors, the fonts, the logo in the header, the footer and the menu of the shop.", false},
		{"Keine Anrufe, nur Mails.", "Anrufe sind nicht erlaubt.", false},
		{"Keine Anrufe, nur Mails.", "Jedoch keine Anrufe.", false},
		{"Bitte nicht numpy verwenden.", "Das ist doch klar.", false},
	} {
		if got := lifted(c.rule, c.later); got != c.want {
			t.Errorf("%q lifts %q: %v", c.later, c.rule, got)
		}
	}
}

// A later sentence gives another value for the quantity of a rule.
func TestLaterSentenceGivesAnotherValue(t *testing.T) {
	for _, c := range []struct {
		rule, later string
		want        bool
	}{
		{"The timeout must stay 20 seconds.", "Finance now says 35 seconds.", true},
		{"minVersion stays 12.", "Later. First raise minVersion to 14, we agreed on that.", true},
		{"A train before noon, max 80 EUR.", "okay up to 95 then", true},
		{"Use batches of 500, never more.", "Then batches of 200.", true},
		{"A train on Friday 12 June before 10 am, max 80 EUR.", "okay up to 95 then", true},
		{"Set it to 40 in main.tf, but don't apply it.", "Sorry, they say at most 30.", true},
		{"Set it to 40 in main.tf, but don't apply it.", "The log has 30 in it.", false},
		{"Höchstens 80 Euro.", "Na gut, jetzt 95 Euro.", true},
		{"And at most 100 requests per minute.", "Sorry, the limit is 60 per minute, they lowered it.", true},
		{"At most 5 mails per day.", "The new quota is 3 per day.", true},
		{"At most 5 mails per day.", "It sends 3 per hour.", false},
		{"At most 5 mails per day.", "How about 3 per day?", false},

		{"The timeout must stay 20 seconds.", "The timeout must stay 20 seconds, now too.", false},
		{"The timeout must stay 20 seconds.", "It ran for 35 seconds.", false},
		{"The timeout must stay 20 seconds.", "Is it 35 seconds now?", false},
		{"The timeout must stay 20 seconds.", "Now use 3 workers.", false},
		{"Never touch issue 12.", "Now fix issue 14.", false},
		{"At most 3 workers, max 80 EUR.", "And now version 1.4.2", false},
		{"A train before noon, max 80 EUR.", "the second", false},
		{"No mocks.", "Now 4 tests fail.", false},
		{"I don't want to pay more than 80 euros.", "Actually no, wait: keep the voucher for the 20 euros and charge only the rest to the card.", false},
	} {
		if got := revalued(c.rule, c.later); got != c.want {
			t.Errorf("%q gives another value than %q: %v", c.later, c.rule, got)
		}
	}
}

// A later part lifts a rule that only the previous summary states.
func TestCarriedRuleSaysThatItWasLifted(t *testing.T) {
	const previous = "## Constraints\n- Do not use numpy. [s1]\n- Never touch the schema. [s2]\n"
	h := NewHistory(Request{Strategy: TaskState, Previous: previous, Messages: []message.Message{message.User("You can use numpy now.")}, First: 9})
	var got []string
	for _, l := range h.carried(TaskState, nil) {
		got = append(got, l.Text)
	}
	want := "Do not use numpy. [s1]; the user then said “You can use numpy now.” [s9] | Never touch the schema. [s2]"
	if text := strings.Join(got, " | "); text != want {
		t.Errorf("carried: %s", text)
	}
}

// A quoted request is a whole message if the message is short, and is not cut before the
// sentence that changes it.
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
			t.Errorf("%q: %v", c.want, goals)
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
			t.Errorf("%q, %q: %+v", c.told, c.said, rules)
		}
	}
}

// The second summary has each request once, and of a rule only the part that still holds.
func TestCarriedRequestAppearsOnce(t *testing.T) {
	const previous = "## What the user said\n[s1] Move the scheduler of the app from cron to a queue. Keep the old entry until I say so.\n\n## Goals and success criteria\n- Move the scheduler of the app from cron to a queue.\n"
	text := write4(t, Input{Previous: previous, First: 9, Messages: long("Now write the migration of the table for the queue.").Messages})
	if n := strings.Count(text, "Move the scheduler"); n != 2 { // the user's words, the first request
		t.Errorf("the request occurs %d times in:\n%s", n, text)
	}
	for said, want := range map[string]string{
		"Register both. And merge alpha already, but don't push.": "… don't push.",
		"It is slow, but don't touch it.":                         "It is slow, but don't touch it.",
		"Never merge without a review.":                           "Never merge without a review.",
	} {
		if got := lastingPart(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}
