package compact

import (
	"context"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/turnindex"
)

// indexRef is the turn index of a step, and the first step that it covers.
type indexRef struct {
	File  string `json:"file"`
	First int    `json:"first"`
}

// row is one message of one file, for an index.
type row struct {
	role  message.Role
	parts []message.Part      // only their kinds are used
	fp    message.Fingerprint // sealed
	refs  [][6]byte
	turn  uint32 // 0 = none
	shown turnindex.Shown
	file  string // file with the line
	at    span   // place in file
	ours  bool   // a placeholder, notice or summary, which is no part of its turn
	want  bool   // the index must find its fingerprint and parts
}

func (s *session) rowOf(m *message.Message, at *storedLine, want bool) row {
	r := row{role: m.Role, parts: m.Parts, fp: s.sealed(m.Fingerprint()), file: at.file, at: at.span, want: want}
	if !want {
		return r // spares hashing the parts
	}
	for _, p := range m.Parts {
		fp := s.sealed(p.Fingerprint())
		r.refs = append(r.refs, [6]byte(fp[:6]))
	}
	return r
}

// slotOf returns the slot in its turn of a part of a message.
func slotOf(role message.Role, p *message.Part) turnindex.Slot {
	switch {
	case p.Kind == message.KindReasoning:
		return turnindex.Reasoning
	case p.Kind == message.KindToolResult, role == message.RoleTool:
		return turnindex.Observation
	case role == message.RoleAssistant:
		return turnindex.Action
	case role == message.RoleUser:
		return turnindex.Request
	}
	return turnindex.Other
}

// addRows adds the rows of one transcript to an index. If any message of a turn is
// wanted, the whole turn is added, so that one lookup finds all of it. A turn of
// which a part is only in another transcript is not added.
func addRows(set *turnindex.Set, rows []row) error {
	wanted, hidden := map[uint32]bool{}, map[uint32]bool{}
	for i := range rows {
		wanted[rows[i].turn] = wanted[rows[i].turn] || rows[i].want
		hidden[rows[i].turn] = hidden[rows[i].turn] || rows[i].ours
	}
	ord := map[turnSlot]int{}
	for i := range rows {
		r := &rows[i]
		if t := r.turn; t != 0 && wanted[t] && !hidden[t] {
			if err := addAll(set, r.turnRecords(ord)); err != nil {
				return err
			}
		}
		if r.want {
			if err := addAll(set, r.records()); err != nil {
				return err
			}
		}
	}
	return nil
}

// turnSlot is the key by which messages of a turn are counted.
type turnSlot struct {
	turn uint32
	slot turnindex.Slot
}

// turnRecords returns a record for each slot of its turn that the message
// occupies.
func (r *row) turnRecords(ord map[turnSlot]int) (out []turnindex.Record) {
	var seen [turnindex.Observation + 1]bool
	for p := range r.parts {
		slot := slotOf(r.role, &r.parts[p])
		if seen[slot] {
			continue
		}
		seen[slot] = true
		at := turnSlot{r.turn, slot}
		out = append(out, r.record(turnindex.Turn(r.turn), slot, ord[at]))
		ord[at]++
	}
	return out
}

// records returns the records of the message and its parts.
func (r *row) records() []turnindex.Record {
	out := []turnindex.Record{r.record(turnindex.Message(r.fp), turnindex.Other, 0)}
	for p := range min(len(r.parts), len(r.refs)) {
		out = append(out, r.record(turnindex.Part(r.refs[p]), slotOf(r.role, &r.parts[p]), p))
	}
	return out
}

func (r *row) record(key turnindex.Key, slot turnindex.Slot, ord int) turnindex.Record {
	return turnindex.Record{Key: key, Slot: slot, Shown: r.shown, Ord: ord, File: r.file, Off: r.at.off, Len: r.at.len}
}

// shownAs returns how the view shows a message with this decision.
func shownAs(decision string) turnindex.Shown {
	switch decision {
	case policy.Truncated.String():
		return turnindex.Truncated
	case policy.Masked.String():
		return turnindex.Masked
	case policy.Summarized.String():
		return turnindex.Summarized
	case policy.Dropped.String():
		return turnindex.Dropped
	}
	return turnindex.InFull
}

// index creates the turn index of the step, which includes the indexes that it
// replaces, and adds it and the removed messages to the ledger.
func (c *call) index(ctx context.Context, r *run, out *policy.Outcome, step *ledgerStep) (*turnindex.Set, error) {
	set := &turnindex.Set{}
	err := c.m.computeNow(func() error {
		n := c.s.number(c.history, c.q.owner(), c.ep.engine.Pins)
		step.Turns, step.Evicted = n.ledger(out.Conversation, c.outChain), c.evicted(r, out, n)
		return c.fillIndex(set, r, out, n, step.Step)
	})
	if err != nil {
		return nil, err
	}
	step.Index = &indexRef{First: c.s.merge(ctx, set, step.Step)}
	return set, nil
}

// fillIndex adds to the turn index the messages that are new since the previous
// step or shown differently.
func (c *call) fillIndex(set *turnindex.Set, r *run, out *policy.Outcome, n *numbered, step int) error {
	changed := map[int]bool{}
	for _, i := range c.taken(out) {
		changed[i] = true
	}
	at := r.stored.places()
	rows := make([]row, 0, len(at))
	for i := range c.history {
		where, ok := at[i]
		if !ok {
			continue
		}
		row := c.s.rowOf(&c.history[i], where, i >= n.fresh || changed[i])
		d, _ := out.Conversation.Decision(i)
		row.turn, row.shown = n.turn(i), shownAs(d.String())
		row.ours = c.s.ours(&c.history[i], c.history[i].Fingerprint())
		rows = append(rows, row)
	}
	set.Cover(step, step)
	return addRows(set, rows)
}

// maxMerge limits the number of steps that one index covers.
const maxMerge = 1024

// merge adds the indexes of earlier steps to that of a step. It covers as many
// steps as the largest power of two that divides the step's number, at most
// maxMerge. So a session of n steps has about log2 n indexes to search, up to
// maxMerge steps, and each record is rewritten at most that often. It returns the
// first step that the set covers. An unreadable index is left in place, and ends
// the merge.
func (s *session) merge(ctx context.Context, set *turnindex.Set, step int) (first int) {
	steps := s.snapshot()
	first = step
	for lowest := step - min(step&-step, maxMerge) + 1; first > lowest; {
		ref := steps[first-2].Index
		if ref == nil || ref.First < 1 || ref.First >= first {
			break
		}
		records, err := s.recordsOf(ctx, ref.File)
		if err != nil || addAll(set, records) != nil {
			break
		}
		s.forgetTable(ref.File) // reopened if it is needed
		first = ref.First
		set.Cover(first, step)
	}
	return first
}

func (s *session) forgetTable(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tables, name)
}

func addAll(set *turnindex.Set, records []turnindex.Record) error {
	for _, r := range records {
		if err := set.Add(r); err != nil {
			return err
		}
	}
	return nil
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
	n := s.number(history, owner{}, policy.Pins(m.cfg.Policy.RolesNeverPrune))
	rows := make([]row, len(history))
	for i := range history {
		rows[i] = s.rowOf(&history[i], &written.lines[i], true)
		rows[i].turn = n.turn(i)
		rows[i].ours = s.ours(&history[i], history[i].Fingerprint())
	}
	set := &turnindex.Set{}
	if err := addRows(set, rows); err != nil {
		return err
	}
	_, err := s.log.FinalIndex(ctx, w, set)
	return err
}
