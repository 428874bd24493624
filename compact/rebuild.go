package compact

import (
	"context"
	"errors"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/turnindex"
)

// rebuild recreates the turn index of a step in memory, from its transcript and
// its ledger. The archive is not changed. A step without its transcript gets an
// empty index.
func (s *session) rebuild(ctx context.Context, step *ledgerStep) (*turnindex.Table, error) {
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
	if err := addRows(set, rows); err != nil {
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

// rowsOf reads the rows of a step's transcript. It marks all as wanted, because
// only the lost index knew which were new.
func (s *session) rowsOf(ctx context.Context, step *ledgerStep) ([]row, error) {
	var rows []row
	var msgs []message.Message
	for line, err := range s.log.Whole(ctx, step.Archive) {
		if errors.Is(err, storage.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		a, err := readLine(append([]byte(nil), line.Text...))
		if err != nil {
			a.msg = message.Message{}
		}
		r := row{role: a.msg.Role, file: line.File, at: span{line.Off, int64(len(line.Text))}, want: true, refs: a.parsedRefs()}
		_ = r.fp.UnmarshalText([]byte(a.fp)) // a line without a fingerprint is found by its parts
		with, _ := s.ring().ByID(step.Key)
		r.ours = s.ours(&a.msg, message.Fingerprint(with.Open(r.fp)))
		for i := range a.msg.Parts {
			r.parts = append(r.parts, message.Part{Kind: a.msg.Parts[i].Kind, CallID: a.msg.Parts[i].CallID, Name: a.msg.Parts[i].Name})
		}
		rows, msgs = append(rows, r), append(msgs, message.Message{Role: a.msg.Role, Parts: r.parts})
	}
	step.complete(rows, msgs)
	return rows, nil
}

func (a *archived) parsedRefs() [][6]byte {
	out := make([][6]byte, len(a.refs))
	for i, r := range a.refs {
		q := []byte(r + "000000000000")[:12]
		for k := range out[i] {
			out[i][k] = hexByte(q[2*k])<<4 | hexByte(q[2*k+1])
		}
	}
	return out
}

func hexByte(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	}
	return 0
}

// complete adds the data of the ledger: turn numbers, and how the view shows
// the messages that the step edited or removed.
func (step *ledgerStep) complete(rows []row, msgs []message.Message) {
	if step.Turns != nil && !record.IsOriginals(step.Archive) {
		of, _ := turnsOf(msgs)
		for i := range rows {
			rows[i].turn, _ = step.Turns.History.at(of[i])
		}
	}
	at := step.evictions()
	for i := range rows {
		if e := at[lineAt{rows[i].file, rows[i].at.off}]; e != nil {
			rows[i].shown, rows[i].turn = shownAs(e.Is), e.Turn
		}
	}
}
