package recall

import (
	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/storage/record"
)

// Refs returns, for each message that the step of a ledger edited or removed,
// its place and bytes in the archive and the turn index that finds it. It is
// for [record.VerifyOptions].
func Refs(l record.Ledger) ([]record.Ref, error) {
	step, err := ledger.Parse(l.Data)
	if err != nil {
		return nil, err
	}
	refs := make([]record.Ref, len(step.Evicted))
	for i, e := range step.Evicted {
		refs[i] = record.Ref{File: step.At(&e).File, Off: e.Off, Len: e.Len, SHA256: e.SHA256, ID: e.FP.String()}
		if step.Index != nil {
			refs[i].Index = step.Index.File
		}
	}
	return refs, nil
}

// EditRefs returns the SHA-256 and the fingerprint of each original that a line
// of edits.jsonl refers to. It reports false for a line that holds an original.
// It is for [record.VerifyOptions].
func EditRefs(line []byte) (refs []record.Ref, ok bool, err error) {
	if !ledger.IsEdit(line) {
		return nil, false, nil
	}
	var e ledger.Edit
	if err := ledger.NewReader().Edit(line, &e); err != nil {
		return nil, true, err
	}
	for _, o := range e.Edit.Evicted {
		refs = append(refs, record.Ref{SHA256: o.SHA256, ID: o.FP.String()})
	}
	return refs, true, nil
}
