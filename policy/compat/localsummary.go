package compat

import (
	"context"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// LocalSummary replaces the messages older than the last ones by a summary that
// is written without a model and has at most MaxChars characters:
//
//	Conversation summary (contract):
//	- Objective: the first request
//	- Unresolved tasks: …
//	- Key tool outcomes: the first distinct results, each cut to 120 characters
//	- Current constraints: …
//
// It counts in UTF-16 code units, like an estimator made by
// token.NewCharsEstimator. It is safe for concurrent use if its functions are.
type LocalSummary struct {
	Messages int // number of last messages that stay, not counting pinned ones; default DefaultTail
	MaxChars int // length of the summary, tags included; default 1400
	// Tags returns the tags of message i: [TagUnresolved], [TagConstraint]. If it
	// is nil, no message has tags.
	Tags func(v *policy.View, i int) []string
	// Clean is applied to every text before it is cut to size, for example to
	// remove secrets. nil = no change.
	Clean func(string) string
}

const (
	defaultSummaryChars = 1400
	minContract         = 40 // the smallest useful contract, in units, without the tags

	dispatchForm = "dispatch@1" // form of placeholders that keep the dispatch blocks
)

// Name returns "local".
func (LocalSummary) Name() string { return "local" }

// Propose offers the summary as one group, or nothing if it does not fit the
// budget beside the messages that stay.
//
// To decide whether the summary fits, Propose uses the results in the view, some of which
// this run may have masked. But it writes the summary from the results as they were before
// this run. It leaves out placeholders of earlier runs, because they carry no information.
func (s LocalSummary) Propose(_ context.Context, v *policy.View) (policy.Proposal, error) {
	recent := tail(v, tailOr(s.Messages))
	old := remainder(v, recent)
	gone, size := s.gone(v, old)
	if len(gone) == 0 {
		return policy.Proposal{}, nil
	}
	limit := s.MaxChars
	if limit == 0 {
		limit = defaultSummaryChars
	}
	room := v.Budget.Cap - (v.Total() - size)
	if v.Cost.Text(s.shown(v, gone).text(limit)) > room {
		return policy.Proposal{}, nil
	}
	version, written := s.write(v, old, gone)
	body := min(limit, room, size-1) - len(message.SummaryText(version, ""))
	if body < minContract {
		return policy.Proposal{}, nil
	}
	m := policy.NewSummary(version, written.text(body))
	if v.Cost.Message(m) >= size {
		return policy.Proposal{}, nil
	}
	info := policy.SummaryInfo{
		Version: version, Strategy: ContractStrategy, Backend: s.Name(),
		Text: m.Text(), Tokens: v.Cost.Text(m.Text()), Input: len(gone), InputSize: size,
	}
	return policy.Proposal{Summary: &info, Groups: [][]policy.Edit{{{
		Decision: policy.Summarized,
		Reason:   "older than the last messages; covered by the summary",
		Cut:      &policy.Cut{Removed: old, Recent: start(v, recent), New: &m, Summary: &info},
	}}}}, nil
}

// Takes returns the messages that the summary would replace.
func (s LocalSummary) Takes(v *policy.View) []int { return remainder(v, tail(v, tailOr(s.Messages))) }

// gone returns the messages that the summary must cover, and the cost of the
// whole remainder.
func (s LocalSummary) gone(v *policy.View, remainder []int) (gone []int, size int) {
	for _, i := range remainder {
		size += v.Tokens[i]
		if !v.Owned(i) {
			gone = append(gone, i)
		}
	}
	return gone, size
}

// shown returns the contract for the messages in the view.
func (s LocalSummary) shown(v *policy.View, gone []int) *contract {
	c := newContract()
	for _, i := range gone {
		c.note(&v.Messages[i], s.tags(v, i), s.clean)
	}
	return c
}

// write returns the contract for the unmasked messages, merged with earlier contracts.
func (s LocalSummary) write(v *policy.View, remainder, gone []int) (version int, c *contract) {
	c = newContract()
	for _, i := range gone {
		m := s.legible(v, i)
		c.note(&m, s.tags(v, i), s.clean)
	}
	for _, i := range remainder {
		if _, body, ok := policy.ParseSummary(v.Messages[i]); ok && v.Owned(i) {
			c.inherit(body)
		}
	}
	return nextVersion(v), c
}

// nextVersion returns a version above the versions of all summaries in the view,
// including those that no stage made, so that versions are unique.
func nextVersion(v *policy.View) int {
	version := 1
	for i := range v.Messages {
		if n, _, ok := policy.ParseSummary(v.Messages[i]); ok {
			version = min(max(version, n+1), message.MaxSummaryVersion)
		}
	}
	return version
}

// legible returns message i as it was before this run, without results that already were
// placeholders. It keeps the dispatch blocks of placeholders that hold some.
func (s LocalSummary) legible(v *policy.View, i int) message.Message {
	m := v.Unedited(i)
	parts := make([]message.Part, 0, len(m.Parts))
	for _, p := range m.Parts {
		if p.Kind == message.KindToolResult {
			k, masked := v.Forms.ParseMark(p.Text)
			if masked && k.Form != dispatchForm {
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

func (s LocalSummary) tags(v *policy.View, i int) []string {
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
