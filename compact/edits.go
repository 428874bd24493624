package compact

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/trace"
)

// editBatch is the number of calls for each step with presets that work on
// every call. They change something in nearly every call, and a step for each
// would create too many files. So most calls append their changes to
// edits.jsonl: the originals, and then one line that is a step without a
// number. Every editBatch calls there is a step, which archives and indexes the
// changes since the previous one.
const editBatch = 32

// learnEdit adds the edits of one call; the caller holds s.mu.
func (s *session) learnEdit(e ledger.Step) {
	if !s.edits.Add(e) {
		return
	}
	s.stepsWeight += weighStep(&e)
	for i := range e.Recipes {
		s.learnTexts(e.Recipes[i].Texts)
	}
}

// readEdits reads the lines that others have appended since the last read.
func (s *session) readEdits(ctx context.Context) error {
	s.mu.Lock()
	from := s.edits.Read
	s.mu.Unlock()
	fresh, end, err := ledger.ReadEdits(ctx, s.log, from, s.noteChange)
	if err != nil {
		return err
	}
	for i := range fresh {
		s.unseal(&fresh[i])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range fresh {
		s.learnEdit(e)
	}
	s.edits.Read = max(s.edits.Read, end)
	s.edits.End = max(s.edits.End, end)
	return nil
}

// course returns the steps of a lane and the edits between them, in order. A
// step records the number of the last edit before it.
func (s *session) course(of ledger.Owner) []*ledger.Step {
	steps, all, _ := s.record(of)
	var out []*ledger.Step
	k := 0
	until := func(seq int64) {
		for ; k < len(all) && all[k].Seq <= seq; k++ {
			if all[k].Owner() == of {
				out = append(out, &all[k])
			}
		}
	}
	for i := range steps {
		if steps[i].Owner() == of {
			until(steps[i].Edits)
			out = append(out, &steps[i])
		}
	}
	if len(all) > 0 {
		until(all[len(all)-1].Seq)
	}
	return out
}

// pending returns the edits of a lane that no step has archived, oldest first.
func (s *session) pending(of ledger.Owner) []ledger.Step {
	steps, all, _ := s.record(of)
	return ledger.Pending(steps, all, of)
}

// lastEdit returns the number of the newest known edit.
func (s *session) lastEdit() int64 {
	_, all, _ := s.record(ledger.Owner{})
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1].Seq
}

// record returns the known steps and edits, which are immutable, and the number
// of edits of a lane.
func (s *session) record(of ledger.Owner) (steps, all []ledger.Step, own int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.steps[:len(s.steps):len(s.steps)], s.edits.All[:len(s.edits.All):len(s.edits.All)], s.edits.Count(of)
}

// logged returns all known edits of the log, the void ones among them.
func (s *session) logged() []ledger.Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.edits.Logged()
}

// small reports whether the outcome is appended to the edits: in a preset that
// works on every call, while the batch is not full and each original fits.
func (c *call) small(out *reduce.Outcome) bool {
	return !c.q.manual && c.res.Reason == trace.ReasonEveryCall && (c.s.shadow || !c.s.isVolatile()) && len(c.s.pending(c.q.owner()))+1 < editBatch &&
		!slices.ContainsFunc(c.changed(out), func(i int) bool { return c.s.tooLong(&c.history[i]) })
}

// tooLong reports whether a message is too long for a line of a log. It builds the
// line only for a large message, because escapes can make it up to six times as long.
func (s *session) tooLong(msg *message.Message) bool {
	return msg.Bytes() > record.MaxLogLine/8 && s.line(*msg).Len() > record.MaxLogLine
}

// appendEdits appends the outcome and its originals to the edits in one write,
// before the view is returned.
func (c *call) appendEdits(ctx context.Context, out *reduce.Outcome) error {
	started := c.m.now()
	c.took(out)
	step, lines, err := c.editLines(out)
	if err != nil {
		return err
	}
	w, err := c.s.log.Edits(ctx, lines)
	c.tellStored(c.editsStored(w, err, len(step.Evicted), started))
	c.telling.made = out
	if err != nil {
		return c.unappended(ctx, err, step)
	}
	c.s.audit.edited()
	step.Seq, step.Off = w.Seq, w.Off
	c.s.mu.Lock()
	c.s.learnEdit(step)
	c.s.mu.Unlock()
	if c.overtaken(ctx, w) && !c.lastAttempt {
		return errStale // the line was appended, and the next look reads it
	}
	c.rememberEdits(out, step.Seq)
	c.res.Archived = c.place([]record.Written{w.Written})
	err = c.tellEdits(ctx)
	c.res.Timing.Commit = c.m.now().Sub(started)
	return err
}

