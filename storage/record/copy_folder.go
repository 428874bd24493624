package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/agentcompact/compact/storage"
)

// errOvertaken means that a scrub or an erase of a session of src began while it was copied.
// It stays within this file's functions.
var errOvertaken = errors.New("overtaken by a scrub or an erase")

// folder copies a session. If a scrub happens in the meantime, the files from before and
// after it do not fit together. Then, if dst had nothing of the session before, folder
// removes the copy and starts over.
func (c *copier) folder(ctx context.Context, dir storage.Key) error {
	remover, removes := c.dst.(storage.Remover)
	before, err := listed(ctx, c.dst, dir)
	if err != nil {
		return err
	}
	anew := removes && len(before) == 0
	for round := 0; ; round++ {
		w := watchOver(c.src, dir)
		overtaken, err := c.watched(ctx, dir, w, !anew)
		if errors.Is(err, errOvertaken) && !overtaken { // the scrub ended without a change, or it was an erase
			if round < copyRounds {
				continue
			}
			return &storage.Error{Op: "copy", Key: dir, Err: fmt.Errorf("%w: other processes scrub or erase the session again and again: copy it later", ErrInUse)}
		}
		if !overtaken || errors.Is(err, storage.ErrExists) || errors.Is(err, ErrInUse) { // other processes copy into dst
			return err
		}
		if !anew || round == copyRounds {
			return &storage.Error{Op: "copy", Key: dir, Err: fmt.Errorf("%w: the source was scrubbed during the copy, and the rest was not copied; copy it into an empty archive", storage.ErrExists)}
		}
		if err := discard(ctx, c.dst, remover, dir); err != nil {
			return err
		}
	}
}

// discard removes the files below a folder, in the order of an erase.
func discard(ctx context.Context, a storage.Archive, r storage.Remover, dir storage.Key) error {
	all, err := listed(ctx, a, dir)
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(x, y storage.Info) int { return cmp.Compare(removalRank(x), removalRank(y)) })
	for _, info := range all {
		if err := r.Remove(ctx, info.Key); err != nil {
			return err
		}
	}
	return nil
}

// watched copies a session once, and reports whether a scrub interrupted the copy. If
// each is set, it checks for a scrub before each file that it writes.
func (c *copier) watched(ctx context.Context, dir storage.Key, w *watch, each bool) (overtaken bool, err error) {
	now, err := w.quiet(ctx)
	if err != nil {
		return false, err
	}
	files, err := snapshot(ctx, c.src, dir, now.facts.scrub)
	if err == nil {
		over := w
		if !each {
			over = nil
		}
		err = c.these(ctx, dir, files, over)
	}
	if ctx.Err() != nil {
		return false, err
	}
	overtaken, werr := w.overtaken(ctx)
	return overtaken && errors.Is(w.reason(), ErrScrubbed), errors.Join(err, werr)
}
