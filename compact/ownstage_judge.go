package compact

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

const (
	ownStageTimeout = 10 * time.Second
	maxLiteral      = 200     // bytes
	chanceLiteral   = 16      // bytes; shorter literals can occur in the history by chance
	maxLiterals     = 50      // different longer literals; each is searched for in the whole history
	maxOwnWork      = 4 << 20 // total number of messages in the edits of a proposal
)

// ownStage wraps a stage of the caller, and protects the history from its
// faults.
type ownStage struct {
	OwnStage
	name  string
	clean func(string) string // redacts a text
	stuck *atomic.Bool        // a call that timed out has not returned yet

	history []message.Message // history of the run; nil = use the messages of the view
}

// judged returns a copy of a proposal by a caller's stage, or an error if a
// ledger can't store it or if its marks are false. The engine checks the
// invariants of the view.
func (s *ownStage) judged(v *policy.View, p policy.Proposal) (policy.Proposal, error) {
	out := policy.Proposal{Alternatives: p.Alternatives, Failed: slices.Clone(p.Failed)}
	if p.Summary != nil {
		return policy.Proposal{}, s.broken("summaries are written by a strategy.Summarizer", "Proposal.Summary is set")
	}
	j := judge{stage: s, view: v, good: map[string]bool{}}
	for _, group := range p.Groups {
		if len(group) == 0 {
			return policy.Proposal{}, s.broken("a group has at least one edit", "one is empty")
		}
		var edits []policy.Edit
		for _, e := range group {
			good, err := j.edit(e)
			if err != nil {
				return policy.Proposal{}, err
			}
			edits = append(edits, good)
		}
		out.Groups = append(out.Groups, edits)
	}
	return out, nil
}

func (s *ownStage) broken(rule, detail string, args ...any) error {
	return &reduce.BrokenError{Stage: s.name, Rule: rule, Detail: fmt.Sprintf(detail, args...)}
}

// judge checks one proposal.
type judge struct {
	stage    *ownStage
	view     *policy.View
	decision policy.Decision // decision of all edits so far; Kept = no edits yet
	cuts     bool            // the edits are cuts
	work     int             // number of messages in the edits
	good     map[string]bool // literals that passed
	long     int             // number of literals that the history was searched for
}

func (j *judge) edit(e policy.Edit) (policy.Edit, error) {
	out := policy.Edit{Decision: e.Decision, Reason: j.stage.clean(clipped(e.Reason))}
	if (e.Text == nil) == (e.Cut == nil) {
		return out, j.stage.broken("an edit is of a text, or a cut", "both or neither of Text and Cut are set")
	}
	if j.decision != policy.Kept && (e.Decision != j.decision || (e.Cut != nil) != j.cuts) {
		return out, j.stage.broken("a proposal has edits of one kind", "there are several")
	}
	j.decision, j.cuts = e.Decision, e.Cut != nil
	var err error
	if j.work++; e.Cut != nil {
		j.work += len(e.Cut.Removed)
	}
	switch {
	case j.work > maxOwnWork:
		err = j.stage.broken("a proposal has an end", "it names more than %d messages", maxOwnWork)
	case e.Cut != nil:
		out.Cut, err = j.cut(e)
	default:
		out.Text, err = j.text(e)
	}
	return out, err
}

// clipped returns a reason cut to a size for reports.
func clipped(reason string) string {
	if len(reason) > maxLiteral {
		reason = strings.ToValidUTF8(reason[:maxLiteral], "")
	}
	return strings.Join(strings.Fields(reason), " ")
}

