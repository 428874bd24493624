package main

import (
	"fmt"
	"strings"
)

// hunk writes one change.
func (d *diffWriter) hunk(c change) {
	fmt.Fprintln(&d.b, d.style.cyan("@@ "+title(c)+" @@"))
	before, after := lines(c.Before), lines(c.After)
	same := 0
	for same < min(len(before), len(after)) && before[same] == after[same] {
		same++
	}
	end := 0
	for end < min(len(before), len(after))-same && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	d.side(" ", d.style.dim, before[:same], contextLines, true)
	d.side("-", d.style.red, before[same:len(before)-end], removedLines, false)
	d.side("+", d.style.green, after[same:len(after)-end], addedLines, false)
	d.side(" ", d.style.dim, before[len(before)-end:], contextLines, false)
}

// Maximum numbers of lines of each kind without --full.
const (
	contextLines = 2
	removedLines = 6
	addedLines   = 40
)

// side writes lines with their sign; if there are more than limit, it omits the
// middle or, with tail, the beginning.
func (d *diffWriter) side(sign string, paint func(string) string, all []string, limit int, tail bool) {
	write := func(s string) {
		if !d.full {
			s = clip(s, d.columns()-2)
		}
		fmt.Fprintln(&d.b, paint(strings.TrimRight(sign+" "+s, " ")))
	}
	if d.full || len(all) <= limit+1 {
		for _, s := range all {
			write(s)
		}
		return
	}
	head := (limit + 1) / 2
	if tail {
		head = 0
	}
	for _, s := range all[:head] {
		write(s)
	}
	fmt.Fprintln(&d.b, d.style.dim(sign+" … "+things(len(all)-limit, "more line")))
	for _, s := range all[len(all)-(limit-head):] {
		write(s)
	}
}

func title(c change) string {
	what := "message " + ranges(c.Messages)
	if len(c.Messages) > 1 {
		what = fmt.Sprintf("messages %s (%d)", ranges(c.Messages), len(c.Messages))
	}
	if c.role != "" {
		what += " · " + oneLine(c.role)
	}
	after := "-"
	if c.TokensAfter > 0 {
		after = count(c.TokensAfter)
	}
	return fmt.Sprintf("%s · %s · %s → %s tokens", what, c.Decision, count(c.TokensBefore), after)
}

// ranges formats the indexes 0 1 2 6 as 1-3, 7, because people count messages
// from 1.
func ranges(at []int) string {
	var parts []string
	for i := 0; i < len(at); {
		k := i
		for k+1 < len(at) && at[k+1] == at[k]+1 {
			k++
		}
		if k == i {
			parts = append(parts, fmt.Sprint(at[i]+1))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", at[i]+1, at[k]+1))
		}
		i = k + 1
	}
	return strings.Join(parts, ", ")
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.ReplaceAll(strings.TrimRight(s, "\n"), "\t", "    "), "\n")
}
