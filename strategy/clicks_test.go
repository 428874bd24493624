package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// A click on a button that commits something counts if the page confirms it.
func TestClicksThatCommitAreEffects(t *testing.T) {
	page := strings.Repeat("- listitem [ref=e20]: \"Lamp, saved 20 %\"\n", 30)
	for _, c := range []struct{ tool, element, result, want string }{
		{"browser_click", "Buy now", page + "- heading \"Thank you! Order L-77\" [ref=e3]", "done"},
		{"browser_click", "Save address", page + "- alert: \"Address saved: Main St 1\"", "done"},
		{"browser_click", "Pay now", "Order confirmed: B-7", "done"},
		{"browser_click", "Pay now", page + "- alert: \"Card not accepted\"", "no effect"},
		{"browser_click", "Pay now", page, "no effect"},
		{"browser_click", "Orders", page + "- heading \"Order confirmed: B-7\"", "no effect"},
		{"browser_click", "Checkout", page + "- heading \"Order confirmed: B-7\"", "no effect"},
		{"browser_snapshot", "Buy now", page + "- heading \"Thank you! Order L-77\"", "no effect"},
	} {
		if got := toldAs(calledTool(c.tool, c.result, "element", c.element, "ref", "e4")); got != c.want {
			t.Errorf("%s: %s, want %s", c.element, got, c.want)
		}
	}
	tells(t, long("Buy the lamp.", ranCalls([3]string{"browser_click", `{"element":"Buy now","ref":"e9"}`, page + "- heading \"Thank you! Order L-77\""})...),
		[]string{"[done] called `browser_click` Buy now with ref=e9, and the page says: “Thank you! Order L-77” (do not repeat)"}, nil)
}

// The line of a comment quotes its first words, so that two comments differ.
func TestEffectQuotesWhatWasSent(t *testing.T) {
	tells(t, long("Review it.",
		message.Assistant("", message.Call("1", "post_comment", `{"mr":482,"body":"The cache is shared by two threads, so please use a map that is made for several threads."}`)),
		message.ToolResult("1", `{"status":"created","id":9001}`),
		message.Assistant("", message.Call("2", "query_page", `{"id":7,"text":"The cache is shared by two threads, so please use a map that is made for several threads."}`)),
		message.ToolResult("2", `{"hits":1}`),
	), []string{"`post_comment` 482 with body=“The cache is shared by two threads, so please use a map …”, which returned: status: created, id: 9001 (do not repeat)"}, []string{"text=“"})
}

// A call that names an element of a page only by its number has the label of the element,
// as the page before stated it.
func TestElementHasItsLabel(t *testing.T) {
	tells(t, long("Order the lamp.", ranCalls(
		[3]string{"get_state", `{}`, `{"elements": [{"index": 3, "tag": "input", "text": "", "placeholder": "Your town"}, {"index": 33, "tag": "a", "text": "", "href": "/lamps"}]}`},
		[3]string{"browser_type", `{"index":3,"text":"Lund"}`, "Typed 'Lund' into element 3"},
		[3]string{"browser_click", `{"index":33}`, "Clicked element 33"},
		[3]string{"get_state", `{}`, "[3]<button class=x>Lamp Vega</button>\n[4]<a>Terms</a>"},
		[3]string{"browser_click", `{"index":3}`, "Clicked element 3"},
		[3]string{"take_snapshot", `{}`, "uid=1_7 button \"Buy now\"\nuid=1_70 link \"Help\""},
		[3]string{"browser_click", `{"uid":"1_7"}`, "Thank you! Order L-77"},
		[3]string{"browser_click", `{"index":9}`, "Clicked element 9"},
	)...), []string{
		"`browser_type` 3 with text=Lund element=Your town",
		"`browser_click` 33 with element=/lamps",
		"`browser_click` 3 with element=Lamp Vega",
		"[done] called `browser_click` 1_7 with element=button \"Buy now\"",
		"`browser_click` 9",
	}, []string{"Clicked element"})
}