func (j *judge) cut(e policy.Edit) (*policy.Cut, error) {
	c := e.Cut
	switch {
	case e.Decision != policy.Dropped:
		return nil, j.stage.broken("a cut has the decision dropped", "the decision is number %d", e.Decision)
	case c.Summary != nil || c.Copies || c.Behind || c.First:
		return nil, j.stage.broken("a cut has Removed, Recent and New", "another field is set")
	}
	if c.Recent < 0 || c.Recent > len(j.view.Messages) {
		return nil, j.stage.broken("the recent span begins in the view", "it begins at message %d", c.Recent+1)
	}
	for _, i := range c.Removed {
		if i < 0 || i >= len(j.view.Messages) {
			return nil, j.stage.broken("a cut removes messages of the view", "there is no message %d", i+1)
		}
	}
	out := &policy.Cut{Removed: slices.Sorted(slices.Values(c.Removed)), Recent: c.Recent}
	if c.New != nil {
		n, ok := policy.ParseNotice(*c.New)
		if !ok {
			return nil, j.stage.broken("a cut replaces the removed messages by nothing or by a notice", "New is another message")
		}
		notice := policy.NewNotice(n)
		out.New = &notice
	}
	return out, nil
}

func (j *judge) text(e policy.Edit) (*policy.TextEdit, error) {
	t := e.Text
	if e.Decision != policy.Truncated && e.Decision != policy.Masked {
		return nil, j.stage.broken("an edited text is truncated or masked", "the decision is number %d", e.Decision)
	}
	if t.Index < 0 || t.Index >= len(j.view.Messages) || t.Part < 0 || t.Part >= len(j.view.Messages[t.Index].Parts) {
		return nil, j.stage.broken("an edit is of a part of the view", "there is no part %d of message %d", t.Part+1, t.Index+1)
	}
	out := &policy.TextEdit{Index: t.Index, Part: t.Part}
	marks := 0
	for _, s := range t.Segments {
		if s.Mark != nil {
			k := *s.Mark
			s.Mark, marks = &k, marks+1
			if err := j.mark(t, &k); err != nil {
				return nil, err
			}
		}
		if err := j.literal(s.Lit); err != nil {
			return nil, err
		}
		out.Segments = append(out.Segments, s)
	}
	if marks > 1 || e.Decision == policy.Masked && marks == 0 {
		return nil, j.stage.broken("a masked text has one mark, a truncated text at most one", "message %d has %d", t.Index+1, marks)
	}
	return out, nil
}

// literal returns an error for a literal that a ledger must not store. Equal
// literals are checked once.
func (j *judge) literal(lit string) error {
	if j.good[lit] {
		return nil
	}
	switch {
	case len(lit) > maxLiteral:
		return j.stage.broken("a literal is short", "one has %d bytes", len(lit))
	case j.stage.clean(lit) != lit:
		return j.stage.broken("a literal holds no secret", "one does")
	case len(lit) > chanceLiteral:
		if err := j.written(lit); err != nil {
			return err
		}
	}
	j.good[lit] = true
	return nil
}

// written returns an error for a literal that occurs in the history. It searches
// the history, because the view holds the stage's earlier literals and lacks
// removed text.
func (j *judge) written(lit string) error {
	if j.long++; j.long > maxLiterals {
		return j.stage.broken("a proposal has few literals", "it has more than %d different literals of more than %d bytes", maxLiterals, chanceLiteral)
	}
	history := j.stage.history
	if history == nil {
		history = j.view.Messages
	}
	for i := range history {
		for p := range history[i].Parts {
			if strings.Contains(history[i].Parts[p].Text, lit) {
				return j.stage.broken("a literal is the stage's own", "one is in message %d of the history: name the range", i+1)
			}
		}
	}
	return nil
}

// mark returns an error for a placeholder with false data.
func (j *judge) mark(t *policy.TextEdit, k *policy.Mark) error {
	o := j.view.Origin(t.Index, t.Part)
	switch {
	case k.Ref != "" && k.Ref != o.Ref:
		return j.stage.broken("a mark has the reference of its original", "that of message %d has the reference %s", t.Index+1, o.Ref)
	case k.Chars < 0 || k.Chars > o.Chars:
		return j.stage.broken("a mark says how large the original is", "that of message %d has %d characters", t.Index+1, o.Chars)
	case k.Turn != 0 && k.Turn != j.view.TurnOf(t.Index):
		return j.stage.broken("a mark says which turn it is of", "message %d is of turn %d", t.Index+1, j.view.TurnOf(t.Index))
	}
	return nil
}
