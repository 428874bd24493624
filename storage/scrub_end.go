package storage

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"
)

// scrubLease is how long whoever lets files take their places has that to itself.
const scrubLease = 20 * time.Second

// maxSkew is how far the clocks of those who work in a session may be apart.
const maxSkew = 5 * time.Minute

// unplaced is a scrub of which not all files are in their places. It is not changed.
type unplaced struct {
	id    string
	files []rehash
	by    string // who is at it
	at    time.Time
	lease time.Duration
}

// observeScrub takes in a line about a scrub.
func (f *facts) observeScrub(r record) {
	lease := time.Duration(r.Lease) * time.Millisecond
	switch {
	case r.Op == opScrub:
		f.scrubs++
		f.scrub = nil
		if r.Scrub != "" {
			f.scrub = &unplaced{r.Scrub, r.Scrubbed, r.By, r.At, lease}
		}
	case f.scrub == nil || f.scrub.id != r.Scrub:
	case r.Op == opPlace:
		f.scrub = &unplaced{r.Scrub, f.scrub.files, r.By, r.At, lease}
	case r.Op == opPlaced:
		f.scrub = nil
	}
}

// may reports why nothing of this Session may be said in the manifest.
func (s *Session) may(f facts) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case f.erasing:
		return ErrErased
	case f.scrub != nil:
		return ErrUnplaced
	case f.scrubs != s.scrubs:
		return ErrScrubbed
	}
	return nil
}

// say appends to the manifest what build makes of it. A scrub that was cut short is
// ended before.
func (s *Session) say(ctx context.Context, build func(facts) ([]string, error)) error {
	return s.sayBy(ctx, s.sayNow, build)
}

func (s *Session) sayBy(ctx context.Context, now sayer, build func(facts) ([]string, error)) error {
	for {
		err := now(ctx, build)
		if !errors.Is(err, ErrUnplaced) {
			return err
		}
		if _, err := s.endScrub(ctx); err != nil {
			return err
		}
	}
}

// sayer appends to the manifest. It is [ErrUnplaced] where a scrub has not ended.
type sayer func(ctx context.Context, build func(facts) ([]string, error)) error

func (s *Session) sayNow(ctx context.Context, build func(facts) ([]string, error)) error {
	before, wrote := s.loosely(false), false
	_, err := s.manifest.append(ctx, func(f facts) (lines []string, err error) {
		lines, err = s.lines(f, build)
		wrote = len(lines) > 0 // without a line nobody has looked at the manifest
		return lines, err
	})
	if err == nil && wrote {
		s.fasten(before...)
	}
	return s.taken(ctx, err)
}

// sayUnseen is sayNow where another one follows at once. That the manifest is still
// there, and so what was stored before, is known by that one alone.
func (s *Session) sayUnseen(ctx context.Context, build func(facts) ([]string, error)) error {
	_, err := s.manifest.appendUnseen(ctx, func(f facts) ([]string, error) { return s.lines(f, build) })
	return s.taken(ctx, err)
}

func (s *Session) lines(f facts, build func(facts) ([]string, error)) ([]string, error) {
	if err := s.may(f); err != nil {
		return nil, err
	}
	return build(f)
}

// taken withdraws what this Session has stored where err says that it was erased.
func (s *Session) taken(ctx context.Context, err error) error {
	if errors.Is(err, ErrErased) {
		return errors.Join(err, s.withdraw(ctx))
	}
	return err
}

// markAnew is Checkpoint for a session that was scrubbed since it was opened: what is
// known of its logs is read again.
func (s *Session) markAnew(ctx context.Context) error {
	for {
		t, err := s.manifest.refresh(ctx)
		if err != nil {
			return err
		}
		for _, c := range s.logs() {
			if _, loaded := c.known(); !loaded {
				continue
			}
			if err := c.reset(ctx); err != nil {
				return err
			}
			if _, err := c.refresh(ctx); err != nil {
				return err
			}
		}
		marks, moved := s.marks(), false
		_, err = s.manifest.append(ctx, func(f facts) ([]string, error) {
			moved = f.lines >= t.facts.lines && (f.scrubs != t.facts.scrubs || f.scrub != nil)
			switch {
			case f.erasing:
				return nil, ErrErased
			case moved:
				return nil, ErrScrubbed
			}
			return bodies(marks), nil
		})
		if err == nil {
			s.settle(marks)
		}
		if !moved {
			return err
		}
		if _, err := s.endScrub(ctx); err != nil {
			return err
		}
	}
}

