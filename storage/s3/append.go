package s3

import (
	"context"
	"errors"
	"fmt"

	"github.com/agentcompact/compact/storage"
)

// Append implements [storage.Archive]. It creates a segment whose name is the
// expected length of the log. It needs a PUT and a HEAD, for an unknown log also
// a listing, and another PUT if a roll-up is due.
func (a *Archive) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	return a.appendTo(ctx, k, seq, b, true)
}

// AppendUnseen implements [storage.Deferrer]: it omits the HEAD.
func (a *Archive) AppendUnseen(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	return a.appendTo(ctx, k, seq, b, false)
}

// Settle implements [storage.Deferrer].
func (a *Archive) Settle(ctx context.Context, k storage.Key) error {
	if err := storage.Begin(ctx, "append", k); err != nil {
		return err
	}
	err := a.Try(ctx)
	if err == nil {
		err = a.look(ctx, k)
	}
	if err != nil {
		a.forgetTail(k)
	}
	return storage.Wrap("append", k, err)
}

func (a *Archive) appendTo(ctx context.Context, k storage.Key, seq int64, b storage.Blob, look bool) error {
	if err := storage.Begin(ctx, "append", k); err != nil {
		return err
	}
	err := a.Try(ctx)
	if err == nil {
		err = a.append(ctx, k, seq, b, look)
	}
	if err != nil {
		a.forgetTail(k)
	}
	return storage.Wrap("append", k, err)
}

func (a *Archive) append(ctx context.Context, k storage.Key, seq int64, b storage.Blob, look bool) error {
	last, err := a.lastSegment(ctx, k, seq)
	if err != nil {
		return err
	}
	if last.end() != seq {
		return storage.ErrSeq
	}
	if b.Size() == 0 {
		return nil
	}
	t := a.terms(a.now())
	wait := a.rollUp(ctx, k, last)
	etag, err := a.putTagged(ctx, segmentName(a.name(k), seq), b, t)
	r, rolled := wait()
	if rolled {
		a.unseen(k, last, r)
	}
	if errors.Is(err, errTaken) {
		err = storage.ErrSeq
	}
	if err != nil && rolled { // check now, because there may be no later append to do so
		return errors.Join(err, a.look(context.WithoutCancel(ctx), k))
	}
	if err != nil {
		return err
	}
	now := segment{start: seq, size: b.Size(), mark: t.mark, etag: etag}
	a.unseen(k, last, now)
	if look {
		if err := a.look(ctx, k); err != nil {
			return err
		}
	}
	a.setTail(k, now)
	a.extendRun(k, now, b)
	return nil
}

// lastSegment returns the last segment of a log: the known segment if it ends at seq
// (segments never change), otherwise the last segment in a listing.
func (a *Archive) lastSegment(ctx context.Context, k storage.Key, seq int64) (segment, error) {
	if last, ok := a.tail(k); ok && last.end() == seq {
		return last, nil
	}
	all, err := a.list(ctx, k)
	if err != nil {
		return segment{}, err
	}
	var last segment
	for _, s := range all.segments {
		if s.start != last.end() {
			return segment{}, fmt.Errorf("%w: after byte %d there is a segment that begins at %d", storage.ErrDamaged, last.end(), s.start)
		}
		last = s
	}
	a.learnRun(k, all, true)
	return last, nil
}
