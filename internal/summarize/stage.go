package summarize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/material"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/strategy"
)

// minSummary is the minimum size of a useful summary, in tokens.
const minSummary = 60

// seams is the number of tokens by which a text between two tags may exceed the
// sum of its parts: tokens can merge differently at both boundaries.
const seams = 2

// exact is the number of tokens that stay free if a summary is clipped to the room that is left,
// because a clipped text may cost a little more than its pieces.
const exact = 4

// A Stage proposes to replace the remainder of a view by one summary, or by a
// notice if there is no summary. It may be used concurrently.
type Stage struct {
	w     Writer
	grows bool // the limit of a summary is a share of the target

	beside *Beside // nil = summaries are written within the call
}

var _ policy.Estimator = (*Stage)(nil)

// NewStage returns the stage. If w.MaxTokens is 0, a summary may take a
// twentieth of the target, at least 1,500 and at most 8,000 tokens. The error
// names an option that is not possible.
func NewStage(w Writer) (*Stage, error) {
	if err := w.check(); err != nil {
		return nil, err
	}
	return &Stage{w: w.defaults(), grows: w.MaxTokens <= 0}, nil
}

// Name returns "summarize".
func (s *Stage) Name() string { return StageName }

// Takes returns the messages that a summary may replace at the smallest keep
// counts.
func (s *Stage) Takes(v *policy.View) []int { return v.Partition(v.Smallest()).Remainder }

// Propose writes the summary and offers the cut as one group. Without a summary
// the group is a cut with a notice, and Proposal.Summary lists the attempts.
// The only error is the context's.
func (s *Stage) Propose(ctx context.Context, v *policy.View) (policy.Proposal, error) {
	if s.beside != nil {
		return s.fly(ctx, v)
	}
	return s.proposeOf(s.cut(v), s.write(ctx), ctx.Err)
}

func (s *Stage) write(ctx context.Context) func(*cut) (Summary, error) {
	return func(c *cut) (Summary, error) { return s.writer(c).Write(ctx, c.input()) }
}

// Estimate offers the same cut with a placeholder of the expected size. The
// summary of the extractive backend costs nothing, so it is the real one.
func (s *Stage) Estimate(v *policy.View) (policy.Proposal, error) {
	return s.proposeOf(s.cut(v), func(c *cut) (Summary, error) {
		if w := s.writer(c); !describe(w.Summarizer).Remote {
			w.Observe = nil
			return w.Write(context.Background(), c.input())
		}
		return s.standIn(c), nil
	}, func() error { return nil })
}

func (s *Stage) proposeOf(c *cut, write func(*cut) (Summary, error), ended func() error) (policy.Proposal, error) {
	if c == nil {
		return policy.Proposal{}, nil
	}
	v := c.v
	if c.limit < minSummary {
		return c.prune(policy.SummaryInfo{Strategy: s.w.Strategy.Name, Errors: []string{
			fmt.Sprintf("there is room for %d tokens, a summary needs %d", max(c.limit, 0), minSummary)}}), nil
	}
	sum, err := write(c)
	if ended() != nil {
		return policy.Proposal{}, ended()
	}
	sum.Text = strings.ToValidUTF8(sum.Text, "") // a strategy of the caller may write invalid text
	info, m := c.info(sum), policy.NewSummary(c.version, sum.Text)
	if cost := v.Cost.Message(m); err == nil && cost >= c.tokens {
		err = &strategy.Failure{Reason: ErrNotSmaller, Detail: fmt.Errorf("%d tokens instead of %d", cost, c.tokens)}
		info.Errors = append(info.Errors, err.Error())
	}
	switch {
	case errors.Is(err, ErrNotSmaller) && v.Fits():
		return policy.Proposal{}, nil // the messages cost less than a summary, and the view fits
	case err != nil:
		return c.prune(info), nil
	}
	info.Text = message.SummaryText(c.version, sum.Text)
	info.Tokens = v.Cost.Text(info.Text)
	return c.replace(m, info), nil
}

// A cut is the part of a view that the stage removes.
type cut struct {
	v        *policy.View
	part     policy.Partition
	removed  []message.Message // without this program's summaries and notices
	tokens   int               // tokens of the whole remainder
	floor    int               // minimum tokens of the rest of the view, without a summary
	limit    int               // maximum tokens of the summary's body
	words    int               // maximum tokens of the user's words
	room     int               // maximum tokens of the body and the words
	refs     []string          // references of the removed messages
	original func(ref string) (string, bool)
	version  int
	previous string
	omitted  int // messages that earlier notices replaced
}

