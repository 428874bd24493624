package record

import (
	"context"
	"errors"
	"time"

	"github.com/agentcompact/compact/internal/ctxlock"
	"github.com/agentcompact/compact/storage"
)

// Graves looks up tombstones. It reads each tombstone once, and checks for new ones at
// each call. The zero value is not usable; create it with [NewGraves]. It is safe for
// concurrent use.
type Graves struct {
	a storage.Archive

	busy  ctxlock.Mutex        // guards the rest
	size  int64                // number of bytes of the log that were read
	last  map[string]Tombstone // newest tombstone of each session, by [Tombstone.Session]
	open  []Tombstone          // of a last line without its end
	lines stoneReader
	lost  bool      // a damaged tombstone may belong to any session
	down  error     // error of the last request, if that request was slow
	until time.Time // if down is set, no request is made before this time
}

const (
	// gravesTimeout limits one refresh. After a refresh that timed out, no refresh is
	// made for gravesRest.
	gravesTimeout = 2 * time.Second
	gravesRest    = 30 * time.Second
)

// NewGraves returns the Graves of an archive. It does no I/O.
func NewGraves(a storage.Archive) *Graves { return &Graves{a: a, last: map[string]Tombstone{}} }

// Find is [Erased] for many lookups: if nothing is new, it requests only the size of one
// log. It waits at most two seconds; after a timeout it makes no request for half a
// minute.
func (g *Graves) Find(ctx context.Context, session string) (Tombstone, bool, error) {
	dir, err := Prefix(session)
	if err != nil {
		return Tombstone{}, false, err
	}
	return g.of(ctx, dir)
}

// of is Find for the folder of a session.
func (g *Graves) of(ctx context.Context, dir storage.Key) (Tombstone, bool, error) {
	if err := g.busy.Lock(ctx); err != nil {
		return Tombstone{}, false, &storage.Error{Op: "read", Key: keyOf(erasedName), Err: err}
	}
	defer g.busy.Unlock()
	if g.down != nil && time.Now().Before(g.until) {
		return Tombstone{}, false, g.down
	}
	bounded, cancel := context.WithTimeout(ctx, gravesTimeout)
	defer cancel()
	g.down = nil
	if err := g.refresh(bounded); err != nil {
		if bounded.Err() != nil && ctx.Err() == nil {
			g.down, g.until = err, time.Now().Add(gravesRest)
		}
		return Tombstone{}, false, err
	}
	t, ok := g.last[tombstoneID(dir)]
	lost := g.lost
	for _, open := range g.open {
		if open.Session == tombstoneID(dir) && open.Refused == "" {
			t, ok = open, true
		}
		lost = lost || open.Damaged && open.Session == ""
	}
	if !ok && lost {
		return Tombstone{}, false, &storage.Error{Op: "read", Key: keyOf(erasedName), Err: errStone}
	}
	return t, ok, nil
}

// refresh reads new tombstones.
func (g *Graves) refresh(ctx context.Context) error {
	g.open = nil
	info, err := stat(ctx, g.a, keyOf(erasedName))
	if errors.Is(err, storage.ErrNotExist) {
		g.size, g.last, g.lines, g.lost = 0, map[string]Tombstone{}, stoneReader{}, false
		return nil
	}
	if err != nil || info.Size == g.size {
		return err
	}
	if info.Size < g.size { // the log was truncated: only its present content counts, as for [Erased]
		g.size, g.last, g.lines, g.lost = 0, map[string]Tombstone{}, stoneReader{}, false
	}
	return eachLineOf(ctx, g.a, info.Key, g.size, func(l rawLine) error {
		if !l.ended { // the line may be half written, and is read again
			lines := g.lines
			g.open = lines.read(l)
			return nil
		}
		for _, t := range g.lines.read(l) {
			if t.Session != "" && t.Refused == "" {
				g.last[t.Session] = t
			}
			g.lost = g.lost || t.Damaged && t.Session == ""
		}
		g.size = l.next()
		return nil
	})
}
