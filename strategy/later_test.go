package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// decisionsOf returns the decisions of a history, with later statements against them.
func decisionsOf(t *testing.T, in Input) string {
	t.Helper()
	h := historyOfInput(in)
	out := ""
	for _, f := range h.decisions() {
		out += f.Text + " " + stepID(f.Step) + h.against(f) + "\n"
	}
	return out
}

func historyOfInput(in Input) *History {
	return NewHistory(Request{Strategy: taskState, Messages: in.Messages, First: 1})
}

// A retraction before a decision does not apply to the decision.
func TestEarlierRetractionLeavesLaterDecision(t *testing.T) {
	got := decisionsOf(t, long("Tidy up.", message.Assistant("Two of them fail now. Turns out the rename of the ledger was wrong: copying it serves the tools."), message.User("And now?"),
		message.Assistant("I decided to rename the ledger after copying it instead, because both names are read.")))
	if !strings.HasSuffix(got, "because both names are read. [s6]\n") {
		t.Errorf("the later decision is missing or changed:\n%s", got)
	}
}

// writtenBy returns the summary by one strategy.
func writtenBy(t *testing.T, s Strategy, in Input) string {
	t.Helper()
	in.Count = func(s string) int { return (len(s) + 3) / 4 }
	return written(t, s, 600, in)
}

func TestDecisionsOmitGuesses(t *testing.T) {
	in := long("Why is the import slow?",
		message.Assistant("The root cause is probably the lock around the writer of the journal.", message.Call("1", "bash", `{"command":"ls a"}`)), message.ToolResult("1", "b"),
		message.Assistant("I decided to batch the inserts because each commit might sync the disk.", message.Call("2", "bash", `{"command":"ls c"}`)), message.ToolResult("2", "d"))
	text := write4(t, in)
	if got := decisionsOf(t, in); strings.Contains(got, "probably") || !strings.Contains(got, "batch the inserts") {
		t.Errorf("decisions:\n%s\nwant text without %q and text with %q", got, "probably", "batch the inserts")
	}
	if !strings.Contains(text, "The root cause is probably the lock") {
		t.Errorf("the summary does not quote the guess:\n%s", text)
	}
	if got := titledPart(writtenBy(t, decisionLog, in), "Decision log"); strings.Contains(got, "probably") || !strings.Contains(got, "batch the inserts") {
		t.Errorf("decision log:\n%s\nwant text without %q and text with %q", got, "probably", "batch the inserts")
	}
}

func TestDecisionsIncludeAcceptedOffers(t *testing.T) {
	const offer = "I recommend a queue instead of the table, so that nothing is lost."
	for answer, taken := range map[string]bool{"yes": true, "ok, go": true, "Which queue would that be, and who runs it?": false, "no": false} {
		got := decisionsOf(t, long("Make the importer safe.", message.Assistant(offer), message.User(answer), message.Assistant("Fine, I look at it.")))
		if strings.Contains(got, offer) != taken {
			t.Errorf("answer %q, decisions:\n%s", answer, got)
		}
	}
	in := long("Make the importer safe.", message.Assistant(offer))
	if got := decisionsOf(t, in); strings.Contains(got, offer) {
		t.Errorf("offer without an answer, decisions:\n%s", got)
	}
	if text := write4(t, in); !strings.Contains(text, "told the user: "+offer) {
		t.Errorf("the summary does not quote the offer:\n%s", text)
	}
}

func TestUserAcceptsOfferByNumber(t *testing.T) {
	const offer = "1. I recommend a queue instead of the table, so that nothing is lost."
	if got := decisionsOf(t, long("Make it safe.", message.Assistant("Two ways:\n"+offer+"\n2. A second table."), message.User("take 1"), message.Assistant("Fine."))); !strings.Contains(got, "a queue instead of the table") {
		t.Errorf("decisions:\n%s\nwant text with %q", got, "a queue instead of the table")
	}
}

