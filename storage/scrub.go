package storage

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/agentcompact/compact/redact"
)

// ScrubOptions says what [Session.Scrub] takes out.
type ScrubOptions struct {
	// Find returns where in a line of a file something must go: bytes from and to,
	// of what was handed in. What links the line to others is not shown.
	Find func(file string, line []byte) [][2]int
	// DryRun: nothing is written.
	DryRun bool
	Reason redact.Text
}

// Scrubbed tells what a scrub took out, or would.
type Scrubbed struct {
	At     time.Time      `json:"at,omitzero"` // the zero time where nothing was written
	Who    string         `json:"who,omitempty"`
	Reason string         `json:"reason,omitempty"`
	Files  []ScrubbedFile `json:"files"` // that are others now; none: nothing was found
	// Resumed: one that was cut short before is ended.
	Resumed bool `json:"resumed,omitempty"`
}

// ScrubbedFile is a file that was written anew.
type ScrubbedFile struct {
	Name   string `json:"name"`
	Places int    `json:"places"` // that were overwritten; 0: it only names lines or files that are others now
	Before string `json:"before"` // SHA-256
	After  string `json:"after"`
}

// scrubPrefix begins the names of files that wait to take the place of others.
const scrubPrefix = "scrub."

// scrubMark is the line that a log ends with once it was written anew: who appended
// to it before finds it longer than thought, and reads how it goes on.
const scrubMark = `{"scrubbed":true}`

// Scrub overwrites what turned out to be a secret in everything that the session
// stored, byte for byte with asterisks, so that lines and what points to them stay
// where they are. Files are written anew, with a line in the manifest that holds who,
// why and the hashes before and after; [Verify] goes by it, and says so. What stands
// in the manifest itself and beside the session is not touched.
//
// It is [ErrHeld] under a legal hold, [ErrUnsupported] where the archive is no
// [Remover], [ErrLocked] where it is a [Keeper] that keeps a file, [ErrChanged] where a
// file is not what was stored, and [ErrScrub] where a line would be no JSON any more;
// then nothing was written. After any other error, or a crash, call it again: it ends
// what was begun. No agent may work in the session meanwhile. All of it is held in
// memory.
func (s *Session) Scrub(ctx context.Context, opts ScrubOptions) (Scrubbed, error) {
	remover, ok := s.a.(Remover)
	if !ok {
		return Scrubbed{}, &Error{"scrub", s.dir, ErrUnsupported}
	}
	t, err := s.manifest.refresh(ctx)
	switch {
	case err != nil:
		return Scrubbed{}, err
	case t.facts.held:
		return Scrubbed{}, &Error{"scrub", s.dir, ErrHeld}
	case t.facts.erasing:
		return Scrubbed{}, &Error{"scrub", s.dir, ErrErased}
	}
	out := Scrubbed{Files: []ScrubbedFile{}}
	if !opts.DryRun {
		if out.Resumed, err = s.endScrub(ctx, remover); err != nil {
			return out, err
		}
	}
	p, err := s.planScrub(ctx, opts.Find)
	if err != nil {
		return out, err
	}
	out.Files = append(out.Files, p.report()...)
	if opts.DryRun || len(out.Files) == 0 {
		return out, nil
	}
	out.At, out.Who, out.Reason = time.Now().UTC().Truncate(time.Millisecond), s.who.String(), opts.Reason.String()
	return out, s.scrub(ctx, remover, p, out)
}

// scrub puts the new files down beside the old ones, then says so in the manifest,
// and then lets them take their places.
func (s *Session) scrub(ctx context.Context, r Remover, p *scrubPlan, about Scrubbed) error {
	if err := s.replaceable(ctx, p); err != nil {
		return err
	}
	for _, f := range p.changed() {
		if err := s.a.Create(ctx, s.dir.child(scrubPrefix+f.name), made(string(f.now))); err != nil {
			return err
		}
	}
	rec := record{Op: opScrub, At: about.At, Who: about.Who, Reason: about.Reason, Scrubbed: p.rehashed(s)}
	if err := s.recordScrub(ctx, rec); err != nil {
		return err
	}
	_, err := s.endScrub(ctx, r)
	return err
}

