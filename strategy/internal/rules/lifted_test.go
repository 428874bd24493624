package rules

import "testing"

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
		if got := Lifted(c.rule, c.later); got != c.want {
			t.Errorf("%q lifts %q: %v, want the opposite", c.later, c.rule, got)
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
		if got := Revalued(c.rule, c.later); got != c.want {
			t.Errorf("%q gives another value than %q: %v, want the opposite", c.later, c.rule, got)
		}
	}
}
