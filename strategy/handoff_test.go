package strategy

import (
	"maps"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// handoffs are summaries of other programs, in the forms that they have.
var handoffs = map[string]string{
	"a continued session":    "This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.\n\nAnalysis:\nLet me go through it: the ferry came first.\n\nSummary:\n1. Primary Request and Intent:\n   - Teach the timetable to skip cancelled ferries\n\n2. Errors and fixes:\n   - **The harbor feed has no season**: the importer reads it from the header now.\n\n7. Pending Tasks:\n   - Publish the winter timetable after the pier in Husavik is open\n\nPlease continue the conversation from where we left it off without asking the user any further questions.",
	"a checkpoint":           "# Context Checkpoint Summary\n\n## Goal\nTeach the timetable to skip cancelled ferries.\n\n## Progress\n### Completed\n1. **Importer**\n   - The importer reads the season of the harbor feed from the header\n\n## Next steps\n- Publish the winter timetable after the pier in Husavik is open",
	"a heading of two words": "**Session handoff**\n\n**Current state**\nThe importer reads the season of the harbor feed from the header.\n\n**Remaining**\nPublish the winter timetable after the pier in Husavik is open.",
	"no headings":            "Here is a summary of the conversation to date:\n\nThe importer reads the season of the harbor feed from the header. Publish the winter timetable after the pier in Husavik is open.",
}

func TestSummaryCarriesHandoffOfAnotherProgram(t *testing.T) {
	for name, text := range handoffs {
		got := write4(t, long(text,
			message.User("Go on with the timetable, please."),
			message.Assistant("The winter timetable waits."),
		))
		words, rest, _ := strings.Cut(got, "\n## Goals")
		if strings.Contains(words, "pier") || !strings.Contains(words, "Go on with the timetable") {
			t.Errorf("%s: a handoff is among the words of the user:\n%s", name, words)
		}
		for _, want := range []string{"[s1]" + handedOver, "harbor feed", "Publish the winter timetable after the pier in Husavik is open"} {
			if !strings.Contains(rest, want) {
				t.Errorf("%s: %q is not in:\n%s", name, want, rest)
			}
		}
		if strings.Contains(got, "the ferry came first") || strings.Contains(got, "without asking the user") {
			t.Errorf("%s: text around the summary is quoted in:\n%s", name, got)
		}
	}
}

func TestTypedTextIsNoHandoff(t *testing.T) {
	for _, text := range []string{
		"# Summary\n\nThe harbor feed has no season.",
		"## Bug summary\n\n## Steps\nOpen the page.\n\n## Expected\nA timetable.",
		"# Session summary page\n\nAdd a page that shows a summary of each session.",
		"Write a context checkpoint summary of our conversation, with the next steps.",
	} {
		m := message.User(text)
		if got := classify(&m, false).speech; got != speechTyped {
			t.Errorf("got %v, want speechTyped: %q", got, text)
		}
	}
}

// Pending work of a handoff does not displace lines about later messages if its part of the
// conversation is summarized too and the work went on.
func TestPendingWorkOfOldHandoffIsNotAssured(t *testing.T) {
	h := &History{Steps: []Step{{ID: 1, Role: message.RoleAssistant}}, index: newIndex()}
	var s Step
	s.handoff(handoffs["a checkpoint"] + "\n\n## Constraints\nThe fares of the island line stay as they are until spring.")
	h.Steps = append(h.Steps, Step{ID: 2, Role: message.RoleUser, Text: "Go on."}, s)
	value := map[string]float64{}
	read := func() {
		for _, l := range h.handoffLines(0) {
			value[strings.Fields(l.Text)[0]] = l.Value
		}
	}
	if read(); value["Publish"] < failedValue || value["The"] < failedValue {
		t.Errorf("right after the handoff: %v, want at least failedValue for both", value)
	}
	h.Steps = append(h.Steps, Step{ID: 9, Role: message.RoleAssistant, Calls: make([]Call, goneOn)})
	if read(); value["Publish"] >= failedValue || value["The"] < failedValue {
		t.Errorf("after more work: %v, want less than failedValue for the pending work only", value)
	}
}

// If a summary of this program describes the same part of the conversation, the sentences of a
// handoff do not displace those of the summary.
func TestHandoffDoesNotTakeTheRoomOfTheSummary(t *testing.T) {
	var s Step
	s.handoff(handoffs["a checkpoint"])
	h := &History{Steps: []Step{s}, index: newIndex()}
	most := func() (v float64) {
		for _, l := range h.handoffLines(0) {
			if !strings.HasPrefix(l.Text, "Publish") { // pending work keeps its value in any case
				v = max(v, l.Value)
			}
		}
		return v
	}
	if v := most(); v < failedValue {
		t.Errorf("without a summary: %v, want at least %v", v, failedValue)
	}
	h.Previous = Document{Notes: []string{"The harbor feed has a season. [s1]"}}
	if v := most(); v >= failedValue {
		t.Errorf("after a summary: the highest value is %v, want less than failedValue", v)
	}
}

// The sentences that long answers can't displace have a common limit, and each topic has at
// most a third of it. The best topics come first.
func TestAssuredSentencesOfAHandoffAreLimited(t *testing.T) {
	var lines []topicLine
	for i, topic := range []float64{0.4, 1, 0.9, 1, 0.7, 0.9} {
		for range 5 {
			lines = append(lines, topicLine{Line{Group: itoa(i), Text: strings.Repeat("x", 20), Value: 1}, topic, i != 4})
		}
	}
	got := map[string]int{}
	for _, l := range assured(lines, 180) {
		if l.Value >= failedValue {
			got[l.Group] += len(l.Text)
		}
	}
	if want := map[string]int{"1": 60, "3": 60, "2": 60}; !maps.Equal(got, want) {
		t.Errorf("characters by topic: %v, want %v", got, want)
	}
}
