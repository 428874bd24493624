package record

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/agentcompact/compact/storage"
)

// fence is the last line of a log while it is rewritten: a writer finds the log longer
// than expected, and must first finish or cancel the scrub. The scrub is void if the next
// line of the manifest does not record it.
type fence struct {
	ID       string `json:"id"`
	Manifest int64  `json:"manifest"` // number of lines of the manifest
}

const fenceStart = `{"scrubbing":`

func (f fence) body() string {
	b, _ := json.Marshal(map[string]fence{"scrubbing": f}) // never fails
	return string(b)
}

// fenceOf returns the fence in a line, or the zero fence.
func fenceOf(body []byte) fence {
	var v struct{ Scrubbing fence }
	if !bytes.HasPrefix(body, []byte(fenceStart)) || json.Unmarshal(body, &v) != nil {
		return fence{}
	}
	return v.Scrubbing
}

// fencedError reports that a log ends with a fence.
type fencedError struct{ fence }

func (e *fencedError) Error() string { return ErrUnplaced.Error() }

func (e *fencedError) Unwrap() error { return ErrUnplaced }

// errNoLog means that a log is missing, possibly because it is being rewritten.
// errStrange means that a log does not continue the known part.
var (
	errNoLog   = errors.New("it is missing")
	errStrange = errors.New("it is another file, or was changed")
)

// behindFences appends to a log that a scrub may rewrite concurrently.
func (s *Session) behindFences(ctx context.Context, c *chain, bodies []string) (tail, error) {
	if err := s.stillThere(ctx); err != nil {
		return tail{}, err
	}
	var settled fence
	looked := false
	// A session that was new when it was opened a moment ago had no scrub and no
	// erase.
	isNew := s.began == 0 && time.Since(s.opened) < doubtful
	for {
		t, err := s.appendBeside(ctx, c, func(f facts) ([]string, error) {
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
		case errors.Is(err, errNoLog), errors.Is(err, errStrange), (errors.Is(err, ErrErased) || errors.Is(err, storage.ErrNotExist)) && !looked:
			// A scrub may be removing the log.
			looked = true
			err = s.lookForScrub(ctx, err)
		case errors.Is(err, storage.ErrDamaged): // the log is shorter than before
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

// lately is the time for which a manifest that was read or written is assumed to
// exist.
const lately = time.Second

// stillThere returns [ErrErased] if the session was erased. The append alone does not
// detect this if the session began again and its log has the length that this process
// expects. stillThere makes no check if this process has read the manifest lately. It
// leaves other errors to the append.
func (s *Session) stillThere(ctx context.Context) error {
	if t, _ := s.manifest.known(); t.seq == 0 || s.manifest.heardSince() < lately {
		return nil
	}
	if _, err := s.manifest.refresh(ctx); !errors.Is(err, ErrErased) {
		return nil
	}
	if gone, _, err := s.gone(ctx); err != nil || !gone {
		return nil
	}
	return &storage.Error{Op: "append", Key: s.dir, Err: ErrErased}
}

// lookForScrub completes a scrub that has removed a log. It returns nil if the caller
// can append, even if the log was lost without a scrub, and [ErrErased] if the session
// was erased.
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
		return &storage.Error{Op: "append", Key: s.dir, Err: ErrErased}
	case errors.Is(gone, ErrErased) && !ended && s.knowsAll(t.facts):
		return gone
	case known.seq > 0:
		return nil
	}
	// Nothing was ever stored, or the session was erased since it was opened.
	erased, err := s.buriedUnborn(ctx)
	if erased {
		return &storage.Error{Op: "append", Key: s.dir, Err: ErrErased}
	}
	return err
}

// settleFence makes sure that the scrub of a fence is complete or void. fresh says
// that the appended lines refer to files, so that the Session must know their current
// state.
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
			return &storage.Error{Op: "append", Key: s.dir, Err: ErrErased}
		case t.facts.scrub != nil: // the scrub was recorded a moment ago
			continue
		case fresh && !s.knowsAll(t.facts):
			return &storage.Error{Op: "append", Key: s.dir, Err: ErrScrubbed}
		}
		return nil
	}
}

// voidAfter records that scrubs begun when the manifest had n lines are void,
// unless the manifest has more lines now.
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
