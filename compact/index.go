package compact

import (
	"context"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/turnindex"
)

// indexRef is the turn index of a step, and the first step that it covers.
type indexRef struct {
	File  string `json:"file"`
	First int    `json:"first"`
}

// row is what an index is made of: one message of one file.
type row struct {
	role  message.Role
	parts []message.Part      // their kinds
	fp    message.Fingerprint // sealed
	refs  [][6]byte
	turn  uint32 // 0 = none
	shown turnindex.Shown
	file  string // that has it
	at    span   // in file
	ours  bool   // a placeholder, notice or summary: it is no part of its turn
	want  bool   // its fingerprint and parts are to be found by this index
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

// slotOf says which part of its turn a part of a message is.
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

// addRows adds the rows of one transcript to an index. A turn is added whole where
// any of it is wanted, so that one look finds all of it; one of which a part
// stands in another transcript only stays there.
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

// turnSlot is what messages of a turn are counted by.
type turnSlot struct {
	turn uint32
	slot turnindex.Slot
}

// turnRecords returns a record for each slot of its turn that the message
// fills.
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

// records returns what the message and its parts are found by.
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

// shownAs is how the view shows what was decided so.
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

// index makes the turn index of the step, with what the indexes hold that it takes the
// place of, and tells the ledger of it and of what the step took out.
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

// fillIndex puts into the turn index of the step what is new since the step
// before, or shown otherwise.
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

// maxMerge bounds how many steps one index covers.
const maxMerge = 1024

// merge adds to the index of a step what the indexes of the steps before it
// hold: of as many steps as the largest power of two divides its number. So a
// session of n steps is searched in at most log2 n indexes, and each record is
// written again at most so often. It returns the first step that the set
// covers. An index that can't be read is left where it is.
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
		s.forgetTable(ref.File) // whoever needs it after all opens it again
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

// indexAtOnce is what an index may have to be read whole, in one request.
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
func (m *CompactManager) writeFinalIndex(ctx context.Context, s *session, history []message.Message, written stored, w storage.Written) error {
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
