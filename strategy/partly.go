package strategy

import (
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/internal/testrun"
	"github.com/agentcompact/compact/strategy/internal/checks"
	"github.com/agentcompact/compact/strategy/internal/effects"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// partlyDone ends the line of an effect that failed in part.
const partlyDone = " (do not repeat what is done)"

// mostFailing is the maximum number of failing lines in the line of an effect.
const mostFailing = 3

// partly returns the lines in which the output of a command says that a part was done, and
// that other parts failed: the commit before a push that was rejected. It returns "" if the
// output lacks one of them.
func (c *Call) partly() (done, failed string) {
	cmd := c.Command()
	if !c.doubt || cmd == "" || c.Check() || c.effectsIn() == 0 && !effects.ChangesRows(cmd, c.Result[:min(len(c.Result), 4*edge)]) {
		return "", ""
	}
	var wrong []string
	var sql transaction
	for line := range strings.Lines(bothEnds(testrun.Uncolored(body(c.Result)))) {
		line = prose.Squash(line[:min(len(line), 4*maxWords)])
		low := strings.ToLower(line)
		switch {
		case line == "" || framed(line) || ourOwn(line) || strings.Contains(cmd, line):
		case sql.kept(line):
			done = line
		case tellsFailure(line), programComplains(cmd, line), prose.BeginsAny(low, softStarts):
			wrong = append(wrong, prose.Clip(line, maxWords))
		case done == "" && (tellsDone(line) || c.tellsOwnDeed(low)):
			done = prose.Clip(line, maxWords)
		}
	}
	if done == "" || len(wrong) == 0 {
		return "", ""
	}
	failed = strings.Join(wrong[:min(len(wrong), mostFailing)], " / ")
	if n := len(wrong) - mostFailing; n > 0 {
		failed += " and " + itoa(n) + " more"
	}
	return done, failed
}

func (c *Call) partlyDone() bool {
	done, _ := c.partly()
	return done != ""
}

// tellsOwnDeed reports whether a line in lower case states that the subcommand is being
// carried out: "will destroy tank/a@1" from zfs destroy.
func (c *Call) tellsOwnDeed(low string) bool {
	for _, part := range effects.Parts(c.Command()) {
		if w := strings.Fields(part); len(w) > 1 && len(w[1]) >= verbStem && strings.HasPrefix(low, "will "+w[1]+" ") {
			return true
		}
	}
	return false
}

// partlyDoneFacts returns the effects that failed in part.
func (h *History) partlyDoneFacts() (out []fact) {
	h.eachCall(func(s *Step, c *Call) {
		if done, failed := c.partly(); done != "" {
			out = append(out, fact{s.ID, "ran " + c.name() + ", which printed: “" + done + "”, but also: “" + failed + "”" + h.abandoned(c, s.ID) + partlyDone + " " + stepID(s.ID), failedValue + 0.2*h.recency(s.ID)})
		}
	})
	return out
}

// toCheck shortens a command that is too long to be quoted, if the outcome of a check at
// its end is the outcome of the command: "git checkout x && … && go test ./...".
func toCheck(cmd string) string {
	if utf8.RuneCountInString(cmd) <= maxCommand || strings.ContainsAny(cmd, ";|\n") || strings.HasPrefix(cmd, "…") {
		return cmd
	}
	parts := strings.Split(cmd, " && ")
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) < 3 || !checks.Begins(strings.ToLower(last)) || utf8.RuneCountInString(first+last) > maxCommand-10 {
		return cmd
	}
	return first + " && … && " + last
}