// Fresh reads the manifest, and returns [ErrScrubbed] if the session was scrubbed since
// it was opened.
func (s *Session) Fresh(ctx context.Context) error {
	t, err := s.manifest.refresh(ctx)
	if err == nil && !s.knowsAll(t.facts) {
		err = &Error{"read", s.dir, ErrScrubbed}
	}
	return err
}

func (s *Session) logs() []*chain { return []*chain{s.events, s.journal, s.edits} }

// EndScrub completes an interrupted scrub of the session ([Session.Scrub]), and
// reports whether there was one. Writes do this automatically; call it before
// reading a session in order to continue it. It makes no request if the manifest,
// as read last, has no such scrub.
//
// While another process completes it, EndScrub waits: up to 20 seconds if that process
// died, and no longer than ctx. It returns [ErrUnsupported] if the archive is no
// [Remover].
func (s *Session) EndScrub(ctx context.Context) (ended bool, err error) {
	if t, known := s.manifest.known(); known && t.facts.scrub == nil {
		return false, nil
	}
	return s.endScrub(ctx)
}

// endScrub is EndScrub that reads the manifest.
func (s *Session) endScrub(ctx context.Context) (ended bool, err error) {
	p := &placer{s: s, me: rand.Text(), lease: scrubLease}
	return p.end(ctx)
}

func (p *placer) end(ctx context.Context) (ended bool, err error) {
	for {
		it, err := p.claim(ctx)
		if err != nil {
			return ended, err
		}
		if it == nil {
			return ended, p.s.reread(ctx)
		}
		if err := p.place(ctx, it); err != nil {
			return ended, err
		}
		ended = true
	}
}

// reread reads the manifest from its beginning, and remembers what it says: others
// may have written to it since.
func (s *Session) reread(ctx context.Context) error {
	if err := s.manifest.reset(ctx); err != nil {
		return err
	}
	_, err := s.manifest.refresh(ctx)
	return err
}

// placer lets the files of a scrub take their places. A log that goes on in its place
// must not be removed again by somebody who came late, so one does it at a time, and
// says so in the manifest.
type placer struct {
	s       *Session
	r       Remover
	me      string
	lease   time.Duration
	claimed time.Time // by the clock of this process

	other string    // who else is at it
	since time.Time // by the clock of this process
}

// claim returns the scrub to end, when nobody else is at it; nil: there is none.
func (p *placer) claim(ctx context.Context) (*unplaced, error) {
	for {
		t, err := p.s.manifest.refresh(ctx)
		if err != nil || t.facts.scrub == nil {
			return nil, err
		}
		remover, ok := p.s.a.(Remover)
		if !ok {
			return nil, &Error{"end a scrub", p.s.dir, ErrUnsupported}
		}
		p.r = remover
		it := t.facts.scrub
		if it.by == p.me && !p.late() {
			return it, nil
		}
		if it.by == p.me || p.expired(it) {
			mine, err := p.take(ctx, t.facts)
			if mine != nil || err != nil {
				return mine, err
			}
			continue
		}
		const often = 50 * time.Millisecond
		if err := sleep(ctx, min(often, it.lease+time.Millisecond)); err != nil {
			return nil, &Error{"end a scrub", p.s.dir, errors.Join(ErrUnplaced, err)}
		}
	}
}

// take says that this one is at it, unless the manifest goes on otherwise; then it
// returns nil.
func (p *placer) take(ctx context.Context, seen facts) (*unplaced, error) {
	began, rec := time.Now(), record{Op: opPlace, At: time.Now(), Scrub: seen.scrub.id, By: p.me, Lease: p.lease.Milliseconds()}
	t, err := p.s.manifest.append(ctx, func(f facts) ([]string, error) {
		if f.lines > seen.lines {
			return nil, nil
		}
		return bodies([]record{rec}), nil
	})
	if err != nil || t.facts.scrub == nil || t.facts.scrub.by != p.me {
		return nil, err
	}
	p.claimed = began
	return t.facts.scrub, nil
}

