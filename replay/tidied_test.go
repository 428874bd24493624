package replay

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
)

func TestSavedTokensCountInEveryLaterPrompt(t *testing.T) {
	var a, b Row
	a.tidy([]compact.Tidied{{Reducer: "code", Results: 1, TokensSaved: 100}})
	a.tidy(nil)
	a.tidy([]compact.Tidied{{Reducer: "runs", Results: 2, TokensSaved: 10}, {Reducer: "code", ReadAgain: 1}})
	b.tidy([]compact.Tidied{{Reducer: "code", Results: 1, TokensSaved: 1}})
	got := tidiedOf([]*Row{&a, &b})
	want := []Tidied{{"code", 2, 101, 301, 1}, {"runs", 2, 10, 10, 0}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	var out strings.Builder
	writeTidied(&out, []Total{{Policy: "p", Sent: 689, Tidied: got}, {Policy: "none"}})
	if s := out.String(); !strings.Contains(s, "30.10%") || strings.Contains(s, "none") || strings.Index(s, "code") > strings.Index(s, "runs") {
		t.Errorf("printed as\n%s", s)
	}
}
