package replay

import (
	"strings"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
)

// A Change describes one compaction for people: one line per edited or removed
// message, and the new summary.
type Change struct {
	Before, After int // tokens of the prompt
	Stage         string
	Counts        map[string]int // number of messages by decision
	Lines         []ChangedLine
	More          int    // number of changed messages without a line
	Summary       string // the text that the model reads; "" = this compaction made no summary
}

// A ChangedLine is one message that a compaction edited or removed.
type ChangedLine struct {
	Index         int // in the history
	Role          string
	Decision      string
	Before, After int    // tokens; After is 0 if the message is gone
	Words         string // its first words, redacted, on one line
	Now           string // the text in place of the message; "" = none
}

const (
	maxChangedLines = 40
	maxWords        = 100 // characters of the original
	maxNow          = 160 // characters of the replacement; no placeholder is longer
)

// changes describes the results of a manager's calls, in order.
type changes struct {
	clean *redact.Redactor
	was   []policy.Decision // of each message, after the previous call
}

// of returns the change that a call of the manager made, or nil if the call
// made no compaction. of must be called with the result of every call, in
// order.
func (c *changes) of(res *compact.Result, history []message.Message) *Change {
	was := c.was
	c.was = make([]policy.Decision, len(res.Decisions))
	for i, d := range res.Decisions {
		c.was[i] = d.Decision
	}
	if res.Step == 0 {
		return nil
	}
	out := &Change{Before: res.Before.Total, After: res.After.Total, Stage: string(res.CallStage), Counts: map[string]int{}}
	now := map[int]*message.Message{}
	for k, src := range res.Sources {
		now[src] = &res.Messages[k]
	}
	for i, d := range res.Decisions {
		if d.Decision == policy.Kept || i < len(was) && was[i] == d.Decision {
			continue
		}
		out.Counts[d.Decision.String()]++
		if len(out.Lines) == maxChangedLines {
			out.More++
			continue
		}
		out.Lines = append(out.Lines, c.line(d, &history[i], now[i]))
	}
	if res.Summary != nil && out.Counts[policy.Summarized.String()] > 0 {
		out.Summary = res.Summary.Text
	}
	return out
}

func (c *changes) line(d compact.MessageDecision, was, now *message.Message) ChangedLine {
	l := ChangedLine{
		Index: d.Index, Role: string(d.Role), Decision: d.Decision.String(), Before: d.TokensBefore, After: d.TokensAfter,
		Words: c.words(was, maxWords),
	}
	if now != nil {
		l.Now = c.words(now, maxNow)
	}
	return l
}

// words returns the beginning of a message, redacted, on one line.
func (c *changes) words(m *message.Message, most int) string {
	var text string
	said(m, func(s string) {
		if text == "" {
			text = s[:min(len(s), 8*most)]
		}
	})
	// Redaction comes before the cut, because a part of a secret might not be recognized.
	clean := c.clean.Text(strings.ToValidUTF8(text, "")).String()
	runes := []rune(strings.Join(strings.Fields(clean), " "))
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(runes)
}