// late reports whether it is time to say again that this one is at it.
func (p *placer) late() bool { return time.Since(p.claimed) > p.lease/4 }

// expired reports whether whoever is at it had its time: by its own clock long ago, or
// by this one since it was first seen.
func (p *placer) expired(it *unplaced) bool {
	if who := it.by + it.at.String(); who != p.other {
		p.other, p.since = who, time.Now()
	}
	return time.Since(p.since) > it.lease || time.Since(it.at) > it.lease+maxSkew
}

// place lets the files take their places, and says then that they have.
func (p *placer) place(ctx context.Context, it *unplaced) error {
	s := p.s
	for _, h := range it.files {
		if !h.File {
			continue
		}
		if err := p.takePlaceOf(ctx, h); err != nil {
			return err
		}
	}
	// Before the files that wait go, so that what is cut short is done again. The index
	// is behind the files: it is put in anew as they are now.
	if err := s.unindex(ctx); err != nil {
		return err
	}
	if err := s.dropWaiting(ctx, p.r); err != nil {
		return err
	}
	for _, c := range s.logs() {
		if err := c.reset(ctx); err != nil {
			return err
		}
	}
	_, err := s.manifest.append(ctx, func(f facts) ([]string, error) {
		if f.scrub == nil || f.scrub.id != it.id {
			return nil, nil
		}
		return bodies([]record{{Op: opPlaced, At: time.Now(), Scrub: it.id}}), nil
	})
	if err != nil {
		return err
	}
	return s.tell(ctx, head{Op: headMark})
}

// takePlaceOf is takePlace, again where somebody was appending to the log that is
// removed: a piece of what he takes back may have been in the way.
func (p *placer) takePlaceOf(ctx context.Context, h rehash) error {
	for attempt := 0; ; attempt++ {
		err := p.takePlace(ctx, h)
		if attempt == placeAttempts || !isLog(h.Name) || !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrSeq) {
			return err
		}
		if err := backOff(ctx, attempt); err != nil {
			return &Error{"end a scrub", p.s.dir, err}
		}
	}
}

const placeAttempts = 20

// takePlace puts what waits where it belongs.
func (p *placer) takePlace(ctx context.Context, h rehash) error {
	a, key, temp := p.s.a, p.s.dir.child(h.Name), p.s.dir.child(scrubPrefix+h.Name)
	have, err := sumOf(ctx, a, key, h.Bytes) // a log may have grown since
	if err == nil && have == h.SHA256 {
		return nil
	}
	if err != nil && !errors.Is(err, ErrNotExist) {
		return err
	}
	data, err := readWhole(ctx, a, temp)
	if errors.Is(err, ErrNotExist) {
		return nil // it took its place, and was changed since: that is evidence
	}
	if err != nil {
		return err
	}
	if hashOf(data) != h.SHA256 { // somebody else wrote it
		return &ChangedError{File: temp.Base(), Want: h.SHA256, Have: hashOf(data), Detail: "it waits to take the place of " + h.Name}
	}
	if err := p.remove(ctx, key); err != nil {
		return err
	}
	if isLog(h.Name) {
		return a.Append(ctx, key, 0, made(string(data)))
	}
	return a.Create(ctx, key, made(string(data)))
}

// remove removes a file while nobody else can be at it.
func (p *placer) remove(ctx context.Context, key Key) error {
	if p.late() {
		it, err := p.claim(ctx)
		if err != nil {
			return err
		}
		if it == nil {
			return &Error{"end a scrub", p.s.dir, ErrUnplaced} // somebody else has ended it
		}
	}
	ctx, cancel := context.WithDeadline(ctx, p.claimed.Add(max(p.lease/2, minRemoval)))
	defer cancel()
	return p.r.Remove(ctx, key)
}

// minRemoval is the time that a removal has at least, where a lease is short.
const minRemoval = time.Second

// dropWaiting removes the files that wait, or waited, for a place.
func (s *Session) dropWaiting(ctx context.Context, r Remover) error {
	waiting, err := s.waitingScrubs(ctx)
	for _, name := range waiting {
		if err := r.Remove(ctx, s.dir.child(scrubPrefix+name)); err != nil {
			return err
		}
	}
	return err
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
	slices.Sort(names)
	return names, nil
}
