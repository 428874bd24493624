package replay

import (
	"strings"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
)

// A Change is what one compaction did to a prompt, for people: one line a
// message that did not stay as it was, and the summary that came in.
type Change struct {
	Before, After int // tokens of the prompt
	Stage         string
	Lines         []ChangedLine
	More          int    // changed messages that have no line
	Summary       string // as the model reads it; "" = none was made
}

// A ChangedLine is one message that a compaction edited or took out.
type ChangedLine struct {
	Index         int // in the history
	Role          string
	Decision      string
	Before, After int    // tokens
	Words         string // what it begins with, redacted, on one line
}

const (
	maxChangedLines = 40
	maxWords        = 100 // characters
)

// changeOf reads what a call of the manager did.
func changeOf(res *compact.Result, history []message.Message, clean *redact.Redactor) *Change {
	c := &Change{Before: res.Before.Total, After: res.After.Total, Stage: string(res.ReductionStage)}
	if res.Summary != nil && res.ReductionStage == compact.ReductionSummarization {
		c.Summary = res.Summary.Text
	}
	for _, d := range res.Decisions {
		if d.Decision == policy.Kept {
			continue
		}
		if len(c.Lines) == maxChangedLines {
			c.More++
			continue
		}
		c.Lines = append(c.Lines, ChangedLine{
			Index: d.Index, Role: string(d.Role), Decision: d.Decision.String(), Before: d.TokensBefore, After: d.TokensAfter,
			Words: clean.Text(firstWords(history[d.Index])).String(),
		})
	}
	return c
}

// firstWords is what a message begins with, in one line.
func firstWords(m message.Message) string {
	var text string
	said(&m, func(s string) {
		if text == "" {
			text = s[:min(len(s), 8*maxWords)]
		}
	})
	runes := []rune(strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " "))
	if len(runes) > maxWords {
		return string(runes[:maxWords]) + "…"
	}
	return string(runes)
}
