package record

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"github.com/agentcompact/compact/storage"
)

// unplaced is a scrub with files that are not in place. It is immutable.
type unplaced struct {
	id     string
	files  []rehash
	holder // process that is placing them
}

// observeScrub updates the facts with a line about a scrub.
func (f *facts) observeScrub(r record) {
	switch {
	case r.Op == opScrub:
		f.scrubs++
		f.scrub = nil
		if r.Scrub != "" {
			f.scrub = &unplaced{r.Scrub, r.Scrubbed, holderOf(r)}
		}
	case f.scrub == nil || f.scrub.id != r.Scrub:
	case r.Op == opPlace:
		f.scrub = &unplaced{r.Scrub, f.scrub.files, holderOf(r)}
	case r.Op == opPlaced:
		f.scrub = nil
	}
}

// may returns the reason why this Session must not write to the manifest, nil if it
// may.
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

// say appends the lines of build to the manifest, after completing an interrupted
// scrub.
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

// sayer appends to the manifest. It returns [ErrUnplaced] during an incomplete
// scrub.
type sayer func(ctx context.Context, build func(facts) ([]string, error)) error

func (s *Session) sayNow(ctx context.Context, build func(facts) ([]string, error)) error {
	if err := s.mayBegin(ctx); err != nil {
		return s.taken(ctx, err)
	}
	before, wrote := s.loosely(false), false
	_, err := s.manifest.append(ctx, func(f facts) (lines []string, err error) {
		lines, err = s.lines(f, build)
		wrote = len(lines) > 0 // without a line the manifest was not checked
		return lines, err
	})
	if err == nil && wrote {
		s.fasten(before...)
	}
	return s.taken(ctx, err)
}

// sayUnseen is sayNow without the check that the manifest still exists; a later
// append makes this check.
func (s *Session) sayUnseen(ctx context.Context, build func(facts) ([]string, error)) error {
	if err := s.mayBegin(ctx); err != nil {
		return s.taken(ctx, err)
	}
	_, err := s.manifest.appendUnseen(ctx, func(f facts) ([]string, error) { return s.lines(f, build) })
	return s.taken(ctx, err)
}

// mayBegin returns [ErrErased] if the session had no manifest when it was opened, and
// other processes have stored and erased it since. It makes no request if the session has
// a manifest, or was opened a moment ago.
func (s *Session) mayBegin(ctx context.Context) error {
	if t, _ := s.manifest.known(); t.seq > 0 || time.Since(s.opened) < doubtful {
		return nil
	}
	gone, err := s.buriedUnborn(ctx)
	if err == nil && gone {
		err = &storage.Error{Op: "append", Key: s.dir, Err: ErrErased}
	}
	return err
}

func (s *Session) lines(f facts, build func(facts) ([]string, error)) ([]string, error) {
	if err := s.may(f); err != nil {
		return nil, err
	}
	return build(f)
}

// taken removes the files of this Session if err says that the session was
// erased.
func (s *Session) taken(ctx context.Context, err error) error {
	if errors.Is(err, ErrErased) {
		_, failed := s.withdraw(ctx)
		return errors.Join(err, failed)
	}
	return err
}

// markAnew is Checkpoint for a session that was scrubbed since it was opened: it
// reads the logs again.
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

// Fresh reads the manifest, and returns [ErrScrubbed] or [ErrErased] if the session was
// scrubbed or erased since it was opened.
func (s *Session) Fresh(ctx context.Context) error {
	t, err := s.manifest.refresh(ctx)
	if err == nil && !s.knowsAll(t.facts) {
		return &storage.Error{Op: "read", Key: s.dir, Err: ErrScrubbed}
	}
	if err == nil && t.seq == 0 { // the session never had a manifest
		var gone bool
		if gone, err = s.buried(ctx, "", s.opened); gone {
			err = &storage.Error{Op: "read", Key: s.dir, Err: ErrErased}
		}
	}
	return err
}

func (s *Session) logs() []*chain { return []*chain{s.events, s.journal, s.edits} }

