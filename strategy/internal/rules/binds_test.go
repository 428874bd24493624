package rules

import (
	"strings"
	"testing"
)

// A rule tells somebody what to do or not to do. A description of the code does not count
// as a rule, and a statement about the next work does not either.
func TestBindsIgnoresDescriptions(t *testing.T) {
	for _, s := range []string{"no magic numbers!", "No new files, no new dependencies.", "Only edit index.html", "Change only the footer of the page.", "Keep each commit with working code please", "Make the change without touching the tests.",
		"At most 600 words, no advertising.", "Both types must stay in sync.", "please only touch the parser", "不要改测试文件", "メールは送らないで、下書きを見せて", "表だけにしてください。", "لا أريد دفع أكثر من 300 دولار", "Ни в коем случае не трогай тесты", "Bitte keine neuen Abhängigkeiten einführen.", "No modifiques los tests.", "Il ne faut pas changer l'API publique.",
		"Never run migrations between 9 and 17 h.", "Tell me before deleting anything.", "Please ask before you push.", "minVersion stays 12.", "Please use double quotes, not single ones.", "Max 80 EUR, before noon.", "Stop adding comments everywhere.",
		"please don't rewrite the manual, make small edits", "You may run the import tonight at 22:00, once.", "OK. You may push, but only to the fork.", "Nur Bordmittel, kein Docker.", "Die API bleibt unverändert.", "Höchstens 80 Euro.", "Write a page, no ads.", "Ja, aber nur dieses eine Mal.", "Read the logs, no restarts until I say so."} {
		if Binds(s) == 0 {
			t.Errorf("%q is not a rule", s)
		}
	}
	for _, s := range []string{"The endpoint already works for failed jobs (only blocks queued ones)", "The shared part (project and files), never benefits from the cache.", "We also need to add attribution to the summary.",
		"Use the other function to avoid the problem of time zones.", "It is read with io.ReadAll without any limit.", "The extractor now requires at least two lines.", "Only the list of files is affected, because the parser must hold the lock.",
		"no problem", "No errors were found in the log.", "no, it works now", "No idea why it is slow.", "change the colors to blue instead of green", "yes, but you don't need to commit",
		"shouldn't the URL be the remote one", "that covers it too and we can just keep them",
		"The report was sent before deleting it.", "The job takes at most 30 seconds.", "The page stays blank after the login.", "stop running containers", "I am not sure, not yet.", "You can run it once more.", "You can run it once the build is green.", "Nur noch eine Frage.", "Nur so nebenbei.",
		"Can I use double quotes, not single ones?", "it must be the third one, no?", "It has three functions, no tests.", "Then it ran once.", "The test never run on CI is slow.", "Make the read-only test deterministic."} {
		if v := Binds(s); v != 0 {
			t.Errorf("%q is a rule with the value %v, want 0", s, v)
		}
	}
}

// TestStatementIsNotARule checks that a pasted statement of a review or a test is not a
// rule.
func TestStatementIsNotARule(t *testing.T) {
	for _, text := range []string{
		"store_test.go:808: Second commit should NOT have a trailer (content doesn't match), got 7940d5559a34",
		"This causes estimate to always return 0, incorrectly attributing changes of the user.",
		"This ensures we record the attempt and don't retry for another 24 hours.",
		"This is the cleanest approach because all callers continue to work without changes.",
		"Command discovery ensures maximum utilization of the available automation",
		"Error: Recursion limit of 50 reached without hitting a stop condition.",
		"The experts have only partially completed the task.",
		"now can you explain: overlap of contents only for new files",
	} {
		if got := Binds(text); got > 0 {
			t.Errorf("%q is a rule of %v, want none", text, got)
		}
	}
	for _, text := range []string{"Ensure that the tests pass.", "Please avoid new dependencies.", "Don't retry for another 24 hours.", "Keep store_test.go:80 as it is.", "and don't change the API"} {
		if Binds(text) == 0 {
			t.Errorf("%q is not a rule", text)
		}
	}
}

func TestBindsDistinguishesRulesFromQuestionsAndStatements(t *testing.T) {
	for _, s := range []string{"Never touch the staging database.", "Please don't push to main.", "It works, but don't rename the flag.", "I don't want to pay more than 80 euros.", "I want you to always run the linter first.", "You must keep the old name.",
		"Keep the output below ten lines.", "Can you fix it? Never touch main.", "Do it without new dependencies, please."} {
		if _, rest, ok := strings.Cut(s, "? "); ok {
			s = rest
		}
		if Binds(s) == 0 {
			t.Errorf("%q does not bind", s)
		}
	}
	for _, s := range []string{"Is it only the header that needs to move", "can you check if anything needs to be fixed", "why do the tests need to run twice", "I honestly don't remember which card I used.", "The rows are never written to the table.",
		"They don't load the cache at all.", "I need to change my flight to Tuesday.", "Should it only be (the header that needs to move?)", "As for the card, it only needs to be one that works."} {
		if v := Binds(s); v > 0 {
			t.Errorf("%q binds with %v, want none", s, v)
		}
	}
}
