package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// ReadEdits returns the edits in a session's edits.jsonl from an offset on, and the
// offset after the last edit. It calls changed for lines that differ from the stored
// ones, and leaves these lines out.
func ReadEdits(ctx context.Context, log *record.Session, from int64, changed func(*storage.ChangedError)) (fresh []Step, end int64, err error) {
	first := from
	read := NewReader()
	var before []original
	for l, err := range log.EditsLines(ctx, from) {
		if err != nil {
			return nil, from, err
		}
		if line, off, ok := l.Original(); ok && !l.Changed {
			before = append(before, original{record.OriginalAt{Line: l.Seq, Off: off}, sha256.Sum256(line)})
			continue
		}
		var e Edit
		if l.Changed || read.Edit(l.Body, &e) != nil {
			changed(&storage.ChangedError{File: "edits.jsonl", Detail: fmt.Sprintf("line %d differs", l.Seq)})
			if IsEdit(l.Body) {
				first = l.End
			}
			before = nil
			continue
		}
		e.Edit.Seq, e.Edit.Off = l.Seq, first
		e.Edit.place(before)
		fresh, first, before = append(fresh, e.Edit), l.End, nil
	}
	if len(fresh) == 0 {
		return nil, from, nil // originals whose line is not written yet
	}
	return fresh, first, nil
}

// original is an original in edits.jsonl.
type original struct {
	record.OriginalAt
	sum [sha256.Size]byte
}

// place sets the places of the messages in an edit, from the originals before its line. A
// message that differs from its hash gets none.
func (s *Step) place(before []original) {
	first := len(before) - len(s.Evicted)
	if first < 0 {
		return
	}
	for i, o := range before[first:] {
		if e := &s.Evicted[i]; e.SHA256 == hex.EncodeToString(o.sum[:]) {
			e.Logged = o.OriginalAt
		}
	}
}

// Appended sets the places of the messages in an edit that was appended, from the answer of
// the archive.
func (s *Step) Appended(w record.EditsWritten) {
	s.Seq, s.Off = w.Seq, w.Off
	for i := range s.Evicted {
		if i < len(w.Originals) {
			s.Evicted[i].Logged = w.Originals[i]
		}
	}
}
