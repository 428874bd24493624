package compact

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
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

// editPrefix is the beginning of the lines of edits.jsonl that are not
// originals.
const editPrefix = `{"edit":`

// edit is a line of edits.jsonl that describes changes.
type edit struct {
	Edit ledgerStep `json:"edit"`
}

// edits holds what a session has read of edits.jsonl.
type edits struct {
	all  []ledgerStep // in the order of the log
	read int64        // bytes of the log that were read
	end  int64        // end of the log when this process last read or wrote it
	of   map[owner]int
	void map[voided]bool // edits that lost a race, see tidied
}

// learnEdit adds the edits of one call; the caller holds s.mu.
func (s *session) learnEdit(e ledgerStep) {
	if s.isVoid(&e) {
		return
	}
	all := s.edits.all
	at := sort.Search(len(all), func(i int) bool { return all[i].seq >= e.seq })
	if at < len(all) && all[at].seq == e.seq {
		return
	}
	if at < len(all) {
		all = slices.Clone(all) // others can be reading the old slice
	}
	s.edits.all = slices.Insert(all, at, e)
	if s.edits.of == nil {
		s.edits.of = map[owner]int{}
	}
	s.edits.of[e.owner()]++
	s.stepsWeight += weighStep(&e)
	for i := range e.Recipes {
		s.learnTexts(e.Recipes[i].Texts)
	}
}

// readEdits reads what others have appended since the last read.
func (s *session) readEdits(ctx context.Context) error {
	s.mu.Lock()
	from := s.edits.read
	s.mu.Unlock()
	var fresh []ledgerStep
	first := from
	read := newLedgerReader()
	for l, err := range s.log.EditsLines(ctx, from) {
		if err != nil {
			return err
		}
		if !l.Changed && !bytes.HasPrefix(l.Body, []byte(editPrefix)) {
			continue
		}
		var e edit
		if l.Changed || read.edit(l.Body, &e) != nil {
			s.noteChange(&storage.ChangedError{File: "edits.jsonl", Detail: fmt.Sprintf("line %d is another", l.Seq)})
			if bytes.HasPrefix(l.Body, []byte(editPrefix)) {
				first = l.End
			}
			continue
		}
		s.unseal(&e.Edit)
		e.Edit.seq, e.Edit.off = l.Seq, first
		fresh, first = append(fresh, e.Edit), l.End
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range fresh {
		s.learnEdit(e)
	}
	end := from // originals whose line is not written yet
	if len(fresh) > 0 {
		end = first
	}
	s.edits.read = max(s.edits.read, end)
	s.edits.end = max(s.edits.end, end)
	return nil
}

// course returns the steps of a lane and the edits between them, in order. A
// step records the number of the last edit before it.
func (s *session) course(of owner) []*ledgerStep {
	steps, all, _ := s.record(of)
	var out []*ledgerStep
	k := 0
	until := func(seq int64) {
		for ; k < len(all) && all[k].seq <= seq; k++ {
			if all[k].owner() == of {
				out = append(out, &all[k])
			}
		}
	}
	for i := range steps {
		if steps[i].owner() == of {
			until(steps[i].Edits)
			out = append(out, &steps[i])
		}
	}
	if len(all) > 0 {
		until(all[len(all)-1].seq)
	}
	return out
}

// pending returns the edits of a lane that no step has archived, oldest first.
func (s *session) pending(of owner) []ledgerStep {
	steps, all, _ := s.record(of)
	after := int64(0)
	for i := len(steps) - 1; i >= 0; i-- {
		if steps[i].owner() == of {
			after = steps[i].Edits
			break
		}
	}
	var out []ledgerStep
	for i := len(all) - 1; i >= 0 && all[i].seq > after; i-- {
		if all[i].owner() == of {
			out = append(out, all[i])
		}
	}
	slices.Reverse(out)
	return out
}

// lastEdit returns the number of the newest known edit.
func (s *session) lastEdit() int64 {
	_, all, _ := s.record(owner{})
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1].seq
}

// record returns the known steps and edits, which are immutable, and the number
// of edits of a lane.
func (s *session) record(of owner) (steps, all []ledgerStep, own int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.steps[:len(s.steps):len(s.steps)], s.edits.all[:len(s.edits.all):len(s.edits.all)], s.edits.of[of]
}

// small reports whether the outcome is appended to the edits: in a preset that
// works on every call, while the batch is not full and each original fits.
func (c *call) small(out *policy.Outcome) bool {
	return !c.q.manual && c.res.Reason == trace.ReasonEveryCall && (c.s.shadow || !c.s.isVolatile()) && len(c.s.pending(c.q.owner()))+1 < editBatch &&
		!slices.ContainsFunc(c.changed(out), func(i int) bool { return c.s.tooLong(&c.history[i]) })
}

// tooLong reports whether a message is no line of a log. It writes the line only of a
// large message, which escapes can make up to six times as long.
func (s *session) tooLong(msg *message.Message) bool {
	return msg.Bytes() > record.MaxLogLine/8 && s.line(*msg).Len() > record.MaxLogLine
}

