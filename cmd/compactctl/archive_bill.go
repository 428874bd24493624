package main

import (
	"fmt"
	"strings"

	"github.com/agentcompact/compact/replay"
)

// sheetBill is the cost of the calls of a session, as far as the audit log is
// readable.
type sheetBill struct {
	*replay.SessionBill
	err error
}

// String returns the lines of the bill, or "" if no call is recorded.
func (x sheetBill) String() string {
	switch {
	case x.err != nil:
		return "bill: " + oneLine(x.err.Error()) + "\n"
	case x.Calls == 0:
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "bill of %s", things(x.Calls, "call"))
	if x.Priced {
		fmt.Fprintf(&b, ": prompts estimated at $%.4f, projected with the whole history $%.4f", x.Sent, x.Raw)
		if x.Unpriced > 0 {
			fmt.Fprintf(&b, "; %s without a price", things(x.Unpriced, "call"))
		}
	} else {
		b.WriteString(": no price of the model is known")
	}
	if x.CallsMeasured > 0 {
		fmt.Fprintf(&b, "; measured $%.4f for %s, answers included", x.Measured, things(x.CallsMeasured, "call"))
	}
	if x.Summaries > 0 {
		fmt.Fprintf(&b, "; summaries $%.4f", x.Summaries)
	}
	return b.String() + "\n"
}
