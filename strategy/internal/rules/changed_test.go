package rules

import "testing"

// Users change a rule in many words. A sentence about another thing changes none.
func TestUserChangesRule(t *testing.T) {
	for _, c := range []struct {
		rule, later string
		want        bool
	}{
		{"Reports must stay below 2 MB.", "Forget the size limit.", true},
		{"Reports must stay below 2 MB.", "The 2 MB limit no longer applies.", true},
		{"Reports must stay below 2 MB.", "It's okay to exceed 2 MB.", true},
		{"Use tabs, never spaces.", "Use spaces instead of tabs.", true},
		{"Use tabs, never spaces.", "I changed my mind: tabs are wrong, spaces it is.", true},
		{"Use tabs, never spaces.", "Please disregard the no-spaces rule.", true},
		{"Use tabs, never spaces.", "Disregard the tabs thing.", true},
		{"Use tabs, never spaces.", "Leave the schema rule, drop the tab rule.", true},
		{"Don't touch the database schema.", "Never mind the schema rule, you can change it now.", true},
		{"Don't touch the database schema.", "The schema rule only applies to the orders table.", true},

		{"Reports must stay below 2 MB.", "Forget the color of the table.", false},
		{"Answer in English.", "Forget the size limit.", false},
		{"Use tabs, never spaces.", "Use commas instead of dots.", false},
		{"Use tabs, never spaces.", "Should I use spaces instead of tabs?", false},
		{"Use tabs, never spaces.", "I changed my mind about the logo.", false},
		{"Don't touch the database schema.", "The discount only applies to orders.", false},
		{"Don't touch the database schema.", "Never mind the typo.", false},
		{"Do not use numpy.", "Use scipy instead of numpy.", false},
	} {
		if got := Lifted(c.rule, c.later); got != c.want {
			t.Errorf("%q changes %q: %v, want the opposite", c.later, c.rule, got)
		}
	}
	if !Revalued("Reports must stay below 2 MB.", "Make that 5 MB instead of 2 MB.") || Revalued("Reports must stay below 2 MB.", "It went from 7 MB to 5 MB.") {
		t.Error("only an exchange of the rule's value gives another value")
	}
}

// A message that names another thing, or goes on with a request, does not take back the previous
// message with all of its rules.
func TestOnlyWordsAboutTheMessageTakeItBack(t *testing.T) {
	for text, want := range map[string]bool{
		"Never mind.":                         true,
		"Never mind, thanks.":                 true,
		"Ignore my previous message.":         true,
		"Ignore that, it was for Ann.":        true,
		"Never mind, keep the page as it is.": false,
		"Never mind the schema rule.":         false,
		"Scratch that, make a PDF instead.":   false,
		"Ignore what I said about the tabs.":  false,
		"Ignore that warning.":                false,
	} {
		if _, ok := Withdraws(text); (ok && Cancels(text) == "") != want {
			t.Errorf("%q takes back the message before: %v, want the opposite", text, !want)
		}
	}
}
