package s3

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agentcompact/compact/storage"
)

// Append implements [storage.Archive]: it creates the segment whose name is
// the length that the caller expects. That costs a PUT, a HEAD, and for a log
// that this Archive does not know a listing.
func (a *Archive) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if err := storage.Begin(ctx, "append", k); err != nil {
		return err
	}
	err := a.Try(ctx)
	if err == nil {
		err = a.append(ctx, k, seq, b)
	}
	if err != nil {
		a.forgetTail(k)
	}
	return storage.Wrap("append", k, err)
}

func (a *Archive) append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
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
	name := segmentName(a.name(k), seq)
	err = a.put(ctx, name, b, a.terms(time.Now()))
	if errors.Is(err, errTaken) {
		return storage.ErrSeq
	}
	if err != nil {
		return err
	}
	if err := a.stillThere(ctx, k, last); err != nil {
		return errors.Join(err, a.removeObjects(ctx, name, func(n string) bool { return n == name }))
	}
	a.setTail(k, segment{seq, b.Size()})
	return nil
}

// lastSegment returns the end of a log: the one that is known if it ends at
// seq, for segments never change; else what is listed.
func (a *Archive) lastSegment(ctx context.Context, k storage.Key, seq int64) (segment, error) {
	if last, ok := a.tail(k); ok && last.end() == seq {
		return last, nil
	}
	all, err := a.segments(ctx, k)
	if err != nil {
		return segment{}, err
	}
	var last segment
	for _, s := range all {
		if s.start != last.end() {
			return segment{}, fmt.Errorf("%w: after byte %d there is a segment that begins at %d", storage.ErrDamaged, last.end(), s.start)
		}
		last = s
	}
	return last, nil
}

// stillThere looks whether the log was erased while it was appended to: a new
// segment alone would be the end of nothing.
func (a *Archive) stillThere(ctx context.Context, k storage.Key, last segment) error {
	if last.end() == 0 {
		return nil
	}
	got, err := a.head(ctx, segmentName(a.name(k), last.start), "")
	if absent(err) || err == nil && got.ContentLength != nil && *got.ContentLength != last.size {
		return storage.ErrSeq // it was removed, or written anew since
	}
	return err
}
