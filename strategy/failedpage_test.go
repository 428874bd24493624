package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

func fromAgent(name, text string) message.Message {
	m := message.User(text)
	m.Name = name
	return m
}

func TestFailedPageIsReportedAsAFailure(t *testing.T) {
	for text, want := range map[string]string{
		"Address: file:///data/ferries.pdf\nTitle: Error 404\nViewport position: Showing page 1 of 1.\n=====\n## Error 404\n\nFile not found: /data/ferries.pdf":                                                                     "PageSurfer could not show file:///data/ferries.pdf: Error 404",
		"I clicked 'Ferries'.\n\nHere is a screenshot of [Access to this page has been denied](https://ferries.example/timetable). The viewport shows 100% of it.\n\nPress & Hold to confirm you are a human.\n\nReference ID: 4b4f": "PageSurfer could not show https://ferries.example/timetable: Access to this page has been denied",
		"Here is a screenshot of [Access denied](https://ferries.example/fares). The viewport shows 40% of it.\n\n" + strings.Repeat("Please include the reference below in your letter to the harbor office. ", 40):                 "PageSurfer could not show https://ferries.example/fares: Access denied",
		"Address: https://ferries.example/faq\nTitle: Questions\n=====\nThe ferry to the northern island leaves the pier at nine o'clock in the morning.":                                                                            "leaves the pier at nine",
	} {
		got := write4(t, long("When does the ferry leave?", fromAgent("PageSurfer", text), message.Assistant("I look elsewhere.")))
		if !strings.Contains(got, want) || strings.Contains(got, "PageSurfer said: Address: file") || strings.Contains(got, "Press & Hold") {
			t.Errorf("want %q in:\n%s", want, got)
		}
	}
}

func TestRoutingAndAdvertisingAreNotQuoted(t *testing.T) {
	got := write4(t, long("When does the ferry leave?",
		fromAgent("Orchestrator_thought", "Next speaker PageSurfer"),
		fromAgent("PageSurfer", "The ferry leaves the pier at nine. You've already earned 15 Rewards points, and it's easy to earn more."),
		fromAgent("Orchestrator_thought", "Next speaker PageSurfer waits for the tide, so the ferry leaves one hour later."),
	))
	if strings.Contains(got, "Next speaker PageSurfer\n") || strings.Contains(got, "Rewards points") {
		t.Errorf("routing or advertising is quoted in:\n%s", got)
	}
	for _, want := range []string{"leaves the pier at nine", "leaves one hour later"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
}

// A sentence or an item about a missing file does not report a failed page.
func TestAnalysisIsNoFailedPage(t *testing.T) {
	for _, text := range []string{
		"### Analysis\nThe output has several stages, and the relevant one shows a `File not found` error of the script that reads the data of the harbor.",
		"### Steps\n1. We wrote the data.\n2. The script still ended with `File not found`.",
	} {
		s := Step{ID: 2, Speaker: "Harbor_Expert", Text: text}
		if line := s.failedPageLine(); line != "" {
			t.Errorf("%q: %s, want no line about a failed page", text, line)
		}
	}
}
