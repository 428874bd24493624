package strategy

import (
	"fmt"
	"strings"
	"testing"
)

// An answer that only repeats its call is left out, and such calls share an entry.
func TestAnswersThatRepeatTheirCallsAreLeftOut(t *testing.T) {
	tells(t, long("Look into the folder.", ranCalls(
		[3]string{"browser_navigate", `{"url":"https://files.example.org/home"}`, "Navigated to: https://files.example.org/home"},
		[3]string{"browser_type", `{"index":3,"text":"Lund"}`, "Typed 'Lund' into element 3"},
		[3]string{"browser_click", `{"index":6}`, "Clicked element 6"},
		[3]string{"browser_click", `{"index":7}`, "Clicked element 7, and a new tab was opened: Terms"},
	)...), []string{
		"called `browser_navigate` https://files.example.org/home, then `browser_type` 3 with text=Lund, then `browser_click` 6",
		"`browser_click` 7, which returned: Clicked element 7, and a new tab was opened: Terms",
	}, []string{"Navigated to", "Typed 'Lund'", "Clicked element 6"})
	for result, want := range map[string]bool{
		"Clicked element 6": true, "Successfully clicked on the element 6": true,
		"Failed to click element 6": false, "Clicked element 8": false, "": false, "6": false, "Clicked element 6\nThank you": false,
	} {
		if got := calledTool("browser_click", result, "index", "6").echoes(); got != want {
			t.Errorf("%q: echoes returns %v, want the opposite", result, got)
		}
	}
	if calledTool("send_mail", "Sent to ann@example.org", "to", "ann@example.org").echoes() {
		t.Error("the answer to an effect is left out")
	}
}

// A call that runs again and again with the same arguments is counted, even if other lines
// quote its result.
func TestEqualCallsAreCounted(t *testing.T) {
	var rows []string
	for i := range 12 {
		rows = append(rows, fmt.Sprintf(`{"line":"L%d","state":"active","plan":"P%d","used":%d}`, i, i, 3*i))
	}
	var runs [][3]string
	for range 5 {
		runs = append(runs, [3]string{"get_lines", `{"customer":"C-77"}`, `{"lines":[` + strings.Join(rows, ",") + `]}`})
	}
	tells(t, long("Why is my line down?", ranCalls(runs...)...), []string{"[s4–s12] called `get_lines` C-77 5 times with the same arguments\n", "which returned: "}, nil)
	tells(t, long("Why is my line down?", ranCalls(runs[:2]...)...), nil, []string{"with the same arguments"})
}
