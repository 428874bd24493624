package storage

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"
)

// fence ends a log while it is written anew: who appends to it finds it longer than
// thought, and settles first what becomes of the scrub. It comes to be by the very next
// line of the manifest, or not at all.
type fence struct {
	ID       string `json:"id"`
	Manifest int64  `json:"manifest"` // lines that it had
}

const fenceStart = `{"scrubbing":`

func (f fence) body() string {
	b, _ := json.Marshal(map[string]fence{"scrubbing": f}) // cannot fail
	return string(b)
}

// fenceOf is the zero fence for a line that is none.
func fenceOf(body []byte) fence {
	var v struct{ Scrubbing fence }
	if !bytes.HasPrefix(body, []byte(fenceStart)) || json.Unmarshal(body, &v) != nil {
		return fence{}
	}
	return v.Scrubbing
}

// fencedError says what a log ends with.
type fencedError struct{ fence }

func (e *fencedError) Error() string { return ErrUnplaced.Error() }

func (e *fencedError) Unwrap() error { return ErrUnplaced }

// errNoLog: a log is not there. It may be about to be written anew.
// errStrange: it does not go on from what was known of it.
var (
	errNoLog   = errors.New("it is not there")
	errStrange = errors.New("it is another one, or was changed")
)

// behindFences appends to a log that may be written anew meanwhile.
func (s *Session) behindFences(ctx context.Context, c *chain, bodies []string) (tail, error) {
	var settled fence
	looked := false
	// What was new when it was opened, a moment ago, had no scrub and no erase.
	isNew := s.began == 0 && time.Since(s.opened) < doubtful
	for {
		t, err := c.append(ctx, func(f facts) ([]string, error) {
			switch {
			case f.fence.ID != "" && f.fence != settled:
				return nil, &fencedError{f.fence}
			case f.size == 0 && !looked && !isNew && len(bodies) > 0:
				return nil, errNoLog
			case f.strange && !looked:
				return nil, errStrange
			}
			return bodies, nil
		})
		fenced := new(fencedError)
		switch {
		case errors.As(err, &fenced):
			settled = fenced.fence
			err = s.settleFence(ctx, settled, c == s.edits)
		case errors.Is(err, errNoLog), errors.Is(err, errStrange), (errors.Is(err, ErrErased) || errors.Is(err, ErrNotExist)) && !looked: // it may be removed just now
			looked = true
			err = s.lookForScrub(ctx, err)
		case errors.Is(err, ErrDamaged): // it is shorter than it was
			looked = true
			err = cmp.Or(s.lookForScrub(ctx, err), err)
		default:
			return t, err
		}
		if err == nil {
			err = c.reset(ctx)
		}
		if err != nil {
			return tail{}, err
		}
	}
}

// lookForScrub ends a scrub that has taken a log away. Where there is none, a log that
// was there is gone for good.
func (s *Session) lookForScrub(ctx context.Context, gone error) error {
	known, _ := s.manifest.known()
	ended, err := s.endScrub(ctx)
	if err != nil {
		return err
	}
	t, err := s.manifest.refresh(ctx)
	switch {
	case err != nil:
		return err
	case t.facts.erasing:
		return &Error{"append", s.dir, ErrErased}
	case errors.Is(gone, ErrErased) && !ended && s.knowsAll(t.facts):
		return gone
	case known.seq > 0:
		return nil
	}
	// Nobody had stored anything, or all of it was erased since the session was opened.
	erased, err := s.buried(ctx, s.opened)
	if erased {
		return &Error{"append", s.dir, ErrErased}
	}
	return err
}

// settleFence sees to it that the scrub of a fence has ended or never comes to be.
// fresh: what is appended speaks of files, and must know them as they are now.
func (s *Session) settleFence(ctx context.Context, f fence, fresh bool) error {
	for {
		if _, err := s.endScrub(ctx); err != nil {
			return err
		}
		t, err := s.voidAfter(ctx, f.Manifest)
		switch {
		case err != nil:
			return err
		case t.facts.erasing:
			return &Error{"append", s.dir, ErrErased}
		case t.facts.scrub != nil: // it has come to be just now
			continue
		case fresh && !s.knowsAll(t.facts):
			return &Error{"append", s.dir, ErrScrubbed}
		}
		return nil
	}
}

// voidAfter says that nothing comes to be that has begun when the manifest had so
// many lines, unless it has more.
func (s *Session) voidAfter(ctx context.Context, n int64) (tail, error) {
	if t, err := s.manifest.refresh(ctx); err != nil || t.facts.lines != n {
		return t, err
	}
	return s.manifest.append(ctx, func(f facts) ([]string, error) {
		if f.lines > n || f.erasing {
			return nil, nil
		}
		return bodies([]record{{Op: opVoid}}), nil
	})
}

func (s *Session) knowsAll(f facts) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.scrubs == f.scrubs
}
