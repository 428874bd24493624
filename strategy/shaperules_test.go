package strategy

import (
	"strings"
	"testing"
)

// A request is outside of documents and quotations. A sentence that only forbids does not count
// as a request. A short request counts even next to other requests.
func TestGoalIsTheRequest(t *testing.T) {
	document := "<runbook>\nThe warehouse loads the table every two hours. Create a ticket if it fails.\n</runbook>"
	for _, c := range []struct{ said, want string }{
		{"Here is our runbook:\n\n" + document + "\n\nBuild the load of the new table for orders.", "Build the load of the new table for orders."},
		{"Build the load of the new table for orders.\n" + document, "Build the load of the new table for orders."},
		{"Here it is.\n<task>\nBuild the load of the new table for orders.\n</task>", "Build the load of the new table for orders."},
		{"Don't cancel the order.", ""},
		{"no! leave 9f1e alone", ""},
		{"Nobody touches internal/legacy.", ""},
		{"Don't cancel the order, move it to Monday.", "Don't cancel the order, move it to Monday."},
		{"Load the table.", "Load the table."},
		{"go on", ""}, {"thanks", ""},
	} {
		got := ""
		if asked := wanted(1, c.said); len(asked) > 0 {
			got = asked[0].Text
		}
		if got != c.want {
			t.Errorf("%q asks for %q, want %q", c.said, got, c.want)
		}
	}
	said := "Okay, you can comment on the thread for me. I agree with the observations, and with the fix of the job that prints. " + strings.Repeat("It is the way in which the program is left that matters here. ", 3) + "Fix that one problem, create a commit."
	if got := wanted(1, said); len(got) != 1 || got[0].Text != "Okay, you can comment on the thread for me. … Fix that one problem, create a commit." {
		t.Errorf("got %+v, want one goal with both requests", got)
	}
}
