package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/token"
)

// Current returns the policy that repeats the recorded compactions: the edits
// of the session's ledger, each at its call. It works for this session only.
func (r *Archived) Current() Policy { return current{r} }

type current struct{ *Archived }

func (current) Name() string    { return "current" }
func (current) Reference() bool { return false }

func (c current) Begin(_ context.Context, s *Session, e Env) (Runner, error) {
	if s != c.Session {
		return nil, errors.New("the policy current needs an archived session")
	}
	pins := policy.Pins{message.RoleSystem, message.RoleDeveloper}
	now, refs := map[message.Fingerprint]message.Fingerprint{}, map[message.Fingerprint]string{}
	for i, fp := range c.fps {
		now[fp] = s.Messages[i].Fingerprint()
		for k, ref := range c.refs[i][:min(len(c.refs[i]), len(s.Messages[i].Parts))] {
			refs[s.Messages[i].Parts[k].Fingerprint()] = ref
		}
	}
	usual, err := compact.Preset("graduated")
	if err != nil {
		return nil, err
	}
	clean, err := usual.Redaction.Redactor()
	return &repeatedSteps{of: c.Archived, count: e.Count, conv: reduce.NewConversation(nil, pins, nil), now: now, refs: refs, changes: changes{clean: clean}}, err
}

// repeatedSteps repeats the steps of a ledger.
type repeatedSteps struct {
	of    *Archived
	count *token.Estimator
	conv  *reduce.Conversation
	now   map[message.Fingerprint]message.Fingerprint // original fingerprint → fingerprint in the archive
	refs  map[message.Fingerprint]string              // part → reference
	next  int                                         // index of the next step

	changes changes
}

func (r *repeatedSteps) View(_ context.Context, history []message.Message) (View, error) {
	r.conv = r.conv.Append(history[r.conv.Inputs():])
	before := r.count.Messages(r.conv.Messages())
	res := &compact.Result{}
	for ; r.next < len(r.of.steps) && r.of.steps[r.next].at <= len(history); r.next++ {
		step := &r.of.steps[r.next]
		if err := r.redo(step); err != nil {
			return View{}, fmt.Errorf("step %d of the ledger: %w", step.Step, err)
		}
		res.Step, res.Reason, res.CallStage = step.Step, step.Kind, compact.ReductionStage(last(step.Recipes))
	}
	v := View{Messages: r.conv.Messages(), Sources: r.conv.Sources(), Compacted: res.Step > 0, Reason: res.Reason}
	r.report(res, &v, history, before)
	v.Change = r.changes.of(res, history)
	return v, nil
}

func last(recipes []reduce.Recipe) string {
	if len(recipes) == 0 {
		return ""
	}
	return recipes[len(recipes)-1].Stage
}

// redo applies a step. A ledger identifies messages by their fingerprints
// before redaction; this function uses their positions instead.
func (r *repeatedSteps) redo(step *archivedStep) error {
	r.conv = r.conv.WithForms(step.Forms)
	for _, recipe := range step.Recipes {
		recipe.Texts, recipe.Copies = slices.Clone(recipe.Texts), slices.Clone(recipe.Copies)
		unpinned := r.unpinned()
		for k := range recipe.Texts {
			t := &recipe.Texts[k]
			if t.At < 0 || t.At >= len(unpinned) {
				return policy.ErrEdit
			}
			at := unpinned[t.At]
			is := r.conv.Messages()[at].Fingerprint()
			if src := r.conv.Source(at); src >= 0 && is == r.of.Session.Messages[src].Fingerprint() && r.of.fps[src] != t.Was {
				return fmt.Errorf("%w: message %d differs", policy.ErrEdit, src+1)
			}
			t.Was = is
		}
		if recipe.Cut != nil && recipe.Cut.Anchor != nil {
			cut, anchor := *recipe.Cut, r.now[*recipe.Cut.Anchor]
			cut.Anchor, recipe.Cut = &anchor, &cut
		}
		for k := range recipe.Copies {
			recipe.Copies[k].Of = r.now[recipe.Copies[k].Of]
		}
		next, err := r.conv.Replay(recipe)
		if err != nil {
			return err
		}
		r.conv = next
	}
	return nil
}

// unpinned returns the indexes of the messages that a ledger counts.
func (r *repeatedSteps) unpinned() (at []int) {
	pins := policy.Pins{message.RoleSystem, message.RoleDeveloper}
	for i, m := range r.conv.Messages() {
		if !pins.Pinned(&m) {
			at = append(at, i)
		}
	}
	return at
}

// report sets the fields that a manager's result of the call would have.
func (r *repeatedSteps) report(res *compact.Result, v *View, history []message.Message, before int) {
	res.Messages, res.Sources = v.Messages, v.Sources
	res.Before.Total, res.After.Total = before, r.count.Messages(v.Messages)
	for i := range history {
		d, _ := r.conv.Decision(i)
		res.Decisions = append(res.Decisions, compact.MessageDecision{
			Index: i, Role: history[i].Role, Decision: d, TokensBefore: r.count.Message(history[i]),
		})
	}
	for k, src := range v.Sources {
		if src >= 0 {
			res.Decisions[src].TokensAfter = r.count.Message(v.Messages[k])
		} else if policy.IsSummary(v.Messages[k]) {
			res.Summary = &policy.SummaryInfo{Text: v.Messages[k].Text()}
		}
	}
}

// Ref implements [Recaller].
func (r *repeatedSteps) Ref(p message.Part) string { return r.refs[p.Fingerprint()] }

// Recall implements [Recaller]: it reads the archive of the session.
func (r *repeatedSteps) Recall(ctx context.Context, arguments json.RawMessage) (string, error) {
	var q query
	if err := json.Unmarshal(arguments, &q); err != nil {
		return "", err
	}
	var opts []recall.Option
	if q.Pattern != "" {
		pattern, err := regexp.Compile(q.Pattern)
		if err != nil {
			return "", err
		}
		opts = append(opts, recall.Matching(pattern, q.Context))
	}
	text, err := recall.Text(ctx, r.of.from, r.of.name, q.Ref, opts...)
	if errors.Is(err, recall.ErrNotFound) {
		return "", nil
	}
	return text, err
}

func (r *repeatedSteps) Close(context.Context) error { return nil }
