package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/testrun"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/lazy"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// These patterns match lines near the end of an output that qualify its verdict: a warning,
// an error after which the program went on, or a count of tests that did not run.
// mixedCount matches a count of tests that did not all pass.
var (
	warningLine = lazy.Compile(`^(?:WARNING|WARN):? \S`)
	alarmLine   = lazy.Compile(`^(?:[a-zA-Z_]\w*\.)*[A-Z]\w*(?:Error|Exception): \S|^[Aa]n error occurred\b|^(?:ERROR|FATAL|CRITICAL|ABORT|ABORTED)\b:? \S|[ .:](?:FAIL|FAILED)(?: \(|$)`)
	skippedLine = lazy.Compile(`^(?:[A-Za-z ]+: )?([1-9]\d*) (?:tests? )?skipped\b`)
	mixedCount  = lazy.Compile(`\b(\d+)(?: of | out of |/)(\d+) (?:\w+ )?(?:passed|succeeded|ok)\b`)
)

// nearVerdict is the number of lines at the end of an output that belong to its verdict.
const nearVerdict = 5

// lastLines returns the last lines of an output that are not empty, the last one first.
func lastLines(output string, n int) (out []string) {
	output = strings.TrimSpace(output)
	for output != "" && len(out) < n {
		i := strings.LastIndexByte(output, '\n') + 1
		if line := prose.Squash(testrun.Uncolored(output[i:])); line != "" && !framed(line) && !ourOwn(line) {
			out = append(out, line)
		}
		output = strings.TrimRight(output[:i], "\n")
	}
	return out
}

// besides returns, as a suffix, the line of an output that qualifies the quoted words: a
// warning, an error, or a count of skipped tests if the words mention no passed tests. It
// returns "" if there is none.
func (c *Call) besides(words string) string {
	if c.Command() == "" || words == "" {
		return ""
	}
	passes := strings.Contains(strings.ToLower(words), "passed")
	for _, line := range lastLines(bothEnds(body(c.Result)), nearVerdict) {
		low := strings.ToLower(line)
		warns := (warningLine.MatchString(line) || alarmLine.MatchString(line)) && !strings.Contains(low, "deprecat") && !idle(low)
		if !strings.Contains(line, words) && !strings.Contains(words, line) && (warns || skippedLine.MatchString(line) && !passes) {
			return ", beside “" + prose.Clip(line, maxWords) + "”"
		}
	}
	return ""
}

// claimWords state a success. A text that also has a word of doubtWords is not a plain
// claim of success.
var (
	claimWords = []string{"pass", "passes", "passed", "green", "deployed", "succeeded", "successful", "successfully", "installed", "done", "migrated", "works"}
	doubtWords = []string{"not", "fail", "fails", "failed", "failing", "failure", "error", "errors", "except", "but", "however", "still", "warning", "warnings", "skipped", "unhealthy", "no", "isn't", "doesn't", "cannot", "although", "unrelated", "pre-existing"}
)

// mostOfClaim is the maximum number of bytes of a text that only claims a success.
const mostOfClaim = 240

// beforeClaim returns, as a suffix, words of the last output before a text that claims a
// success, if these words contradict the claim. Without them, the summary would state the
// claim as the outcome.
func (h *History) beforeClaim(i int) string {
	text := h.Steps[i].Text
	if i == 0 || len(text) > mostOfClaim {
		return ""
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" ,.;:!?()\"\n*`", r) })
	has := func(list []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
	}
	if !has(claimWords) || has(doubtWords) {
		return ""
	}
	for at := i - 1; at >= 0 && h.Steps[at].Role != message.RoleUser; at-- {
		if calls := h.Steps[at].Calls; len(calls) > 0 {
			if says := calls[len(calls)-1].saysOtherwise(); says != "" {
				return ", after an output that says “" + says + "”"
			}
			return ""
		}
	}
	return ""
}

// saysOtherwise returns the words of an output that contradict a success, "" for none.
func (c *Call) saysOtherwise() string {
	switch {
	case !c.Answered || c.Command() == "" || c.deed() == deedLook:
		return ""
	case c.Outcome == Failed:
		return prose.Clip(c.wrong(), maxWords)
	case c.doubt:
		return c.lastWords()
	}
	for _, line := range lastLines(bothEnds(body(c.Result)), nearVerdict) {
		m := mixedCount.FindStringSubmatch(line)
		if m != nil && m[1] != m[2] || skippedLine.MatchString(line) && c.besides(c.lastWords()) != "" || strings.HasPrefix(line, "0 ") && strings.Contains(line, "skipped") {
			return prose.Clip(line, maxWords)
		}
	}
	return ""
}
