package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// A rule of the user says how the user changed it later, whatever the language, and whoever named
// the new value first.
func TestRuleSaysHowItWasChanged(t *testing.T) {
	for _, c := range []struct{ rule, told, said, want string }{
		{"Build number must be 412.", "Upload of 412 was refused. Should I use 416?", "yes 416", "“yes 416”"},
		{"Stay below 30 seconds per run.", "A run takes 45 seconds at best, not 30. Is 45 acceptable?", "ok, 45 then", "“ok, 45 then”"},
		{"Build number must be 412.", "Build 412 is uploaded. Shall I tag it v3.2?", "yes, and call me at 416", ""},
		{"Le fichier ne doit pas dépasser 200 lignes.", "C'est fait.", "Finalement 250 lignes, ça va aussi.", "“Finalement 250 lignes, ça va aussi.”"},
		{"Pflicht ab 10.000 €, nur für Firmenkunden.", "Fertig.", "Die Grenze ist 5.000 €, nicht 10.000 €.", "“Die Grenze ist 5.000 €, nicht 10.000 €.”"},
		{"Cancel the hotel and keep the flight, please do not change it.", "Done.", "Cancel the flight too.", "“Cancel the flight too.”"},
		{"Keep the old table, never drop it.", "Done.", "Drop the new index.", ""},
	} {
		text := write4(t, long(c.rule, message.Assistant(c.told), message.User(c.said), message.Assistant("Fine.")))
		_, rules, _ := strings.Cut(text, "## Constraints")
		rules, _, _ = strings.Cut(rules, "\n## ")
		if got := strings.Contains(rules, thenSaid+c.want); c.want != "" && !got || c.want == "" && strings.Contains(rules, thenSaid) {
			t.Errorf("%q, %q: want %q in the rules:\n%s", c.rule, c.said, c.want, rules)
		}
	}
	tells(t, long("Cancel my trip.", message.Assistant("I can refund 50 %."), message.User("only 50%? thats not fair. ok, do it")), nil, []string{"## Constraints"})
}

// What a sub-agent found, and what the assistant answers, is quoted although it names a place in a
// file of Python. A line of a log that begins with a place is not.
func TestFindingsWithAPlaceInAFileAreQuoted(t *testing.T) {
	report := "## Findings\n1. HIGH: services/auth/users.py:112 builds the ORDER BY clause from the request.\nI did not check the migrations.\npkg/a.py:12: DeprecationWarning: old API\n"
	in := long("Audit auth.", message.Assistant("", message.Call("1", "Task", `{"description":"Audit auth","prompt":"Audit auth."}`)), message.ToolResult("1", report),
		message.Assistant("users.py:112 is reachable from the public API without a login, so it comes first. May I fix it?"))
	tells(t, in, []string{"HIGH: services/auth/users.py:112 builds the ORDER BY clause", "users.py:112 is reachable from the public API"}, []string{"DeprecationWarning"})
}

// The announcement of the next step is recognized in other forms and languages.
func TestNextStepIsAnnouncedInOtherWords(t *testing.T) {
	for _, says := range []string{"Next: run all tests once more and tag the release.", "I have to take the highest id in place of a fixed end.", "Ich binde das Feld als Nächstes an den State.",
		"Voy a leer base.json y añadir las claves.", "Je vais corriger la ligne 3.", "次に base.json を読みます。"} {
		if got := nextOf(t, append([]message.Message{message.User("Go on with the work.")}, message.Assistant("The first part is done. "+says))...); !strings.Contains(got, "announced last: "+says) {
			t.Errorf("%s is missing in:\n%s", says, got)
		}
	}
	if got := nextOf(t, message.User("Go on."), message.Assistant("It works. I have to admit that I did not expect it.")); strings.Contains(got, "announced") {
		t.Errorf("an admission is announced:\n%s", got)
	}
}

// A file that a command takes back before its failing tests is not left as changed, and a script
// that reads the file that it writes edits the file.
func TestFilesOfACommandWhoseTestsFail(t *testing.T) {
	edit := command("1", "", "sed -i 's/a/b/' app/jobs.py && pytest -q", "FAILED tests/test_a.py::test_b - assert 1 == 2\n1 failed in 0.1s")
	back := command("2", "", "git checkout -- app/jobs.py && pytest -q", "FAILED tests/test_a.py::test_b - assert 1 == 3\n1 failed in 0.1s")
	tells(t, long("Fix it.", edit...), []string{"`app/jobs.py`: edited"}, []string{"taken back"})
	tells(t, long("Fix it.", append(edit, back...)...), []string{"`app/jobs.py`: edited, then taken back"}, nil)
	tells(t, ranCode("python", "", "p = 'cfg/a.json'\nd = json.load(open(p))\njson.dump(d, open(p, 'w'))\nd.to_csv('new.csv')", "ok"), []string{"`cfg/a.json`: edited", "`new.csv`: created"}, nil)
}

// A question in the form of Cline, whose answer is typed in the next message, has no empty answer.
func TestQuestionHasNoEmptyAnswer(t *testing.T) {
	tells(t, long("Add a dark mode.",
		message.Assistant("<ask_followup_question>\n<question>Add a button, or follow the system?</question>\n</ask_followup_question>"),
		message.User("[ask_followup_question for 'Add a button, or follow the system?'] Result:\n<answer>\nFollow the system, please.\n</answer>"),
		message.Assistant("On it.")), []string{"Follow the system, please."}, []string{"the user answered: ["})
}
