package spool

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/agentcompact/compact/storage"
)

const firstWait, longestWait = time.Second, 30 * time.Second

// background sends waiting operations. After an error it retries with
// increasing delays.
func (s *Spool) background(ctx context.Context) {
	defer close(s.done)
	failures := 0
	scan := time.Now()
	var a alarm
	for ctx.Err() == nil {
		all, next := false, time.Until(scan)
		if next <= 0 {
			all, scan = true, time.Now().Add(scanEvery)
			next = scanEvery
		}
		err := s.pass(ctx, all)
		s.report(&a)
		if err == nil {
			failures = 0
			s.rest(ctx, s.nextTurn(next), s.wake)
			continue
		}
		failures++
		most := min(firstWait<<min(failures-1, 10), longestWait)
		s.rest(ctx, most/2+rand.N(most/2), nil)
	}
}

// rest waits for d, until wake, or until ctx is done.
func (s *Spool) rest(ctx context.Context, d time.Duration, wake <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-wake:
	}
}

// pass sends the due sessions among those that this process wrote to. With all, it
// sends the sessions of all processes, and then removes erased and old sessions from
// the disk.
func (s *Spool) pass(ctx context.Context, all bool) error {
	sessions, err := s.waitingSessions(all)
	if sessions = s.due(sessions); err == nil && len(sessions) > 0 {
		err = s.sendAll(ctx, sessions, false)
	}
	if err == nil && all {
		err = s.leave(ctx)
	}
	if err == nil && all {
		err = s.evict(ctx, s.opts.Keep)
	}
	return err
}

func (s *Spool) waitingSessions(all bool) ([]string, error) {
	if all {
		return s.sessions()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]string, 0, len(s.dirty))
	for session := range s.dirty {
		out = append(out, session)
	}
	slices.Sort(out)
	return out, nil
}

// evict removes from the disk sessions that were sent and not written to for
// the time keep.
func (s *Spool) evict(ctx context.Context, keep time.Duration) error {
	sessions, err := s.sessions()
	if err != nil {
		return err
	}
	for _, session := range sessions {
		if err := s.evictOne(ctx, session, keep); err != nil {
			return err
		}
	}
	return nil
}

func (s *Spool) evictOne(ctx context.Context, session string, keep time.Duration) error {
	if ok, err := s.old(session, keep); err != nil || !ok {
		return err
	}
	for _, kind := range []lockKind{sending, writing} {
		unlock, err := s.tryLock(kind, session)
		if err != nil || unlock == nil {
			return err
		}
		defer unlock()
	}
	return s.evictLocked(ctx, session, keep)
}

