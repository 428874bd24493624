package policy

import (
	"context"
	"strings"

	"github.com/agentcompact/compact/message"
)

// LocalSummary replaces what is older than the last messages by a summary
// that no model writes, at most so many characters long:
//
//	Conversation summary (contract):
//	- Objective: the first request
//	- Unresolved tasks: …
//	- Key tool outcomes: the first distinct results, each cut to 120 characters
//	- Current constraints: …
//
// It counts in UTF-16 code units, as an estimator made by
// token.NewCharsEstimator does. It is safe for concurrent use when its
// functions are.
type LocalSummary struct {
	Messages int // the last messages that stay raw, counted without pinned ones; default DefaultTail
	MaxChars int // of the summary, tags included; default 1400
	// Tags returns the tags of message i: [TagUnresolved], [TagConstraint].
	// nil = there are none.
	Tags func(v *View, i int) []string
	// Clean is applied to every text before it is cut to size: what takes
	// secrets out. nil = the text as it is.
	Clean func(string) string
}

const (
	defaultSummaryChars = 1400
	minContract         = 40 // units beside the tags in which a contract says anything
)

// Name returns "local".
func (LocalSummary) Name() string { return "local" }

// Propose offers the summary as one group, or nothing where it does not fit
// the budget beside what stays.
//
// The room is asked for with the results as the view shows them, the text is
// made of the results as they were before this run masked them. Placeholders
// of earlier runs tell nothing, and are left out of it.
func (s LocalSummary) Propose(_ context.Context, v *View) (Proposal, error) {
	part := v.split(v.tail(tailOr(s.Messages)))
	gone, size := s.gone(v, part.Remainder)
	if len(gone) == 0 {
		return Proposal{}, nil
	}
	limit := s.MaxChars
	if limit == 0 {
		limit = defaultSummaryChars
	}
	room := v.Budget.Cap - (v.Total() - size)
	if v.Cost.Text(s.shown(v, gone).text(limit)) > room {
		return Proposal{}, nil
	}
	version, written := s.write(v, part.Remainder, gone)
	body := min(limit, room, size-1) - len(WrapSummary(version, ""))
	if body < minContract {
		return Proposal{}, nil
	}
	m := NewSummary(version, written.text(body))
	if v.Cost.Message(m) >= size {
		return Proposal{}, nil
	}
	info := SummaryInfo{
		Version: version, Strategy: ContractStrategy, Backend: s.Name(),
		Text: m.Text(), Tokens: v.Cost.Text(m.Text()), Input: len(gone), InputSize: size,
	}
	return Proposal{Summary: &info, Groups: [][]Edit{{{
		Decision: Summarized,
		Reason:   "older than the last messages; covered by the summary",
		Cut:      &Cut{Removed: part.Remainder, Recent: part.Start, New: &m, Summary: &info},
	}}}}, nil
}

// Takes returns what the summary would stand for.
func (s LocalSummary) Takes(v *View) []int { return v.split(v.tail(tailOr(s.Messages))).Remainder }

// gone returns the messages that a summary is to cover, and what all of the
// remainder costs.
func (s LocalSummary) gone(v *View, remainder []int) (gone []int, size int) {
	for _, i := range remainder {
		size += v.Tokens[i]
		if !v.Owned(i) {
			gone = append(gone, i)
		}
	}
	return gone, size
}

// shown is the contract over the messages as they stand in the view.
func (s LocalSummary) shown(v *View, gone []int) *contract {
	c := newContract()
	for _, i := range gone {
		c.note(&v.Messages[i], s.tags(v, i), s.clean)
	}
	return c
}

// write is the contract over the originals, continuing an earlier one.
func (s LocalSummary) write(v *View, remainder, gone []int) (version int, c *contract) {
	c = newContract()
	for _, i := range gone {
		m := s.legible(v, i)
		c.note(&m, s.tags(v, i), s.clean)
	}
	for _, i := range remainder {
		if _, body, ok := ParseSummary(v.Messages[i]); ok && v.Owned(i) {
			c.inherit(body)
		}
	}
	return v.nextVersion(), c
}

// nextVersion is above that of every summary in the view, whoever wrote it, so
// that none comes twice.
func (v *View) nextVersion() int {
	version := 1
	for i := range v.Messages {
		if n, _, ok := ParseSummary(v.Messages[i]); ok {
			version = min(max(version, n+1), MaxSummaryVersion)
		}
	}
	return version
}

// legible returns message i as it was before this run, without the results
// that were placeholders already; of those with dispatch blocks the blocks.
func (s LocalSummary) legible(v *View, i int) message.Message {
	m := v.Unedited(i)
	parts := make([]message.Part, 0, len(m.Parts))
	for _, p := range m.Parts {
		if p.Kind == message.KindToolResult {
			k, masked := v.Forms.ParseMark(p.Text)
			if masked && k.Form != FormDispatch {
				continue
			}
			if masked {
				_, p.Text, _ = strings.Cut(p.Text, "\n")
			}
		}
		parts = append(parts, p)
	}
	m.Parts = parts
	return m
}

func (s LocalSummary) tags(v *View, i int) []string {
	if s.Tags == nil {
		return nil
	}
	return s.Tags(v, i)
}

func (s LocalSummary) clean(text string) string {
	if s.Clean == nil {
		return text
	}
	return s.Clean(text)
}
