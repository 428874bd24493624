package ledger

import (
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage/turnindex"
)

// A Row is one message of one file, for a turn index.
type Row struct {
	Role  message.Role
	Parts []message.Part      // only their kinds are used
	FP    message.Fingerprint // sealed
	Refs  [][6]byte
	Turn  uint32 // 0 = none
	Shown turnindex.Shown
	File  string // file with the line
	Off   int64  // place of the line in the file
	Len   int64  // its length in bytes, without the line feed
	Ours  bool   // a placeholder, notice or summary, which is not part of its turn
	Want  bool   // the index must find its fingerprint and parts
}

// SlotOf returns the slot in its turn of a part of a message.
func SlotOf(role message.Role, p *message.Part) turnindex.Slot {
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

// AddRows adds the rows of one transcript to an index. If any message of a turn is
// wanted, the whole turn is added, so that one lookup finds all of it. A turn is not
// added if a part of it is only in another transcript.
func AddRows(set *turnindex.Set, rows []Row) error {
	wanted, hidden := map[uint32]bool{}, map[uint32]bool{}
	for i := range rows {
		wanted[rows[i].Turn] = wanted[rows[i].Turn] || rows[i].Want
		hidden[rows[i].Turn] = hidden[rows[i].Turn] || rows[i].Ours
	}
	ord := map[turnSlot]int{}
	for i := range rows {
		r := &rows[i]
		if t := r.Turn; t != 0 && wanted[t] && !hidden[t] {
			if err := AddRecords(set, r.turnRecords(ord)); err != nil {
				return err
			}
		}
		if r.Want {
			if err := AddRecords(set, r.records()); err != nil {
				return err
			}
		}
	}
	return nil
}

// AddRecords adds records to an index.
func AddRecords(set *turnindex.Set, records []turnindex.Record) error {
	for _, r := range records {
		if err := set.Add(r); err != nil {
			return err
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
func (r *Row) turnRecords(ord map[turnSlot]int) (out []turnindex.Record) {
	var seen [turnindex.Observation + 1]bool
	for p := range r.Parts {
		slot := SlotOf(r.Role, &r.Parts[p])
		if seen[slot] {
			continue
		}
		seen[slot] = true
		at := turnSlot{r.Turn, slot}
		out = append(out, r.record(turnindex.Turn(r.Turn), slot, ord[at]))
		ord[at]++
	}
	return out
}

// records returns the records of the message and its parts.
func (r *Row) records() []turnindex.Record {
	out := []turnindex.Record{r.record(turnindex.Message(r.FP), turnindex.Other, 0)}
	for p := range min(len(r.Parts), len(r.Refs)) {
		out = append(out, r.record(turnindex.Part(r.Refs[p]), SlotOf(r.Role, &r.Parts[p]), p))
	}
	return out
}

func (r *Row) record(key turnindex.Key, slot turnindex.Slot, ord int) turnindex.Record {
	return turnindex.Record{Key: key, Slot: slot, Shown: r.Shown, Ord: ord, File: r.File, Off: r.Off, Len: r.Len}
}

// ShownAs returns how the view shows a message with this decision.
func ShownAs(decision string) turnindex.Shown {
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
