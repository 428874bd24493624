package rules

import "testing"

// Users object in many words. A request for a check and a polite answer are not objections.
func TestObjectionsOfUsersAreRecognized(t *testing.T) {
	for text, want := range map[string]bool{
		"Check that, I see 97 here.": true, "Read it again, the method changed.": true, "I said they must stay.": true, "Are you sure? The log says 3.": true, "You forgot the index.": true, "Nein, das war der alte Stand.": true, "Non, par commande ça ne suffit pas.": true,
		"Check that the tests pass.": false, "Look at the index.": false, "Read it to me.": false, "You may go on.": false, "Non-blocking calls are fine.": false, "No problem, go on.": false,
	} {
		if got := Objects(text); got != want {
			t.Errorf("%q objects: %v, want %v", text, got, want)
		}
	}
}

// A short rule whose object is only a pronoun needs the sentence before it.
func TestRuleDependsOnSentenceBefore(t *testing.T) {
	for text, want := range map[string]bool{
		"You may use it for this batch only.": true, "Don't merge it yourself.": true, "Only for this case.": true, "Never delete those.": true,
		"Never merge the release branch.": false, "Keep it short.": false, "Don't edit `a.go`, it is generated.": false, "Don't write to the archive of the customers before it was copied to the second disk.": false,
	} {
		if got := Depends(text); got != want {
			t.Errorf("%q depends: %v, want %v", text, got, want)
		}
	}
}
