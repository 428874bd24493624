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

// fitsEdits reports whether the outcome is appended to the edits: in a preset that
// works on every call, while the batch is not full and each original fits.
func (c *call) fitsEdits(out *reduce.Outcome) bool {
	return !c.q.manual && c.res.Reason == trace.ReasonEveryCall && (c.s.shadow || !c.s.isVolatile()) && len(c.s.pending(c.q.owner()))+1 < editBatch &&
		!slices.ContainsFunc(c.changed(out), func(i int) bool { return c.s.tooLong(&c.history[i]) })
}

// tooLong reports whether a message is too long for a line of a log. It builds the
// line only for a large message, because escapes can make it up to six times as long.
func (s *session) tooLong(msg *message.Message) bool {
	return msg.Bytes() > record.MaxLogLine/8 && record.Original(s.line(*msg)).Len() > record.MaxLogLine
}

// appendEdits appends the outcome and its originals to the edits in one write,
// before the view is returned.
func (c *call) appendEdits(ctx context.Context, out *reduce.Outcome) error {
	started := c.m.now()
	c.fillResult(out)
	step, lines, err := c.editLines(out)
	if err != nil {
		return err
	}
	w, err := c.s.appendLines(ctx, lines)
	c.tellStored(c.editsStored(w, err, len(step.Evicted), started))
	c.telling.made = out
	if err != nil {
		return c.unappended(ctx, err, step)
	}
	step.Appended(w)
	c.s.mu.Lock()
	c.s.learnEdit(step)
	c.s.mu.Unlock()
	if c.wasOvertaken(ctx, w) && !c.lastAttempt {
		return errStale // the line was appended, and the next look reads it
	}
	c.rememberEdits(out, step.Seq)
	c.res.Archived = c.place([]record.Written{w.Written})
	err = c.tellEdits(ctx)
	c.res.Timing.Commit = c.m.since(started)
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
		lines[k] = record.Original(lines[k])
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

// wasOvertaken reports whether others appended edits of this lane that the
// decision has not seen. It reads the log if there is a gap before the call's
// own line.
func (c *call) wasOvertaken(ctx context.Context, w record.EditsWritten) bool {
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
	c.res.Timing.Archive = max(0, ended.Sub(started))
	return &archival{p, started, ended}
}
