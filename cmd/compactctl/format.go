package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/agentcompact/compact/compact"
)

func unit(res *compact.Result) string {
	if res.CountingUnit == "utf-16" {
		return "characters"
	}
	return "tokens"
}

// amount formats a number, and zero as a dash.
func amount(n int) string {
	if n == 0 {
		return "-"
	}
	return count(n)
}

func share(n, of int) string {
	if of <= 0 {
		return "all"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(n)/float64(of))
}

// relative formats the change of a number, in percent or, for a large growth, as a
// factor. It never rounds a loss to 100 percent.
func relative(from, to int) string {
	ratio := float64(to) / float64(max(from, 1))
	switch percent := 100 * (ratio - 1); {
	case from == 0 && to == 0:
		return "+0 %"
	case ratio >= 10:
		return "× " + strconv.FormatFloat(ratio, 'f', 0, 64)
	case to > 0 && percent <= -99.95:
		return "-99.9 %"
	case to > 0 && percent <= -99.5:
		return fmt.Sprintf("%+.1f %%", percent)
	default:
		return fmt.Sprintf("%+.0f %%", percent)
	}
}

// times describes how the time was spent.
func times(t compact.Timing) string {
	var parts []string
	for _, p := range []struct {
		name string
		d    time.Duration
	}{
		{"ledger", t.Ledger}, {"replay", t.Replay}, {"count", t.Count}, {"stages", t.Stages}, {"summary", t.Summarize},
		{"archive", t.ArchiveWait}, {"commit", t.Commit}, {"other calls", t.LaneWait + t.CommitWait + t.PlaceWait},
	} {
		if p.d >= 500*time.Microsecond {
			parts = append(parts, p.name+" "+milliseconds(p.d))
		}
	}
	all := milliseconds(t.Total)
	if len(parts) == 0 {
		return all
	}
	return all + " (" + strings.Join(parts, ", ") + ")"
}

func milliseconds(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f ms", float64(d)/float64(time.Millisecond))
}
