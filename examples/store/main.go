// Command store has an archive of its own: one that stands in front of another and
// takes no more than so many bytes, for a disk that is shared. The test holds it
// against all promises of storage.Archive.
//
//	go run ./examples/store
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"sync/atomic"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// ErrFull says that the quota is used up.
var ErrFull = errors.New("the quota is used up")

// Quota is an archive that takes so many bytes, and hands them on. What it can't do
// itself (opening, listing) the archive below does.
type Quota struct {
	storage.Archive
	left atomic.Int64
}

// NewQuota returns an archive that puts at most so many bytes into another.
func NewQuota(below storage.Archive, bytes int64) *Quota {
	q := &Quota{Archive: below}
	q.left.Store(bytes)
	return q
}

// Create stores b, if there is room.
func (q *Quota) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	return q.take("create", k, b.Size(), func() error { return q.Archive.Create(ctx, k, b) })
}

// Append adds b to the end of k, if there is room.
func (q *Quota) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	return q.take("append", k, b.Size(), func() error { return q.Archive.Append(ctx, k, seq, b) })
}

func (q *Quota) take(op string, k storage.Key, size int64, store func() error) error {
	if q.left.Add(-size) < 0 {
		q.left.Add(size)
		return storage.Wrap(op, k, ErrFull)
	}
	err := store()
	if errors.Is(err, storage.ErrExists) || errors.Is(err, storage.ErrSeq) { // nothing was written
		q.left.Add(size)
	}
	return err
}

// Remove takes k away, for who erases sessions; the room of it is not given back.
func (q *Quota) Remove(ctx context.Context, k storage.Key) error {
	below, ok := q.Archive.(storage.Remover)
	if !ok {
		return storage.Wrap("remove", k, errors.ErrUnsupported)
	}
	return below.Remove(ctx, k)
}

func main() {
	log.SetFlags(0)
	if err := run(context.Background(), os.Stdout, 64<<10); err != nil {
		log.Fatal(err)
	}
}

// run stores sessions until the quota is used up.
func run(ctx context.Context, w io.Writer, bytes int64) (err error) {
	m, err := compact.New(ctx, compact.Config{Model: "gpt-4", Archive: NewQuota(memory.New(), bytes)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close(ctx)) }()
	for i := range 1000 {
		history := []message.Message{message.User("What is in this file?"), message.Assistant(strings.Repeat("A line of it. ", 200))}
		switch err := m.Archive(ctx, fmt.Sprintf("session-%d", i), history); {
		case errors.Is(err, ErrFull):
			_, err := fmt.Fprintf(w, "%d sessions are stored, then: %v\n", i, ErrFull)
			return err
		case err != nil:
			return err
		}
	}
	return nil
}