// appendEdits appends the outcome and its originals to the edits in one write,
// before the view is returned.
func (c *call) appendEdits(ctx context.Context, out *policy.Outcome) error {
	started := c.m.now()
	c.took(out)
	step, lines, err := c.editLines(out)
	if err != nil {
		return err
	}
	w, err := c.s.log.Edits(ctx, lines)
	c.hold(c.editsEvent(w, err, len(step.Evicted), started))
	c.telling.outcome = func(step int) []trace.Event { return c.outcomeEvents(out, record.Written{}, step) }
	if err != nil {
		return c.unappended(ctx, err, step)
	}
	step.seq, step.off = w.Seq, w.Off
	c.s.mu.Lock()
	c.s.learnEdit(step)
	c.s.mu.Unlock()
	if c.overtaken(ctx, w) && !c.lastAttempt {
		return errStale // the line was appended, and the next look reads it
	}
	c.rememberEdits(out, step.seq)
	c.res.Archived = c.place([]record.Written{w.Written})
	err = c.tellEdits(ctx)
	c.res.Timing.Commit = c.m.now().Sub(started)
	return err
}

// editLines returns the lines to append for an outcome: the originals, and the
// line with their changes.
func (c *call) editLines(out *policy.Outcome) (step ledgerStep, lines []redact.Text, err error) {
	at := c.changed(out)
	lines = c.s.lines(c.history, at)
	step = c.ledger(&run{}, out, 0)
	step.Archive, step.seq = "", 0
	for k, i := range at {
		sum := sha256.Sum256([]byte(lines[k].String()))
		is, _ := out.Conversation.Decision(i)
		step.Evicted = append(step.Evicted, eviction{
			FP: c.s.sealed(c.history[i].Fingerprint()), of: c.history[i].Fingerprint(), Len: int64(lines[k].Len()), SHA256: hex.EncodeToString(sum[:]), Is: is.String(),
		})
	}
	raw, err := json.Marshal(edit{c.s.toStore(step)})
	return step, append(lines, c.s.redactor.Record(raw)), err
}

// unappended finishes a call whose edits the archive did not store, as unstored
// does. In memory they are a step, whose number must not be one that another
// agent is about to commit.
func (c *call) unappended(ctx context.Context, why error, step ledgerStep) error {
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
	gap := w.Off > c.s.edits.end
	c.s.edits.end = max(c.s.edits.end, w.Off+w.Bytes)
	c.s.mu.Unlock()
	if gap && c.s.readEdits(ctx) != nil {
		return false // the next refresh reads them
	}
	_, _, own := c.s.record(c.q.owner())
	return own != c.lane.memo.edits+1
}

// editsEvent returns the event of originals that were appended.
func (c *call) editsEvent(w record.EditsWritten, err error, count int, started time.Time) func(int) trace.Event {
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
	return func(step int) trace.Event {
		p.Step = step
		return c.eventAt(p, started, ended)
	}
}

// taken returns the input messages that the step covers: those that the run
// edited or removed, and those of calls since the previous step.
func (c *call) taken(out *policy.Outcome) []int {
	before := map[message.Fingerprint]bool{}
	for _, e := range c.s.pending(c.q.owner()) {
		for i := range e.Evicted {
			before[e.Evicted[i].of] = true
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

// findInEdits looks for a reference among the originals that no step has
// archived.
func (s *session) findInEdits(ctx context.Context, q reference) (string, bool, error) {
	if q.query.IsTurn() {
		return "", false, nil // the lines hold no turn numbers
	}
	from, found := s.firstPending()
	if !found {
		return "", false, nil
	}
	for l, err := range s.log.EditsLines(ctx, from) {
		if err != nil {
			return "", false, err
		}
		if l.Changed || bytes.HasPrefix(l.Body, []byte(editPrefix)) {
			continue
		}
		if text, ok := inLine(l.Body, q.text); ok {
			return text, true, nil
		}
	}
	return "", false, nil
}

// firstPending returns the offset of the first original that no step has
// archived under the reference that was shown. Originals sealed with another key
// are only in the edits.
func (s *session) firstPending() (off int64, found bool) {
	_, all, _ := s.record(owner{})
	seen := map[owner]bool{}
	for i := range all {
		if all[i].Key != s.ring().Current().ID() && (!found || all[i].off < off) {
			off, found = all[i].off, true
		}
		of := all[i].owner()
		if seen[of] {
			continue
		}
		seen[of] = true
		if p := s.pending(of); len(p) > 0 && (!found || p[0].off < off) {
			off, found = p[0].off, true
		}
	}
	return off, found
}

// EditRefs returns the SHA-256 and the fingerprint of each original that a line
// of edits.jsonl refers to. It reports false for a line that holds an original.
// It is for [record.VerifyOptions].
func EditRefs(line []byte) (refs []record.Ref, ok bool, err error) {
	if !bytes.HasPrefix(line, []byte(editPrefix)) {
		return nil, false, nil
	}
	var e edit
	if err := newLedgerReader().edit(line, &e); err != nil {
		return nil, true, err
	}
	for _, o := range e.Edit.Evicted {
		refs = append(refs, record.Ref{SHA256: o.SHA256, ID: o.FP.String()})
	}
	return refs, true, nil
}