// The line of a decision that was taken back quotes the objection or the retraction.
func TestDecisionLineQuotesLaterObjection(t *testing.T) {
	const said = "I decided to rename the ledger instead of copying it, because nobody reads the old name."
	for _, c := range []struct {
		name string
		then []message.Message
		want string
	}{
		{"the user objects", []message.Message{message.User("No, keep the old name. Others link to it."), message.Assistant("It is back.")}, "[s4]; the user then said “No, keep the old name.” [s5]"},
		{"only a word begins like an objection", []message.Message{message.User("Now document it."), message.Assistant("Done.")}, "[s4]\n"},
		{"the user is polite", []message.Message{message.User("No problem, thank you."), message.Assistant("Good.")}, "[s4]\n"},
		{"the assistant takes it back", []message.Message{message.User("And the tests?"), message.Assistant("Two of them fail now. Turns out the rename of the ledger was wrong: copying it serves the tools that read the old name.")}, "[s4]; said later: “Turns out the rename of the ledger was wrong: copying it serves the tools that read the old name.” [s6]"},
		{"the assistant takes something else back", []message.Message{message.User("And the tests?"), message.Assistant("All of them pass now. Turns out the timeout of the proxy was wrong.")}, "[s4]\n"},
		{"the assistant takes back another statement with a common word", []message.Message{message.User("And the tests?"), message.Assistant("All of them pass now. Turns out the timeout of the ledger was wrong.")}, "[s4]\n"},
		{"a guess takes nothing back", []message.Message{message.User("And the tests?"), message.Assistant("Turns out the rename of the ledger was probably wrong, as two tools read the old name.")}, "[s4]\n"},
	} {
		in := long("Tidy up.", append([]message.Message{message.Assistant(said)}, c.then...)...)
		if got := decisionsOf(t, in); !strings.Contains(got, said+" "+c.want) {
			t.Errorf("%s: %q is not in:\n%s", c.name, c.want, got)
		}
		for _, f := range historyOfInput(in).decisions() {
			if f.Step == 4 && (f.Value >= takenBackValue) != (c.want != "[s4]\n") {
				t.Errorf("%s: the decision has the value %v", c.name, f.Value)
			}
		}
		if text := write4(t, in); c.want != "[s4]\n" && !strings.Contains(text, said+" "+c.want) {
			t.Errorf("%s: %q is not in:\n%s", c.name, c.want, text)
		}
	}
}

// An objection applies to the answer before it. The sentence applies to an earlier
// decision of the turn only if it names that decision.
func TestObjectionAppliesToNamedDecision(t *testing.T) {
	got := decisionsOf(t, long("Tidy up.",
		message.Assistant("I decided to rename the ledger instead of copying it, because nobody reads the old name.", message.Call("1", "bash", `{"command":"ls a"}`)), message.ToolResult("1", "b"),
		message.Assistant("I decided to cache the lookups instead of the rows, because rows change.", message.Call("2", "bash", `{"command":"ls c"}`)), message.ToolResult("2", "d"),
		message.Assistant("All of it is in place."),
		message.User("Don't cache the lookups, nobody wants that."), message.Assistant("Fine.")))
	if !strings.Contains(got, "because rows change. [s6]; the user then said “Don't cache the lookups, nobody wants that.” [s9]") || strings.Count(got, "the user then said") != 1 {
		t.Errorf("decisions:\n%s", got)
	}
}

// An objection to an answer does not take back what was decided for an earlier request.
func TestObjectionLeavesDecisionsOfEarlierRequests(t *testing.T) {
	got := decisionsOf(t, long("Tidy up.",
		message.Assistant("I decided to cache the lookups instead of the rows, because rows change."),
		message.User("And the export?"), message.Assistant("The export caches the lookups as well."),
		message.User("Don't cache the lookups there, nobody wants that."), message.Assistant("Fine.")))
	if !strings.Contains(got, "because rows change. [s4]\n") {
		t.Errorf("decisions:\n%s\nwant text with %q", got, "because rows change. [s4]\n")
	}
}