// EndScrub completes an interrupted scrub of the session ([Session.Scrub]), and
// reports whether there was one. Writes do this automatically; call it before
// reading a session in order to continue it. It makes no request if the last read of
// the manifest shows no such scrub.
//
// While another process completes it, EndScrub waits: up to the lease of that process
// (20 seconds by default) if the process died, and no longer than ctx lasts. It returns
// [storage.ErrUnsupported] if the archive is not a [storage.Remover].
func (s *Session) EndScrub(ctx context.Context) (ended bool, err error) {
	if t, known := s.manifest.known(); known && t.facts.scrub == nil {
		return false, nil
	}
	return s.endScrub(ctx)
}

// endScrub is EndScrub, but always reads the manifest.
func (s *Session) endScrub(ctx context.Context) (ended bool, err error) {
	p := &placer{s: s, turn: turn{me: rand.Text(), lease: lease}}
	return p.end(ctx)
}

func (p *placer) end(ctx context.Context) (ended bool, err error) {
	for {
		it, err := p.claim(ctx)
		if err != nil {
			return ended, p.s.taken(ctx, err)
		}
		if it == nil {
			return ended, p.s.manifest.reread(ctx) // other processes may have appended to it since
		}
		if err := p.place(ctx, it); err != nil && !errors.Is(err, errPlaced) {
			return ended, p.s.taken(ctx, err)
		}
		ended = true
	}
}

// placer puts the files of a scrub in place. Only one process does so at a time.
type placer struct {
	s *Session
	r storage.Remover
	turn
}

// claim waits until no other process is completing the scrub, or until the lease of
// that process is over. It returns the scrub, or nil if there is none.
func (p *placer) claim(ctx context.Context) (*unplaced, error) {
	for {
		t, err := p.s.manifest.refresh(ctx)
		if err != nil || t.facts.scrub == nil {
			return nil, err
		}
		remover, ok := p.s.a.(storage.Remover)
		if !ok {
			return nil, &storage.Error{Op: "end a scrub", Key: p.s.dir, Err: storage.ErrUnsupported}
		}
		p.r = remover
		it := t.facts.scrub
		if it.by == p.me && !p.late() {
			return it, nil
		}
		if it.by == p.me || p.over(it.holder) {
			mine, err := p.take(ctx, t.facts)
			if mine != nil || err != nil {
				return mine, err
			}
			continue
		}
		if err := it.wait(ctx); err != nil {
			return nil, &storage.Error{Op: "end a scrub", Key: p.s.dir, Err: errors.Join(ErrUnplaced, err)}
		}
	}
}