// recordScrub writes the line of the manifest, in one step with looking for a hold.
func (s *Session) recordScrub(ctx context.Context, rec record) error {
	_, err := s.manifest.append(ctx, func(f facts) ([]string, error) {
		switch {
		case f.held:
			return nil, ErrHeld
		case f.erasing:
			return nil, ErrErased
		}
		return bodies([]record{rec}), nil
	})
	return err
}

// replaceable reports what forbids that the files go.
func (s *Session) replaceable(ctx context.Context, p *scrubPlan) error {
	keeper, ok := s.a.(Keeper)
	if !ok {
		return nil
	}
	for _, f := range p.changed() {
		if err := keeper.Kept(ctx, s.dir.child(f.name)); err != nil {
			return err
		}
	}
	return nil
}

// endScrub lets the files that wait take the places that the manifest says, and
// removes those of which it says nothing: their scrub never came to be.
func (s *Session) endScrub(ctx context.Context, r Remover) (resumed bool, err error) {
	waiting, err := s.waitingScrubs(ctx)
	if err != nil || len(waiting) == 0 {
		return false, err
	}
	said, err := s.lastScrub(ctx)
	if err != nil {
		return false, err
	}
	for _, name := range waiting {
		if i := slices.IndexFunc(said, func(h rehash) bool { return h.Name == name && h.File }); i >= 0 {
			if err := s.takePlace(ctx, r, s.dir.child(scrubPrefix+name), said[i]); err != nil {
				return false, err
			}
			resumed = true
		}
	}
	// Both before the files that wait go, so that what is cut short is done again. The
	// index is behind the files: it is put in anew as they are now.
	if resumed {
		if err := errors.Join(s.unindex(ctx), s.tell(ctx, head{Op: headMark})); err != nil {
			return true, err
		}
	}
	for _, name := range waiting {
		if err := r.Remove(ctx, s.dir.child(scrubPrefix+name)); err != nil {
			return resumed, err
		}
	}
	return resumed, nil
}

// takePlace puts what waits where it belongs.
func (s *Session) takePlace(ctx context.Context, r Remover, temp Key, h rehash) error {
	key := s.dir.child(h.Name)
	have, err := sumOf(ctx, s.a, key, h.Bytes) // a log may have grown since
	if err == nil && have == h.SHA256 {
		return nil
	}
	if err != nil && !errors.Is(err, ErrNotExist) {
		return err
	}
	data, err := readWhole(ctx, s.a, temp)
	if err != nil {
		return err
	}
	if hashOf(data) != h.SHA256 { // it was not written whole, or by somebody else
		return &ChangedError{File: temp.Base(), Want: h.SHA256, Have: hashOf(data), Detail: "it waits to take the place of " + h.Name}
	}
	if err := r.Remove(ctx, key); err != nil {
		return err
	}
	if isLog(h.Name) {
		return s.a.Append(ctx, key, 0, made(string(data)))
	}
	return s.a.Create(ctx, key, made(string(data)))
}

func (s *Session) waitingScrubs(ctx context.Context) (names []string, err error) {
	for info, err := range s.Files(ctx) {
		if err != nil {
			return nil, err
		}
		if name, ok := scrubOf(info.Key.Base()); ok {
			names = append(names, name)
		}
	}
	return names, nil
}

// lastScrub returns what the last scrub of the manifest rewrote.
func (s *Session) lastScrub(ctx context.Context) (said []rehash, err error) {
	for l, err := range checkedLines(ctx, s.manifest, 0) {
		if err != nil {
			return nil, err
		}
		if r, ok := parseRecord(l.Body); ok && !l.Changed && r.Op == opScrub {
			said = r.Scrubbed
		}
	}
	return said, nil
}