// editLines returns the lines to append for an outcome: the originals, and the
// line with their changes.
func (c *call) editLines(out *reduce.Outcome) (step ledger.Step, lines []redact.Text, err error) {
	at := c.changed(out)
	lines = c.s.lines(c.history, at)
	step = c.ledger(&run{}, out, 0)
	step.Archive, step.Seq = "", 0
	if step.Kind == ledger.KindTidy {
		step.Try = rand.Text()
	}
	for k, i := range at {
		sum := sha256.Sum256([]byte(lines[k].String()))
		is, _ := out.Conversation.Decision(i)
		step.Evicted = append(step.Evicted, ledger.Eviction{
			FP: c.s.sealed(c.history[i].Fingerprint()), Of: c.history[i].Fingerprint(), Len: int64(lines[k].Len()), SHA256: hex.EncodeToString(sum[:]), Is: is.String(),
		})
	}
	raw, err := json.Marshal(ledger.Edit{Edit: c.s.toStore(step)})
	return step, append(lines, c.s.redactor.Record(raw)), err
}

// unappended finishes a call whose edits the archive did not store, like
// unstored. In memory they are a step, and its number must not be one that
// another agent is about to commit.
func (c *call) unappended(ctx context.Context, why error, step ledger.Step) error {
	if err := c.archiveFailed(ctx, "edits", why); err != nil {
		return err
	}
	if err := c.s.committing.Lock(ctx); err != nil {
		return err
	}
	defer c.s.committing.Unlock()
	step.Step = c.s.next()
	c.s.addVolatile(step)
	c.settle(step.Step)
	return nil
}

// tellEdits writes the events of a call whose edits were appended, before the
// view is returned.
func (c *call) tellEdits(ctx context.Context) error {
	lines := c.stepLines(0)
	c.logStep()
	err := c.s.writeEvents(ctx, append(lines, c.takeEvents()...)...)
	c.settle(0)
	if err != nil {
		return c.archiveFailed(ctx, "events", err)
	}
	return nil
}

// overtaken reports whether others appended edits of this lane that the
// decision has not seen. It reads the log if there is a gap before the call's
// own line.
func (c *call) overtaken(ctx context.Context, w record.EditsWritten) bool {
	c.s.mu.Lock()
	gap := w.Off > c.s.edits.End
	c.s.edits.End = max(c.s.edits.End, w.Off+w.Bytes)
	c.s.mu.Unlock()
	if gap && c.s.readEdits(ctx) != nil {
		return false // the next refresh reads them
	}
	_, _, own := c.s.record(c.q.owner())
	return own != c.lane.memo.edits+1
}

// editsStored returns the archival of originals that were appended.
func (c *call) editsStored(w record.EditsWritten, err error, count int, started time.Time) *archival {
	p := trace.Archival{
		SessionID: c.id, ArchivedCount: count, Bytes: w.Bytes, StorageAdapter: c.m.adapter(), ManifestHead: c.s.log.ManifestHead(),
	}
	if err != nil {
		unarchived(&p, err)
	} else {
		p.FilePath, p.S3Key = place(w.Written)
		p.ReadWith = c.readWith(w.Written)
	}
	ended := c.m.now()
	c.res.Timing.Archive = ended.Sub(started)
	return &archival{p, started, ended}
}

// taken returns the input messages that the step covers: messages that the run edited
// or removed, and messages that calls edited or removed since the previous step.
func (c *call) taken(out *reduce.Outcome) []int {
	before := map[message.Fingerprint]bool{}
	for _, e := range c.s.pending(c.q.owner()) {
		for i := range e.Evicted {
			before[e.Evicted[i].Of] = true
		}
	}
	at := []int{}
	for i := range c.history {
		was, _ := c.now.conv.Decision(i)
		is, _ := out.Conversation.Decision(i)
		if is != was || is != policy.Kept && before[c.history[i].Fingerprint()] {
			at = append(at, i)
		}
	}
	return at
}
