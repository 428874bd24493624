package record

import (
	"context"
	"errors"
	"slices"
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
	heads map[string]endings   // by [Tombstone.Session]
	open  []Tombstone          // of an incomplete last line
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
func NewGraves(a storage.Archive) *Graves {
	g := &Graves{a: a}
	g.reset()
	return g
}

// reset forgets the tombstones.
func (g *Graves) reset() {
	g.size, g.last, g.heads, g.lines, g.lost = 0, map[string]Tombstone{}, map[string]endings{}, stoneReader{}, false
}

// endings holds the tombstones of the sessions that had one name, one session after the
// other.
type endings struct {
	lives []string // lives of the sessions that were erased
	heads []string // of the tombstones of the last one
}

// with returns e with another tombstone. A tombstone without a life (from version 0.1.0,
// or a damaged one) counts as the end of another session.
func (e endings) with(t Tombstone) endings {
	switch n := len(e.lives); {
	case t.Life == "" || !slices.Contains(e.lives, t.Life):
		return endings{append(e.lives[:n:n], t.Life), []string{t.Head}}
	case t.Head != "" && e.lives[n-1] == t.Life && !slices.Contains(e.heads, t.Head):
		e.heads = append(slices.Clone(e.heads), t.Head)
	}
	return e
}

// Heads returns the heads of the tombstones of the session that was erased last under a
// name, in their order. It returns none if no session was erased. If an erase is
// repeated, its tombstones have several heads. The first of them never changes, so a
// caller can derive the name of the next session from it. Errors are those of Find.
func (g *Graves) Heads(ctx context.Context, session string) ([]string, error) {
	dir, err := Prefix(session)
	if err != nil {
		return nil, err
	}
	if _, ok, err := g.of(ctx, dir); !ok || err != nil {
		return nil, err
	}
	if err := g.busy.Lock(ctx); err != nil {
		return nil, &storage.Error{Op: "read", Key: keyOf(erasedName), Err: err}
	}
	defer g.busy.Unlock()
	all := g.heads[tombstoneID(dir)]
	for _, open := range g.open {
		if open.Session == tombstoneID(dir) && open.Refused == "" {
			all = all.with(open)
		}
	}
	return all.heads, nil
}

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
		g.reset()
		return nil
	}
	if err != nil || info.Size == g.size {
		return err
	}
	if info.Size < g.size { // the log was truncated: only its present content counts, as for [Erased]
		g.reset()
	}
	return eachLineOf(ctx, g.a, info.Key, g.size, func(l rawLine) error {
		if !l.ended { // the line may be half written, and is read again
			lines := g.lines
			g.open = lines.read(l)
			return nil
		}
		for _, t := range g.lines.read(l) {
			if t.Session != "" && t.Refused == "" {
				g.last[t.Session], g.heads[t.Session] = t, g.heads[t.Session].with(t)
			}
			g.lost = g.lost || t.Damaged && t.Session == ""
		}
		g.size = l.next()
		return nil
	})
}
