package policy

import (
	"github.com/agentcompact/compact/internal/testrun"
)

// commandKeys are the arguments that hold a command line.
var commandKeys = []string{"command", "cmd"}

// quote lets a mark quote the line in which a result says how a command ended: a test
// run, a build, a script, a commit. The status of a command may be that of another
// one: `go test ./... | tail` ends with 0. What a command with another status says
// to have done is not quoted.
func (v *View) quote(i, p int, k *Mark) {
	if r := v.tells(i, p, k); r.Verdict != testrun.None {
		k.SaysFrom, k.SaysTo = r.From, r.To
	}
}

// tells returns the line that a mark may quote. A success is none beside a status that
// denies it, nor where it may stand in a file that the command shows.
func (v *View) tells(i, p int, k *Mark) testrun.Report {
	part := &v.Messages[i].Parts[p]
	c, ok := v.tools().Call(i, part)
	if !ok {
		return testrun.Report{}
	}
	line := readCommand(c.Args)
	if !line.does {
		return testrun.Report{}
	}
	failed := k.Ended && k.Exit != 0
	r := testrun.Tells(part.Text, failed, line.prints)
	if r.Verdict == testrun.Success && (failed || line.shows) {
		return testrun.Report{}
	}
	return r
}

// unsaid returns the mark of a result without what it quotes of a success. That
// something failed is never left out beside the call: the status may hide it.
func (v *View) unsaid(i, p int, k Mark) (Mark, bool) {
	if k.SaysTo == 0 || v.tells(i, p, &k).Verdict != testrun.Success {
		return k, false
	}
	k.SaysFrom, k.SaysTo = 0, 0
	return k, true
}

// without returns a mark in a form that says nothing about how a call ended.
func (k Mark) without(form string) Mark {
	k.Form, k.Ended, k.Exit, k.SaysFrom, k.SaysTo = form, false, 0, 0, 0
	return k
}
