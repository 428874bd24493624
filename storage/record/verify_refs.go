package record

import (
	"bytes"
	"context"
	"errors"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/internal/segment"
)

// checkRefs checks the references of the ledgers.
func (v *verifier) checkRefs(ctx context.Context) error {
	if v.opts.Refs == nil {
		return nil
	}
	s := &Session{a: v.a, dir: v.dir}
	for step := 1; ; step++ {
		name := ledgerKind.file(step, 1)
		data, err := s.Read(ctx, name, 0, maxLedgerBytes)
		if errors.Is(err, storage.ErrNotExist) {
			return nil
		}
		if err != nil {
			return v.unreadable(ctx, name, err)
		}
		refs, err := v.opts.Refs(Ledger{Step: step, Data: data})
		if err != nil {
			v.problem(Unreadable, name, 0, "%v", err)
			continue
		}
		for _, ref := range refs {
			if err := v.checkRef(ctx, name, ref); err != nil {
				return err
			}
		}
	}
}

// checkRef reads and checks a piece that a ledger refers to.
func (v *verifier) checkRef(ctx context.Context, ledger string, ref Ref) error {
	if reason := segment.Check(ref.File); reason != "" {
		v.problem(Unreadable, ledger, 0, "it refers to an invalid file name: %s", (&storage.KeyError{Text: ref.File, Reason: reason}).Error())
		return nil
	}
	s := &Session{a: v.a, dir: v.dir}
	data, err := s.Read(ctx, ref.File, ref.Off, ref.Len)
	if errors.Is(err, storage.ErrNotExist) {
		v.problem(Removed, ref.File, 0, "%s refers to it", ledger)
		return nil
	}
	if err != nil {
		return v.unreadable(ctx, ref.File, err)
	}
	switch n := int64(len(data)); {
	case n != ref.Len:
		v.problem(Truncated, ref.File, 0, "%s refers to %d bytes at %d, but only %d are there", ledger, ref.Len, ref.Off, n)
	case ref.SHA256 != "" && hashOf(data) != ref.SHA256:
		v.problem(Changed, ref.File, 0, "%s refers to %d bytes at %d, but their hash differs", ledger, ref.Len, ref.Off)
	case ref.ID != "" && !bytes.Contains(data, []byte(`"`+ref.ID+`"`)):
		v.problem(Changed, ledger, 0, "it refers to %d bytes at %d of %s for %s, but another message is there", ref.Len, ref.Off, ref.File, ref.ID)
	}
	if ref.Index == "" {
		return nil
	}
	return v.checkIndexed(ctx, ledger, ref)
}
