package flaky

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/agentcompact/compact/storage"
)

// A Loss says what the disk has of the change during which the power fails, and of bytes
// that were not synced.
type Loss string

// The losses. A file is there as a whole or not at all.
const (
	LosesAll  Loss = "all of it is lost"
	LosesHalf Loss = "half of it is lost"
	LosesText Loss = "zeros are in its place" // a file system can store the new length first
	LosesNone Loss = "it is there"
)

// Outage is the archive of a machine that loses power after a number of changes: later
// changes don't reach the archive, and each returns [ErrDied]. Bytes that were appended
// lazily since the last other append to their log are lost as well.
type Outage struct {
	storage.Archive
	raw func(string) storage.Blob

	mu    sync.Mutex
	left  int
	loss  Loss
	over  bool
	loose map[storage.Key]int64 // durable size of logs with bytes that are not durable
}

var _ storage.LazyAppender = (*Outage)(nil)

// NewOutage returns the archive of a machine that loses power during the change after the
// given number. What is left is in the archive a, a [storage.Remover]. The function raw makes
// a blob of any string.
func NewOutage(a storage.Archive, changes int, loss Loss, raw func(string) storage.Blob) *Outage {
	return &Outage{Archive: a, raw: raw, left: changes, loss: loss, loose: map[storage.Key]int64{}}
}

// Over reports whether the power has failed.
func (o *Outage) Over() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.over
}

// Left returns the number of changes before the power fails.
func (o *Outage) Left() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return max(o.left, 0)
}

// change makes a change, or a part of it if the power fails during it.
func (o *Outage) change(ctx context.Context, do, part func() error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		return ErrDied
	}
	if o.left--; o.left >= 0 {
		return do()
	}
	o.over = true
	err := part()
	for k, size := range o.loose {
		err = errors.Join(err, o.lose(ctx, k, size))
	}
	return errors.Join(ErrDied, err)
}

// Create implements [storage.Archive].
func (o *Outage) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	do := func() error { return o.Archive.Create(ctx, k, b) }
	return o.change(ctx, do, func() error {
		if o.loss == LosesNone {
			return do()
		}
		return nil
	})
}

// Append implements [storage.Archive].
func (o *Outage) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	return o.change(ctx, func() error {
		err := o.Archive.Append(ctx, k, seq, b)
		if err == nil {
			delete(o.loose, k)
		}
		return err
	}, func() error { return o.begin(ctx, k, seq, b) })
}

// AppendLazily implements [storage.LazyAppender]. A new log is synced.
func (o *Outage) AppendLazily(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if seq == 0 {
		return o.Append(ctx, k, seq, b)
	}
	return o.change(ctx, func() error {
		err := o.Archive.Append(ctx, k, seq, b)
		if _, ok := o.loose[k]; err == nil && !ok {
			o.loose[k] = seq
		}
		return err
	}, func() error { return o.begin(ctx, k, seq, b) })
}

// Remove implements [storage.Remover].
func (o *Outage) Remove(ctx context.Context, k storage.Key) error {
	do := func() error { return o.remove(ctx, k) }
	return o.change(ctx, do, func() error {
		if o.loss == LosesNone {
			return do()
		}
		return nil
	})
}

func (o *Outage) remove(ctx context.Context, k storage.Key) error {
	r, ok := o.Archive.(storage.Remover)
	if !ok {
		return storage.ErrUnsupported
	}
	delete(o.loose, k)
	return r.Remove(ctx, k)
}

// begin makes the append during which the power fails. If the log has another length, it changes
// nothing.
func (o *Outage) begin(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	err := o.Archive.Append(ctx, k, seq, b)
	if errors.Is(err, storage.ErrSeq) {
		return nil
	}
	if _, ok := o.loose[k]; err == nil && !ok {
		o.loose[k] = seq
	}
	return err
}

// lose loses the bytes of a log after the first size.
func (o *Outage) lose(ctx context.Context, k storage.Key, size int64) error {
	r, err := o.Open(ctx, k, 0, -1)
	if errors.Is(err, storage.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	data, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return err
	}
	durable, rest := data[:size], data[size:]
	switch o.loss {
	case LosesAll:
		rest = nil
	case LosesHalf:
		rest = rest[:len(rest)/2]
	case LosesText:
		rest = bytes.Repeat([]byte{0}, len(rest))
	case LosesNone:
		return nil
	}
	if err := o.remove(ctx, k); err != nil || len(durable)+len(rest) == 0 {
		return err
	}
	return o.Archive.Append(ctx, k, 0, o.raw(string(durable)+string(rest)))
}