func TestAnswerLineQuotesObjection(t *testing.T) {
	tells(t, long("Why is it red?", message.Assistant("The theme of the editor is light, and its darker red is taken then."), message.User("no, both of them are dark, and so is the one on the other machine"), message.Assistant("I look again.")),
		[]string{"told the user, who then said “no, both of them are dark, and so is the one on the other machine” [s5]: The theme of the editor is light"}, []string{"[s6] told the user, who"})
}

// A doubt has a lower value after the assistant cleared it up.
func TestClearedDoubtHasLowerValue(t *testing.T) {
	doubt, cleared := "The journal of the importer might be flushed twice for every record.", "Confirmed: the journal of the importer is flushed twice, record by record."
	value := func(before, after string) float64 {
		h := historyOfInput(long("Why is it slow?", message.Assistant(before), message.User("go on"), message.Assistant(doubt), message.User("go on"), message.Assistant(after)))
		for _, l := range h.saidLines(0) {
			if l.Text == doubt {
				return l.Value
			}
		}
		t.Fatal("no line has the doubt")
		return 0
	}
	const nothing = "I go on with the parser of dates now, as asked."
	open := value(nothing, nothing)
	for _, c := range []struct {
		name, before, after string
		want                bool
	}{
		{"it was cleared up", nothing, cleared, true},
		{"it came after that", cleared, nothing, false},
		{"something else was cleared up", nothing, "Confirmed: the parser of the importer takes dates in any form.", false},
		{"another guess", nothing, "The issue is probably that the journal of the importer is flushed twice.", false},
	} {
		if got := value(c.before, c.after); got < open != c.want {
			t.Errorf("%s: value %v, value of an open doubt %v", c.name, got, open)
		}
	}
}

func TestCheckLinesStateLaterPass(t *testing.T) {
	var msgs []message.Message
	for i, r := range []run{{"go test ./...", goFails}, {"go test ./storage", "ok  \tx/storage\t0.2s"}} {
		msgs = append(msgs, message.Assistant("", message.Call(itoa(i), "bash", `{"command":`+quote(r.cmd)+`}`)), message.ToolResult(itoa(i), r.result))
	}
	in := long("Fix it.", msgs...)
	tells(t, in, []string{"`go test ./...` failed: --- FAIL: TestTorn (0.00s): torn_test.go:9: got 3, want 2 [s4]; what failed there passed later [s6]"}, nil)
	if text := writtenBy(t, codeDelta, in); !strings.Contains(text, "→ failed: --- FAIL: TestTorn (0.00s): torn_test.go:9: got 3, want 2 [s4]; what failed there passed later [s6]") {
		t.Errorf("code_delta:\n%s", text)
	}
}

// A sentence about the user's wishes does not count as a decision, even if it names a
// value.
func TestDecisionsOmitUsersWishes(t *testing.T) {
	got := decisionsOf(t, long("The footer looks wrong.",
		message.Assistant("The user is pointing out two issues because of the setting: the middle option should be dropped.\n\nI'll keep the token of the theme instead of a second color, because both headers use it.", message.Call("1", "bash", `{"command":"ls a"}`)), message.ToolResult("1", "b")))
	if strings.Contains(got, "pointing out") || !strings.Contains(got, "keep the token of the theme") {
		t.Errorf("decisions:\n%s\nwant text without %q and text with %q", got, "pointing out", "keep the token of the theme")
	}
}

// If the assistant admits that an answer was wrong, the summary quotes the answer with the words
// of the user that led to the admission. A question with a plain answer is not quoted.
func TestAdmittedMistakeIsQuotedWithItsQuestion(t *testing.T) {
	tells(t, long("Compare the offers.",
		message.Assistant("The lamp of the north shop costs 27 euros with tax, so it is the cheapest."), message.User("Check the tax once more."),
		message.Assistant("You are right: 27 euros is the price without tax."), message.User("And the delivery?"),
		message.Assistant("The north shop delivers all of them on 18 January at the latest."), message.User("Is it insured?"),
		message.Assistant("Yes, the delivery is insured up to 900 euros.")),
		[]string{"told the user, who then said “Check the tax once more.”"}, []string{"who then said “Is it insured?”", "who then said “And the delivery?”"})
}
