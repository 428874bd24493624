package record

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/agentcompact/compact/storage"
)

// hash returns the hash and size of a file, and records its stretches.
func (v *verifier) hash(ctx context.Context, name string) (sum string, size int64, err error) {
	if !HasMessages(name) {
		return hashFile(ctx, v.a, child(v.dir, name))
	}
	r, err := v.a.Open(ctx, child(v.dir, name), 0, -1)
	if err != nil {
		return "", 0, err
	}
	h, found := sha256.New(), &stretchFinder{}
	size, err = io.Copy(io.MultiWriter(h, found), &ctxReader{ctx, r})
	if err := errors.Join(err, r.Close()); err != nil {
		return "", 0, storage.Wrap("read", child(v.dir, name), err)
	}
	if found.end(); len(found.all) > 0 {
		v.stretches[name] = found.all
	}
	return hex.EncodeToString(h.Sum(nil)), size, nil
}

// stretchFinder finds the lines of stretches in the written bytes. Its memory is
// constant for lines of any length.
type stretchFinder struct {
	line []byte // beginning of the line, at most one byte above maxStretchLine
	all  []Stretch
}

// Write implements [io.Writer]; it never fails.
func (f *stretchFinder) Write(p []byte) (int, error) {
	n := len(p)
	for {
		text, rest, ended := bytes.Cut(p, []byte("\n"))
		if room := maxStretchLine + 1 - len(f.line); room > 0 {
			f.line = append(f.line, text[:min(room, len(text))]...)
		}
		if !ended {
			return n, nil
		}
		f.end()
		p = rest
	}
}

// end processes the end of a line.
func (f *stretchFinder) end() {
	if st, ok := parseStretch(f.line); ok {
		f.all = append(f.all, st)
	}
	f.line = f.line[:0]
}

// referred adds the files that stored files refer to, because a step can use
// lines in a file of a lost race.
func (v *verifier) referred(hashes, stored map[string]fileHash) {
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		for _, st := range v.stretches[name] {
			said := v.manifest.announced[st.From]
			if _, known := stored[st.From]; known || len(said) == 0 {
				continue
			}
			stored[st.From] = said[0]
			if have, ok := hashes[st.From]; ok && slices.Contains(said, have) {
				stored[st.From] = have
			}
		}
	}
}

// checkStretches checks the lines that transcripts refer to. References in a changed
// transcript, which is reported already, are ignored.
func (v *verifier) checkStretches(ctx context.Context, hashes map[string]fileHash) error {
	sound, from := map[Stretch]error{}, (&Session{a: v.a, dir: v.dir}).stretches()
	for _, name := range slices.Sorted(maps.Keys(v.stretches)) {
		if !slices.Contains(v.manifest.announced[name], hashes[name]) {
			continue
		}
		for _, st := range v.stretches[name] {
			err, known := sound[st]
			if !known {
				err = from.sound(ctx, name, st)
				sound[st] = err
			}
			if err := v.stretchProblem(ctx, name, st, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// sound returns the error of a stretch, if any.
func (r *stretches) sound(ctx context.Context, in string, st Stretch) error {
	data, err := r.read(ctx, in, st)
	if err == nil {
		err = eachOf(st, data, func(Line) error { return nil })
	}
	return err
}

// stretchProblem reports the problem of a stretch, if any.
func (v *verifier) stretchProblem(ctx context.Context, in string, st Stretch, err error) error {
	var changed *storage.ChangedError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &changed):
		return v.unreadable(ctx, st.From, err)
	case changed.Have == "" && v.there[st.From] == 0:
		v.problem(Removed, st.From, 0, "%s refers to lines %d to %d of it", in, st.First, st.First+st.Lines-1)
	default:
		v.problem(Changed, st.From, 0, "lines %d to %d, which %s refers to, have changed", st.First, st.First+st.Lines-1, in)
	}
	return nil
}
