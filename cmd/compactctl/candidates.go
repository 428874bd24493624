package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agentcompact/compact/internal/fold"
)

// candidates writes one row for each way of compacting that policy.when economic
// evaluated.
func (r *reportWriter) candidates() {
	if len(r.res.Candidates) == 0 {
		return
	}
	rows := [][]string{{"candidates", "leaves", "due", "fixed $", "linear $", "a call $", "saves $", ""}}
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
			verdict = "chosen"
		case !c.Pays:
			verdict = "does not pay"
		case !c.Safe:
			verdict = "too soon"
		}
		rows = append(rows, []string{what, count(c.Level), count(c.Due), dollars(c.FixedUSD), dollars(c.LinearUSD), dollars(c.CallUSD), dollars(c.SavesUSD), verdict})
	}
	var b strings.Builder
	fold.Table(&b, "", rows, nil)
	fmt.Fprintf(r, "\n%s", b.String())
}

// dollars formats an amount that can be far below a cent.
func dollars(usd float64) string { return fmt.Sprintf("%.6f", usd) }
