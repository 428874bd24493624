package rules

import "testing"

// A sentence that states a limit, a condition or a limited permission is a rule. A report about a
// limit or an event is not a rule.
func TestValuesAndConditionsSetRules(t *testing.T) {
	for _, s := range []string{
		"Don't rename the tables, they are shared, and never run anything as root.", "Use the copy, and never use the original.",
		"Releases only after Karim signed the checklist.", "Refunds only up to 25 EUR from today.", "Access only through the bastion, please.",
		"The limit is 12 pages now.", "Deadline moved: 3 May.", "Our budget stays at 900 euros.", "Speed up the import, target under 40 s.", "Time limit per run 5 minutes.", "Freeze begins at 18:00.", "Das Budget liegt bei 300 Euro.", "La limite est de 20 Mo.", "El plazo es el 4 de mayo.",
		"Nothing in the archive before the backup is done.", "Nothing on main until Thursday.", "Run the linter after each file.", "Save the state before every step.",
		"Latency above 300 ms means stop.", "GPL code is a no-go.", "The second chapter leave as it is, Ana rewrites it.", "Die Preise lass so, wie sie sind.", "You may book up to 100 EUR, above that ask me.", "Anything else: ask me.",
		"Two are fine, up to 8 MB is ok.", "The board said: 700 is final.", "We have the approval, but only for table a.", "Die Freigabe ist da, aber nur für die erste Sicht.", "The north region not yet, they still check.", "Nie etwas an den Rechnungen ändern.",
		"Und frag mich, bevor du etwas löschst.", "Antworte bitte auf Deutsch.", "Que el cupón no se aplique dos veces.", "Request the quote, no order.",
	} {
		if Binds(s) == 0 {
			t.Errorf("%q is not a rule", s)
		}
	}
	for _, s := range []string{
		"The function is never run in tests.", "It is never set and never used.",
		"It happens only after a restart.", "The job fails only after the second run.", "The error shows only with the new driver.",
		"The limit was 12 pages.", "We reached the limit of 10 requests.", "The budget had 900 euros.", "The threshold of 5 failed.", "What is the deadline, 3 May?",
		"Nothing in the log after the restart?", "I looked after each one.", "They leave as it is dark.", "Que la página no carga.", "Que no funciona.", "I have not looked yet.", "Is 8 MB ok?",
	} {
		if v := Binds(s); v != 0 {
			t.Errorf("%q is a rule with the value %v, want 0", s, v)
		}
	}
}

// A later sentence changes one value of a rule with several values. A value of another subject,
// or a sum of another size, changes none.
func TestLaterValueChangesARuleWithSeveralValues(t *testing.T) {
	const trip = "Book the hall for 3–5 June 2030, 20 people, at most 1,800 EUR in total."
	for _, one := range []struct {
		rule, later string
		want        bool
	}{
		{trip, "If it is over the limit, the limit can be 2,100.", true},
		{trip, "Make it 10–12 June.", true},
		{trip, "The board cut it to 1,500.", true},
		{"Due on 4 May, max 20 pages.", "And the limit is 15 pages now, the form was changed by them.", true},
		{"Due on 4 May, max 20 pages.", "The date moved as well: 11 May.", true},
		{"Policy: discounts up to 10 EUR without asking.", "New rule: discounts only up to 5 EUR, the office complained a lot.", true},
		{"Kapitel 4 soll auf höchstens 18 Seiten.", "20 Seiten reichen jetzt, und die Abgabe ist auf den 28. Juni verschoben.", true},
		{"At most 18 pages.", "Chapters 2, 3 and 4 have 20 pages, 30 pages and 7 pages now.", false},
		{trip, "The parking raised its price to 1,600.", false},
		{trip, "The parking costs 40.", false},
		{trip, "The board called: 90,000 is final.", false},
		{"Ads no, they are loud: max 700 for ads.", "The click target is max 3 on average.", false},
		{"At least 600 for print.", "No, print must stay at 600.", false},
	} {
		if got := Revalued(one.rule, one.later); got != one.want {
			t.Errorf("%q changes %q: %v, want %v", one.later, one.rule, got, one.want)
		}
	}
	for later, want := range map[string]bool{"Laisse tomber la limite.": true, "Drop the limit.": true, "Forget the limit.": true, "Drop the table.": false, "Laisse tomber.": false} {
		if got := Lifted("Limit: at most 2 per customer.", later) || Lifted("Limite : pas plus de 2 par client.", later); got != want {
			t.Errorf("%q lifts the limit: %v, want %v", later, got, want)
		}
	}
}

// A sentence that asks for something in its first clause does not only forbid.
func TestRequestWithProhibitionAsks(t *testing.T) {
	for s, want := range map[string]bool{
		"Organize our spring fair: budget 400 euros, nobody gets more than half.":       false,
		"Necesito que prepares la tienda: sube los precios, no toques las fotos.":       false,
		"Sketch three logos for the club, no animals please.":                           false,
		"Constraint of the two reviewers, for all of it: never allocate in the parser.": true,
		"Don't cancel the order.":                        true,
		"locale files: hands off, a friend does those":   true,
		"When you edit the docs, don't touch the index.": true,
		"The index is generated, don't touch it.":        true,
	} {
		if got := OnlyForbids(s); got != want {
			t.Errorf("%q only forbids: %v, want %v", s, got, want)
		}
	}
}
