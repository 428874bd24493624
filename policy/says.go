package policy

import (
	"github.com/agentcompact/compact/internal/testrun"
)

// commandKeys are the arguments that hold a command line.
var commandKeys = []string{"command", "cmd"}

// quote lets a mark quote the line of a result that states how a command ended: a test
// run, a build, a script or a commit. The exit code alone is not enough, because it may
// belong to another command: `go test ./... | tail` ends with 0. A success is not quoted
// if the exit code is not 0.
func (v *View) quote(i, p int, k *Mark) {
	if r := v.tells(i, p, k); r.Verdict != testrun.None {
		k.SaysFrom, k.SaysTo = r.From, r.To
	}
}

// tells returns the line that a mark may quote. It returns no success if the exit code
// contradicts it, or if the line may come from a file that the command shows.
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

// unsaid returns the mark without its quotation, if the quotation states a success. A
// quoted failure always stays, because the exit code may hide it.
func (v *View) unsaid(i, p int, k Mark) (Mark, bool) {
	if k.SaysTo == 0 || v.tells(i, p, &k).Verdict != testrun.Success {
		return k, false
	}
	k.SaysFrom, k.SaysTo = 0, 0
	return k, true
}

// without returns the mark in another form, without the data about how the call ended.
func (k Mark) without(form string) Mark {
	k.Form, k.Ended, k.Exit, k.SaysFrom, k.SaysTo = form, false, 0, 0, 0
	return k
}