// take records that this process completes the scrub, unless the manifest has new
// lines; then it returns nil.
func (p *placer) take(ctx context.Context, seen facts) (*unplaced, error) {
	began, rec := time.Now(), p.record(record{Op: opPlace, At: time.Now(), Scrub: seen.scrub.id})
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

// place puts the files in place, and then records that.
func (p *placer) place(ctx context.Context, it *unplaced) error {
	s := p.s
	for _, h := range it.files {
		if !h.File {
			continue
		}
		if err := p.takePlaceOf(ctx, it.id, h); err != nil {
			return err
		}
	}
	// The index is updated before the waiting files are removed. So if this run is
	// interrupted, the next one updates the index again. The session will be indexed again
	// from its new files.
	if err := s.unindex(ctx); err != nil {
		return err
	}
	waiting, err := s.waitingScrubs(ctx)
	if err != nil {
		return err
	}
	theirs := it.waiting()
	waiting = slices.DeleteFunc(waiting, func(name string) bool { return !slices.Contains(theirs, name) })
	if err := s.drop(ctx, p.r, waiting); err != nil {
		return err
	}
	for _, c := range s.logs() {
		if err := c.reset(ctx); err != nil {
			return err
		}
	}
	if err := p.placed(ctx, it.id); err != nil {
		return err
	}
	return s.tell(ctx, head{Op: headMark})
}

// placed records that the files of a scrub are in place, unless another process did. If
// the session is being erased, it returns [ErrErased], because the erase may not have
// listed the files.
func (p *placer) placed(ctx context.Context, scrub string) error {
	files, wrote := p.s.loosely(false), false // without a line the manifest was not checked
	_, err := p.s.manifest.append(ctx, func(f facts) ([]string, error) {
		wrote = false
		switch {
		case f.erasing:
			return nil, ErrErased
		case f.scrub == nil || f.scrub.id != scrub:
			return nil, nil
		}
		wrote = true
		return bodies([]record{{Op: opPlaced, At: time.Now(), Scrub: scrub}}), nil
	})
	if err == nil && wrote {
		p.s.fasten(files...)
	}
	return err
}

// errPlaced means that another process has completed the scrub.
var errPlaced = errors.New("another process has completed the scrub")

// takePlaceOf calls takePlace, with retries if another process was first: it took over and
// stored the file, or it was appending to a log and a piece of its append is in the way.
func (p *placer) takePlaceOf(ctx context.Context, scrub string, h rehash) error {
	for attempt := 0; ; attempt++ {
		err := p.takePlace(ctx, scrub, h)
		again := errors.Is(err, storage.ErrExists) || isLog(h.Name) && (errors.Is(err, storage.ErrDamaged) || errors.Is(err, storage.ErrSeq))
		if attempt == placeAttempts || !again {
			return err
		}
		if err := backOff(ctx, attempt); err != nil {
			return &storage.Error{Op: "end a scrub", Key: p.s.dir, Err: err}
		}
	}
}

const placeAttempts = 20

// takePlace replaces a file by the waiting one.
func (p *placer) takePlace(ctx context.Context, scrub string, h rehash) error {
	a, key, temp := p.s.a, child(p.s.dir, h.Name), child(p.s.dir, waitingName(scrub, h.Name))
	have, err := sumOf(ctx, a, key, h.Bytes) // a log may have grown since
	if err == nil && have == h.SHA256 {
		return nil
	}
	if err != nil && !errors.Is(err, storage.ErrNotExist) {
		return err
	}
	data, err := readWhole(ctx, a, temp)
	if errors.Is(err, storage.ErrNotExist) { // version 0.1.0
		temp = child(p.s.dir, scrubPrefix+h.Name)
		data, err = readWhole(ctx, a, temp)
	}
	if errors.Is(err, storage.ErrNotExist) {
		return nil // placed earlier and changed since, which is evidence
	}
	if err != nil {
		return err
	}
	if hashOf(data) != h.SHA256 { // written by another process
		return &storage.ChangedError{File: temp.Base(), Want: h.SHA256, Have: hashOf(data), Detail: "it waits to take the place of " + h.Name}
	}
	if err := p.remove(ctx, key); err != nil {
		return err
	}
	if isLog(h.Name) {
		return p.s.beginLog(ctx, key, blobOf(string(data)))
	}
	return p.s.createFile(ctx, key, blobOf(string(data)))
}

// remove removes a file while this process has the lease, which it renews if
// needed.
func (p *placer) remove(ctx context.Context, key storage.Key) error {
	if p.late() {
		it, err := p.claim(ctx)
		if err != nil {
			return err
		}
		if it == nil {
			return errPlaced
		}
	}
	return p.within(ctx, func(ctx context.Context) error { return p.r.Remove(ctx, key) })
}

// waiting returns the names of the waiting files of the scrub, including those that
// were already placed.
func (u *unplaced) waiting() (names []string) {
	for _, h := range u.files {
		if h.File {
			names = append(names, waitingName(u.id, h.Name), scrubPrefix+h.Name)
		}
	}
	return names
}

// drop removes waiting files of a scrub.
func (s *Session) drop(ctx context.Context, r storage.Remover, waiting []string) error {
	for _, name := range waiting {
		if err := r.Remove(ctx, child(s.dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// waitingScrubs returns the names of the waiting files of scrubs.
func (s *Session) waitingScrubs(ctx context.Context) (names []string, err error) {
	for info, err := range s.Files(ctx) {
		if err != nil {
			return nil, err
		}
		if waits(info.Key.Base()) {
			names = append(names, info.Key.Base())
		}
	}
	slices.Sort(names)
	return names, nil
}
