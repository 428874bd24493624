package compact

import (
	"context"
	"encoding/hex"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/turnindex"
)

func (s *session) rowOf(m *message.Message, at *storedLine, want bool) ledger.Row {
	r := ledger.Row{Role: m.Role, Parts: m.Parts, FP: s.sealed(m.Fingerprint()), File: at.file, Off: at.off, Len: at.len, Want: want}
	if !want {
		return r // spares hashing the parts
	}
	for _, p := range m.Parts {
		fp := s.sealed(p.Fingerprint())
		r.Refs = append(r.Refs, [6]byte(fp[:6]))
	}
	return r
}

// index creates the turn index of the step, which includes the indexes that it
// replaces, and adds it and the removed messages to the ledger.
func (c *call) index(ctx context.Context, r *run, out *reduce.Outcome, step *ledger.Step) (*turnindex.Set, error) {
	set := &turnindex.Set{}
	err := c.m.computeNow(func() error {
		n := c.s.number(c.history, c.q.owner(), c.ep.engine.Pins)
		step.Turns, step.Evicted = n.ledger(out.Conversation, c.outChain), c.evicted(r, out, n)
		return c.fillIndex(set, r, out, n, step.Step)
	})
	if err != nil {
		return nil, err
	}
	step.Index = &ledger.IndexRef{First: c.s.merge(ctx, set, step.Step)}
	return set, nil
}

// fillIndex adds messages to the turn index: those that came after the previous step, and
// those whose form in the view has changed since then.
func (c *call) fillIndex(set *turnindex.Set, r *run, out *reduce.Outcome, n *numbered, step int) error {
	changed := map[int]bool{}
	for _, i := range c.taken(out) {
		changed[i] = true
	}
	at := r.stored.places(r.archive())
	rows := make([]ledger.Row, 0, len(at))
	for i := range c.history {
		where, ok := at[i]
		if !ok {
			continue
		}
		row := c.s.rowOf(&c.history[i], where, i >= n.fresh || changed[i])
		d, _ := out.Conversation.Decision(i)
		row.Turn, row.Shown = n.turn(i), ledger.ShownAs(d.String())
		row.Ours = c.s.reads.Ours(&c.history[i], c.history[i].Fingerprint())
		rows = append(rows, row)
	}
	set.Cover(step, step)
	return ledger.AddRows(set, rows)
}

// maxMerge limits the number of steps that one index covers.
const maxMerge = 1024

// merge adds the indexes of earlier steps to the index of a step. It covers as many
// steps as the largest power of four that divides the step's number, at most maxMerge.
// So a session of n steps, if n is at most maxMerge, has at most 3 log4 n indexes to
// search, and each record is written at most 1 + log4 n times. It returns the first step
// that the set covers. An unreadable index is left in place, and ends the merge.
func (s *session) merge(ctx context.Context, set *turnindex.Set, step int) (first int) {
	steps := s.snapshot()
	first = step
	for lowest := step - width(step) + 1; first > lowest; {
		ref := steps[first-2].Index
		if ref == nil || ref.First < 1 || ref.First >= first {
			break
		}
		records, err := s.recordsOf(ctx, ref.File)
		if err != nil || ledger.AddRecords(set, records) != nil {
			break
		}
		s.reads.Forget(ref.File)
		first = ref.First
		set.Cover(first, step)
	}
	return first
}

// width returns the number of steps that the index of a step should cover.
func width(step int) int {
	w := 1
	for step%(4*w) == 0 && w < maxMerge {
		w *= 4
	}
	return w
}

// indexAtOnce is the maximum size in bytes of an index that is read in one
// request.
const indexAtOnce = 4 << 20

func (s *session) recordsOf(ctx context.Context, name string) ([]turnindex.Record, error) {
	data, err := s.log.Read(ctx, name, 0, indexAtOnce+1)
	if err != nil {
		return nil, err
	}
	src := turnindex.Bytes(data)
	if len(data) > indexAtOnce {
		src = func(ctx context.Context, off, n int64) ([]byte, error) { return s.log.Read(ctx, name, off, n) }
	}
	table, err := turnindex.Open(ctx, src)
	if err != nil {
		return nil, err
	}
	var out []turnindex.Record
	for r, err := range table.All(ctx) {
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// writeFinalIndex stores the turn index of a final transcript.
func (m *CompactManager) writeFinalIndex(ctx context.Context, s *session, history []message.Message, written stored, w record.Written) error {
	n := s.number(history, ledger.Owner{}, policy.Pins(m.cfg.Policy.RolesNeverPrune))
	rows := make([]ledger.Row, len(history))
	for i := range history {
		rows[i] = s.rowOf(&history[i], &written.lines[i], true)
		rows[i].Turn = n.turn(i)
		rows[i].Ours = s.reads.Ours(&history[i], history[i].Fingerprint())
	}
	set := &turnindex.Set{}
	if err := ledger.AddRows(set, rows); err != nil {
		return err
	}
	_, err := s.log.FinalIndex(ctx, w, set)
	return err
}

// evicted returns the messages that the step edited or removed.
func (c *call) evicted(r *run, out *reduce.Outcome, n *numbered) []ledger.Eviction {
	at := r.stored.places(r.archive())
	var all []ledger.Eviction
	var of []int
	for _, i := range c.taken(out) {
		p, ok := at[i]
		if !ok {
			continue
		}
		is, _ := out.Conversation.Decision(i)
		all = append(all, ledger.Eviction{
			FP: c.s.sealed(c.history[i].Fingerprint()), Of: c.history[i].Fingerprint(), File: elsewhere(p.file, r.archive()), Off: p.off, Len: p.len,
			SHA256: hex.EncodeToString(p.sum[:]), Is: is.String(), Turn: n.turn(i),
		})
		of = append(of, i)
	}
	c.cited(all, of, out)
	return all
}

// cited sets the numbers by which a summary cites its messages. It sets no numbers if
// the summary was written from more or fewer messages.
func (c *call) cited(all []ledger.Eviction, of []int, out *reduce.Outcome) {
	info := summaryOf(out)
	if info == nil || info.First < 1 {
		return
	}
	var fresh []int
	for k, i := range of {
		was, _ := c.now.conv.Decision(i)
		if is, _ := out.Conversation.Decision(i); is == policy.Summarized && was != policy.Summarized {
			fresh = append(fresh, k)
		}
	}
	if len(fresh) != info.Input {
		return
	}
	for n, k := range fresh {
		all[k].Number = uint32(info.First + n)
	}
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