// cut chooses the messages to remove. It returns nil if there is nothing to
// offer.
func (s *Stage) cut(v *policy.View) *cut {
	c := &cut{v: v, version: 1}
	for _, m := range v.Messages {
		if version, _, ok := policy.ParseSummary(m); ok { // of any author, so that no version is used twice
			c.version = min(max(c.version, version+1), message.MaxSummaryVersion)
		}
	}
	tags := v.Cost.Message(policy.NewSummary(c.version, "")) + seams
	most := s.most(v)
	c.original, c.words = s.w.Original, s.userTokens(v)
	c.reserving(s.w.Strategy, most+tags, min(c.words, spoken(v)))
	if len(c.removed) == 0 && c.tokens > 0 && !v.Fits() {
		c.shrunk(c.tokens, c.tokens) // the existing summary exceeds the limit for a new summary
	}
	c.floor = v.Without(c.part.Remainder)
	if len(c.removed) == 0 && c.floor+c.tokens <= v.Budget.Cap {
		return nil // there is room for the existing summary
	}
	if c.tokens == 0 {
		return nil
	}
	kept := v.Total() - c.tokens
	room := v.Budget.Cap - kept
	if room < minSummary+tags+exact {
		// Squeeze runs later and reduces the rest to the floor.
		room = v.Budget.Cap - c.floor
	}
	c.room = min(room-exact, c.tokens-1) - tags
	c.limit = min(most-tags, c.room)
	if c.limit < minSummary && v.Fits() && c.tokens <= minSummary+tags {
		return nil // too small for a summary, and the view fits
	}
	return c
}

// reserving chooses the messages to remove, with room for summary and words tokens: for a
// summary and for the user's words. The newest words are not cut and may exceed words. In
// this case, reserving removes more messages, which can add words, and tries again.
func (c *cut) reserving(of strategy.Strategy, summary, words int) {
	least := summary + words // don't remove turns for words that can be cut
	for range maxReserved {
		c.shrunk(least, summary+words)
		need := c.spoken(of)
		if need <= words {
			return
		}
		words = need
	}
}

// maxReserved is the maximum number of tries of reserving.
const maxReserved = 4

// shrunk chooses the messages to remove, with room for reserve tokens. It lowers the keep
// counts only as far as the room for least tokens requires.
func (c *cut) shrunk(least, reserve int) {
	v := c.v
	c.part = v.Oldest(v.Shrink(least), reserve, v.Goal)
	c.removed = slices.Grow(c.removed[:0], len(c.part.Remainder))
	c.refs, c.tokens, c.previous, c.omitted = c.refs[:0], 0, "", 0
	for _, i := range c.part.Remainder {
		c.tokens += v.Tokens[i]
		c.take(i)
	}
}

func (c *cut) take(i int) {
	m, ours := c.v.Messages[i], c.v.Owned(i)
	if _, body, ok := policy.ParseSummary(m); ok && ours {
		c.previous = body
		return
	}
	if n, ok := policy.ParseNotice(m); ok && ours {
		c.omitted += n
		return
	}
	c.removed = append(c.removed, legible(restored(c.v, i, c.original)))
	c.refs = append(c.refs, refOf(c.v, i))
}

func (c *cut) input() Input {
	return Input{Previous: c.previous, Messages: c.removed, Visible: c.visible(), MaxTokens: c.room, UserTokens: c.words, Tokens: c.tokens, Count: c.v.Cost.Text,
		Ref: func(i int) string { return c.refs[i] }, After: c.after(), Upto: c.upto()}
}

// upto returns the number of messages in the view up to the last removed message.
func (c *cut) upto() (n int) {
	for _, i := range c.part.Remainder {
		n = max(n, i+1)
	}
	return n
}

// after returns the number of messages in removed that come after the last
// message of the user that stays in the view.
func (c *cut) after() int {
	gone := make(map[int]bool, len(c.part.Remainder))
	for _, i := range c.part.Remainder {
		gone[i] = true
	}
	last := len(c.v.Messages) - 1
	for last >= 0 && (gone[last] || !material.FromUser(&c.v.Messages[last])) {
		last--
	}
	n := 0
	for _, i := range c.part.Remainder {
		if m := c.v.Messages[i]; i > last && !(c.v.Owned(i) && (policy.IsSummary(m) || isNotice(m))) {
			n++
		}
	}
	if last < 0 {
		return 0
	}
	return n
}

