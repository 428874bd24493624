package main

import (
	"fmt"
	"strings"

	"github.com/agentcompact/compact/replay"
)

// problemsOf counts the errors of a session, and apart from them those after which
// something else was done.
func problemsOf(all []replay.AccountProblem) string {
	over := 0
	for i := range all {
		if all[i].GotOver() {
			over++
		}
	}
	text := things(len(all)-over, "error")
	if over > 0 {
		text += fmt.Sprintf(", %d got over", over)
	}
	return text
}

// problemLines says what each kind of error was, the first of its kind in full.
func problemLines(all []replay.AccountProblem) string {
	type kind struct{ what, instead string }
	var kinds []kind
	first, times := map[kind]string{}, map[kind]int{}
	for i := range all {
		k := kind{what: all[i].Type}
		if all[i].GotOver() {
			k.instead = all[i].Fallback
		}
		if times[k]++; times[k] == 1 {
			kinds, first[k] = append(kinds, k), all[i].Message
		}
	}
	var b strings.Builder
	for _, k := range kinds {
		verdict := "error"
		if k.instead != "" {
			verdict = "got over (" + k.instead + ")"
		}
		fmt.Fprintf(&b, "%s: %d × %s: %s\n", oneLine(verdict), times[k], oneLine(k.what), oneLine(first[k]))
	}
	return b.String()
}
