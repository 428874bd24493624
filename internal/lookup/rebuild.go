package lookup

import (
	"context"
	"errors"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/turnindex"
)

// rebuild recreates the turn index of a step in memory, from its transcript and
// its ledger. The archive is not changed. A step without its transcript gets an
// empty index.
func (s *Session) rebuild(ctx context.Context, step *ledger.Step) (*turnindex.Table, error) {
	s.mu.Lock()
	table := s.rebuilt[step.Step]
	s.mu.Unlock()
	if table != nil {
		return table, nil
	}
	rows, err := s.rowsOf(ctx, step)
	if err != nil {
		return nil, err
	}
	set := &turnindex.Set{}
	set.Cover(step.Step, step.Step)
	if err := ledger.AddRows(set, rows); err != nil {
		return nil, err
	}
	raw := set.Encode()
	if table, err = turnindex.Open(ctx, turnindex.Bytes(raw)); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if other := s.rebuilt[step.Step]; other != nil {
		return other, nil
	}
	s.rebuilt[step.Step] = table
	s.rebuiltWeight += int64(len(raw))
	return table, nil
}

// rowsOf reads the rows of a step's transcript. It marks all rows as wanted, because
// only the lost index knew which rows were new.
func (s *Session) rowsOf(ctx context.Context, step *ledger.Step) ([]ledger.Row, error) {
	var rows []ledger.Row
	var msgs []message.Message
	for line, err := range s.log.Whole(ctx, step.Archive) {
		if errors.Is(err, storage.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		a, err := ledger.ParseLine(append([]byte(nil), line.Text...))
		if err != nil {
			a.Message = message.Message{}
		}
		r := ledger.Row{Role: a.Message.Role, File: line.File, Off: line.Off, Len: int64(len(line.Text)), Want: true, Refs: a.RawRefs()}
		_ = r.FP.UnmarshalText([]byte(a.FP)) // the parts of a line without a fingerprint can still be found
		with, _ := s.book.Ring().ByID(step.Key)
		r.Ours = s.Ours(&a.Message, message.Fingerprint(with.Open(r.FP)))
		for i := range a.Message.Parts {
			r.Parts = append(r.Parts, message.Part{Kind: a.Message.Parts[i].Kind, CallID: a.Message.Parts[i].CallID, Name: a.Message.Parts[i].Name})
		}
		rows, msgs = append(rows, r), append(msgs, message.Message{Role: a.Message.Role, Parts: r.Parts})
	}
	complete(step, rows, msgs)
	return rows, nil
}

// complete adds the data of the ledger: turn numbers, and how the view shows
// the messages that the step edited or removed.
func complete(step *ledger.Step, rows []ledger.Row, msgs []message.Message) {
	if step.Turns != nil && !record.IsOriginals(step.Archive) {
		of, _ := ledger.TurnsOf(msgs)
		for i := range rows {
			rows[i].Turn, _ = step.Turns.History.At(of[i])
		}
	}
	at := step.Evictions()
	for i := range rows {
		if e := at[ledger.Place{File: rows[i].File, Off: rows[i].Off}]; e != nil {
			rows[i].Shown, rows[i].Turn = ledger.ShownAs(e.Is), e.Turn
		}
	}
}