// evictLocked is evictOne under both locks. It checks the session again, because another
// process can have written to it before the locks were taken.
func (s *Spool) evictLocked(ctx context.Context, session string, keep time.Duration) error {
	if ok, err := s.old(session, keep); err != nil || !ok {
		return err
	}
	if lost, err := s.lost(ctx, session); err != nil && keep > 0 {
		return err
	} else if lost != "" {
		return replace(s.state(session, conflictFile), []byte(lost))
	}
	// A session without its origin counts as not on the disk, even if other files of it are
	// left. A crash may have removed the origin already.
	if err := os.Remove(s.state(session, originFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := syncFolder(s.state(session)); err != nil {
		return err
	}
	return s.clear(ctx, mustKey(session))
}

// lost describes a sent file that the remote archive no longer has, so that the
// disk may hold the only copy; "" if the remote archive has all files. If the
// remote archive does not answer and the disk is full, its earlier confirmation
// must suffice.
func (s *Spool) lost(ctx context.Context, session string) (string, error) {
	there := map[storage.Key]int64{}
	for info, err := range s.remote.List(ctx, mustKey(session)) {
		if err != nil {
			return "", err
		}
		there[info.Key] = info.Size
	}
	if len(there) == 0 && !isBeside(session) {
		erased, err := s.erased(ctx, session)
		if erased {
			err = s.heldHere(ctx, session)
		}
		if conflict := new(ConflictError); errors.As(err, &conflict) {
			return conflict.Reason, nil
		}
		if err != nil || erased {
			return "", err // another machine has erased the session: it is removed here, too
		}
	}
	for info, err := range s.local.List(ctx, mustKey(session)) {
		if err != nil {
			return "", err
		}
		if size, ok := there[info.Key]; info.Foreign == "" && (!ok || size < info.Size) {
			return fmt.Sprintf("the remote archive took %d bytes of %s and has %d", info.Size, info.Key, size), nil
		}
	}
	return "", nil
}

// old reports whether a session was sent, and not written to for the time keep.
func (s *Spool) old(session string, keep time.Duration) (bool, error) {
	info, err := os.Stat(s.state(session, queueFile))
	if errors.Is(err, os.ErrNotExist) { // nothing was written yet
		info, err = os.Stat(s.state(session, originFile))
	}
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil || time.Since(info.ModTime()) < keep || s.conflict(session) != nil {
		return false, err
	}
	_, ops, err := s.queue(session)
	return err == nil && len(ops) == 0, err
}

// Sessions returns the folders of the sessions on the disk.
func (s *Spool) Sessions() ([]string, error) {
	all, err := s.sessions()
	if err != nil {
		return nil, &storage.Error{Op: "look into the spool", Err: err}
	}
	var here []string
	for _, session := range all {
		if isBeside(session) {
			continue
		}
		if _, ok, err := s.origin(session); err != nil {
			return nil, &storage.Error{Op: "look into the spool", Key: mustKey(session), Err: err}
		} else if ok {
			here = append(here, session)
		}
	}
	return here, nil
}

// Waiting counts the data that was not sent yet.
func (s *Spool) Waiting() (Waiting, error) {
	return s.waiting(func(string, queued) bool { return true })
}

// waiting counts the operations that were not sent yet and that count accepts.
func (s *Spool) waiting(count func(session string, o queued) bool) (Waiting, error) {
	w := Waiting{Dir: s.dir}
	sessions, err := s.sessions()
	if err != nil {
		return w, &storage.Error{Op: "look into the spool", Err: err}
	}
	for _, session := range sessions {
		if err := s.conflict(session); err != nil {
			w.Conflicts = append(w.Conflicts, err.Error())
		}
		if s.sentAll(session) {
			continue
		}
		_, ops, err := s.queue(session)
		if err != nil {
			return w, &storage.Error{Op: "look into the spool", Err: err}
		}
		ops = slices.DeleteFunc(ops, func(o queued) bool { return !count(session, o) })
		if w.Operations += len(ops); len(ops) > 0 && !isBeside(session) {
			w.Sessions++
		}
	}
	return w, nil
}

// Flush sends all data that waits in the folder when Flush begins, including the data of
// other processes. If some of it is not sent, it returns a [*WaitingError] with the
// reason. Data that is written later is not waited for. Flush ends when ctx is done.
func (s *Spool) Flush(ctx context.Context) error {
	sessions, err := s.sessions()
	ends := map[string]int64{}
	for _, session := range sessions {
		if info, err := os.Stat(s.state(session, queueFile)); err == nil {
			ends[session] = info.Size()
		}
	}
	if err == nil {
		err = s.sendAll(ctx, sessions, true)
	}
	if err == nil {
		err = s.leave(ctx)
	}
	return s.left(err, ends)
}

// left returns a [*WaitingError], or nil if everything in the queues up to these ends was
// sent.
func (s *Spool) left(why error, ends map[string]int64) error {
	w, err := s.waiting(func(session string, o queued) bool { return o.next <= ends[session] })
	if err != nil {
		return errors.Join(err, why)
	}
	if w.None() {
		return nil
	}
	if why == nil {
		why = s.failures()
	}
	if errors.Is(why, context.DeadlineExceeded) {
		why = fmt.Errorf("%s did not take them in time: %w", s.Location(storage.Key{}), why)
	}
	return &WaitingError{w, why}
}

// Close ends the background work, and sends the waiting operations. It returns the same
// errors as Flush. Later writes return [ErrClosed]. It is idempotent.
func (s *Spool) Close(ctx context.Context) error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		return nil
	}
	s.stop()
	select {
	case <-s.done:
	case <-ctx.Done():
	}
	err := s.Flush(ctx)
	if cerr := s.local.Close(); cerr != nil {
		err = errors.Join(err, fmt.Errorf("spool: %w", cerr))
	}
	return err
}
