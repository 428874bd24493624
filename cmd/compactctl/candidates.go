package main

import (
	"fmt"
	"strconv"
)

// candidates writes a row for each way of compacting that was reckoned up, where
// policy.when is economic.
func (r *reportWriter) candidates() {
	if len(r.res.Candidates) == 0 {
		return
	}
	fmt.Fprintln(r, r.style.dim("\ncandidates            leaves      due       fixed      linear    a call       saves  (US dollars, projected)"))
	for _, c := range r.res.Candidates {
		what := "mask, keep " + strconv.Itoa(c.Keep.Turns)
		if c.Cut {
			what = "cut, keep " + strconv.Itoa(c.Keep.Turns)
		}
		if c.Mask > 0 {
			what += "/" + strconv.Itoa(c.Mask)
		}
		verdict := ""
		switch {
		case c.Chosen:
			verdict = "  chosen"
		case !c.Pays:
			verdict = "  does not pay"
		case !c.Safe:
			verdict = "  too soon"
		}
		fmt.Fprintf(r, "%s  %8s %8s  %10.6f  %10.6f  %8.6f  %10.6f%s\n", left(what, 18), count(c.Level), count(c.Due), c.FixedUSD, c.LinearUSD, c.CallUSD, c.SavesUSD, verdict)
	}
}
