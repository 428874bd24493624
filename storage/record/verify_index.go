package record

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/internal/segment"
	"github.com/agentcompact/compact/storage/turnindex"
)

// checkIndexes checks that the records of each turn index lead to the right
// lines.
func (v *verifier) checkIndexes(ctx context.Context) error {
	for _, f := range v.report.Files {
		if f.State != StateStored || !hasKind(f.Name, indexKind) {
			continue
		}
		if err := v.checkIndex(ctx, f.Name); err != nil {
			return err
		}
	}
	return nil
}

// target is the place of a line in an index.
type target struct {
	key turnindex.Key
	off int64
	len int64
}

func (v *verifier) checkIndex(ctx context.Context, name string) error {
	table, err := v.table(ctx, name)
	if err != nil {
		return v.unreadable(ctx, name, err)
	}
	byFile := map[string][]target{}
	for r, err := range table.All(ctx) {
		if err != nil {
			return v.unreadable(ctx, name, err)
		}
		byFile[r.File] = append(byFile[r.File], target{r.Key, r.Off, r.Len})
	}
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		if err := v.checkTargets(ctx, name, file, byFile[file]); err != nil {
			return err
		}
	}
	return nil
}

// checkTargets reads a file once, and checks its lines against the records of
// an index.
func (v *verifier) checkTargets(ctx context.Context, index, file string, want []target) error {
	if reason := segment.Check(file); reason != "" {
		v.problem(Unreadable, index, 0, "it refers to an invalid file name: %s", (&storage.KeyError{Text: file, Reason: reason}).Error())
		return nil
	}
	if _, ok := v.there[file]; !ok && !v.appeared(ctx, file) {
		v.problem(Removed, file, 0, "%s refers to it", index)
		return nil
	}
	slices.SortFunc(want, func(x, y target) int { return cmp.Compare(x.off, y.off) })
	wrong := func(t target) {
		v.problem(Changed, index, 0, "it has %s in %d bytes at %d of %s, where another line is", t.key, t.len, t.off, file)
	}
	s := &Session{a: v.a, dir: v.dir}
	r, err := s.Open(ctx, file, 0, -1)
	if err != nil {
		return v.unreadable(ctx, file, err)
	}
	err = eachMessage(ctx, r, func(l rawLine) error {
		if l = l.message(file); l.text == nil {
			return nil
		}
		for ; len(want) > 0 && want[0].off < l.off; want = want[1:] {
			wrong(want[0])
		}
		for ; len(want) > 0 && want[0].off == l.off; want = want[1:] {
			if want[0].len != int64(len(l.text)) || !names(l.text, want[0].key) {
				wrong(want[0])
			}
		}
		return nil
	})
	if err := errors.Join(err, r.Close()); err != nil {
		return v.unreadable(ctx, file, err)
	}
	for _, t := range want {
		wrong(t)
	}
	return nil
}

// names reports whether a line of a transcript holds the key. Turns are not
// checked, because lines hold no turn numbers.
func names(line []byte, k turnindex.Key) bool {
	return k.Digits() == 0 || bytes.Contains(line, []byte(`"`+k.String()))
}

// table returns an index, which is opened once.
func (v *verifier) table(ctx context.Context, name string) (*turnindex.Table, error) {
	if t := v.tables[name]; t != nil {
		return t, nil
	}
	s := &Session{a: v.a, dir: v.dir}
	t, err := s.OpenIndex(ctx, name)
	if err == nil {
		v.tables[name] = t
	}
	return t, err
}

// checkIndexed checks that the index leads to the piece that a ledger refers
// to.
func (v *verifier) checkIndexed(ctx context.Context, ledger string, ref Ref) error {
	if _, ok := v.there[ref.Index]; !ok {
		return nil // reported as missing by checkFiles, or never announced
	}
	q, err := turnindex.ParseQuery(ref.ID)
	if err != nil {
		v.problem(Unreadable, ledger, 0, "it refers to %q, which is not a fingerprint", ref.ID)
		return nil
	}
	table, err := v.table(ctx, ref.Index)
	if errors.Is(err, turnindex.ErrDamaged) {
		return nil // reported by checkIndexes
	}
	if err != nil {
		return v.unreadable(ctx, ref.Index, err)
	}
	found, err := table.Lookup(ctx, q)
	if err != nil {
		return v.unreadable(ctx, ref.Index, err)
	}
	led, err := v.leads(ctx, found, ref)
	if err != nil {
		return v.unreadable(ctx, ref.Index, err)
	}
	if !led {
		v.problem(Changed, ref.Index, 0, "it does not lead to %d bytes at %d of %s for %s, as %s does", ref.Len, ref.Off, ref.File, ref.ID, ledger)
	}
	return nil
}

// leads reports whether one of the records is about the piece, or about another
// line with the same message, because an index has one record for each content.
func (v *verifier) leads(ctx context.Context, found []turnindex.Record, ref Ref) (bool, error) {
	s := &Session{a: v.a, dir: v.dir}
	for _, r := range found {
		if r.File == ref.File && r.Off == ref.Off && r.Len == ref.Len {
			return true, nil
		}
	}
	for _, r := range found {
		line, err := s.Read(ctx, r.File, r.Off, r.Len)
		if err != nil && !errors.Is(err, storage.ErrNotExist) {
			return false, err
		}
		if bytes.Contains(line, []byte(`"`+ref.ID+`"`)) {
			return true, nil
		}
	}
	return false, nil
}