func isNotice(m message.Message) bool {
	_, ok := policy.ParseNotice(m)
	return ok
}

// visible returns the messages that stay in the view.
func (c *cut) visible() []message.Message {
	gone := make([]bool, len(c.v.Messages))
	for _, i := range c.part.Remainder {
		gone[i] = true
	}
	out := make([]message.Message, 0, len(gone)-len(c.part.Remainder))
	for i, m := range c.v.Messages {
		if !gone[i] {
			out = append(out, m)
		}
	}
	return out
}

// info returns the description of an attempt for the ledger and the events.
func (c *cut) info(s Summary) policy.SummaryInfo {
	info := policy.SummaryInfo{
		Version: c.version, Strategy: s.Strategy, Backend: s.Backend, Model: s.Model,
		Input: len(c.removed), InputSize: c.tokens, Calls: s.Calls, Attempts: s.Attempts,
		Fallback: s.Fallback, First: s.First, Retention: s.Retention, Named: s.Named, Invented: s.Invented, Added: s.References,
	}
	for _, err := range s.Errors {
		info.Errors = append(info.Errors, err.Error())
	}
	return info
}

// replace returns the proposal to replace the cut by the summary.
func (c *cut) replace(m message.Message, info policy.SummaryInfo) policy.Proposal {
	return policy.Proposal{
		Groups: [][]policy.Edit{{{
			Decision: policy.Summarized,
			Reason:   "not recent; covered by the summary",
			Cut:      &policy.Cut{Removed: c.part.Remainder, Recent: c.part.Start, New: &m, Summary: &info},
		}}},
		Summary: &info,
	}
}

// prune returns the proposal to replace the cut by a notice. Typed messages and an earlier
// summary, which still describes older messages, stay if there is room for them and the
// notice. If the notice does not fit or saves nothing, a view that fits stays unchanged,
// and a larger view loses the messages without a notice.
func (c *cut) prune(info policy.SummaryInfo) policy.Proposal {
	info.Version, info.Fallback = 0, FallbackPruning
	p := policy.Proposal{Summary: &info}
	room, cost := c.v.Budget.Cap-c.floor, c.v.Cost.Message(policy.NewNotice(len(c.removed)+c.omitted))
	fits := cost <= room
	if fits {
		room -= cost
	}
	var removed []int
	freed, omitted := 0, len(c.removed)+c.omitted
	typed := c.typedThatStay(room)
	for i := range typed {
		room -= c.v.Tokens[i]
	}
	for _, i := range c.part.Remainder {
		if typed[i] {
			omitted--
			continue
		}
		if c.v.Owned(i) && policy.IsSummary(c.v.Messages[i]) {
			if c.v.Tokens[i] <= room {
				room -= c.v.Tokens[i]
				continue
			}
			omitted++ // the summary covers at least one message; the exact number is unknown here
		}
		removed = append(removed, i)
		freed += c.v.Tokens[i]
	}
	notice := policy.NewNotice(omitted)
	edit := policy.Edit{
		Decision: policy.Dropped,
		Reason:   "not recent; there is no summary",
		Cut:      &policy.Cut{Removed: removed, Recent: c.part.Start, New: &notice},
	}
	if c.v.Cost.Message(notice) >= freed || !fits || omitted == 0 {
		if c.v.Fits() || freed == 0 {
			return p // the view fits already, or nothing can be removed
		}
		edit.Cut.New = nil
	}
	p.Groups = [][]policy.Edit{{edit}}
	return p
}

// standIn returns a placeholder text of the usual size of a model's summary.
func (s *Stage) standIn(c *cut) Summary {
	info := describe(s.w.Summarizer)
	const word, sample = "summary ", 64
	want := float64(c.limit) * material.Aim
	n := int(want * sample / float64(max(c.v.Cost.Text(strings.Repeat(word, sample)), 1)))
	return Summary{
		Text:     strings.TrimSpace(strings.Repeat(word, max(1, n))),
		Strategy: s.w.Strategy.Name, Backend: info.Name, Model: info.Model, Retention: 1,
	}
}
