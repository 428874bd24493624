package spool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/agentcompact/compact/storage"
)

// sessionsAtOnce is the number of sessions that are sent concurrently.
const sessionsAtOnce = 4

// sessions returns the sessions with a state.
func (s *Spool) sessions() ([]string, error) {
	entries, err := os.ReadDir(s.state(""))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if _, err := storage.ParseKey(e.Name()); err == nil && e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// sendAll sends the waiting operations of the sessions: several sessions at the same
// time, and the operations of each session in order. A failed session does not block
// others. But if the remote archive does not answer at all, no further session is
// started, and that error is returned. With wait it waits for sessions that another
// process is sending; without wait it skips them.
func (s *Spool) sendAll(ctx context.Context, sessions []string, wait bool) error {
	sessions, beside := apart(sessions)
	cut, err := s.cut(beside)
	if err != nil {
		return err
	}
	p := &passState{s: s, cut: cut}
	s.sendEach(ctx, p, sessions, wait)
	if len(beside) > 0 && !p.isOver() && cut.arrived(s) {
		s.sendEach(ctx, p, beside, wait)
	}
	return errors.Join(p.end(ctx), ctx.Err())
}

// sendEach sends the waiting operations of each session.
func (s *Spool) sendEach(ctx context.Context, p *passState, sessions []string, wait bool) {
	var group sync.WaitGroup
	slots := make(chan struct{}, sessionsAtOnce)
	s.inTurn(sessions)
	for _, session := range sessions {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil || p.isOver() {
			break
		}
		group.Go(func() {
			defer func() { <-slots }()
			p.note(ctx, session, s.sendSession(ctx, session, wait, p.cut))
		})
	}
	group.Wait()
}

// errBusy means that another process is sending the session.
var errBusy = errors.New("another process is sending the session")

// sendSession sends the waiting operations of one session.
func (s *Spool) sendSession(ctx context.Context, session string, wait bool, cut cut) error {
	unlock, err := s.lockSending(ctx, session, wait)
	if err != nil {
		return err
	}
	if unlock == nil {
		return errBusy
	}
	defer unlock()
	s.mu.Lock()
	delete(s.dirty, session) // later writes make it dirty again
	s.mu.Unlock()
	if err := s.conflict(session); err != nil {
		return err
	}
	done, ops, err := s.queue(session)
	if isBeside(session) {
		if then := cut.of(session, ops); len(then) < len(ops) {
			defer s.touched(session)
			ops = then
		}
	}
	if err == nil {
		err = s.sendOps(ctx, session, s.floors(done, ops), ops)
	}
	if err != nil && !errors.Is(err, ErrConflict) {
		s.mu.Lock()
		s.dirty[session] = true
		s.mu.Unlock()
	}
	return err
}

func (s *Spool) lockSending(ctx context.Context, session string, wait bool) (func(), error) {
	if wait {
		return s.lock(ctx, sending, session)
	}
	return s.tryLock(sending, session)
}

func (s *Spool) sendOps(ctx context.Context, session string, floor map[storage.Key]int64, ops []queued) error {
	for _, o := range ops {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := s.send(ctx, o, floor[o.key])
		if conflict := new(ConflictError); errors.As(err, &conflict) {
			gone, gerr := s.leftErased(ctx, session)
			if known := new(ConflictError); errors.As(gerr, &known) {
				conflict, err = known, known
			} else if gone || gerr != nil {
				return gerr
			}
			conflict.Session, conflict.Path = session, s.local.Location(mustKey(session))
			return errors.Join(err, replace(s.state(session, conflictFile), []byte(conflict.Reason)))
		}
		if err != nil {
			return err
		}
		if err := s.setSent(session, o.next); err != nil {
			return err
		}
	}
	return nil
}

// setSent records how much of the queue was processed. It need not be durable,
// because sending can be repeated.
func (s *Spool) setSent(session string, n int64) error {
	f, err := os.OpenFile(s.state(session, sentFile), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(sentLine(n), 0)
	return errors.Join(err, f.Close())
}

// queue returns the processed and the waiting operations of a session.
func (s *Spool) queue(session string) (done, waiting []queued, err error) {
	sent, err := os.ReadFile(s.state(session, sentFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	data, err := os.ReadFile(s.state(session, queueFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	at := parseSent(sent)
	return parseQueue(data[:min(at, int64(len(data)))], 0), parseQueue(data, at), nil
}

// floors returns how much of each log was certainly sent. A line about bytes
// that were never written is corrected before it counts as processed. A log that was
// removed since begins again from 0, even if the removal still waits in the queue.
func (s *Spool) floors(done, waiting []queued) map[storage.Key]int64 {
	out := map[storage.Key]int64{}
	for _, o := range done {
		if o.log {
			out[o.key] = max(out[o.key], o.end)
		}
		if o.removal() {
			delete(out, o.key)
		}
	}
	for _, o := range waiting {
		if o.removal() {
			delete(out, o.key)
			s.forget(o.key) // another process has removed it
		}
	}
	return out
}

// send sends one operation to the remote archive. It briefly takes the writing
// lock, so that the operation on the disk has ended: a missing file was never
// written, or was removed.
func (s *Spool) send(ctx context.Context, o queued, floor int64) error {
	size, err := s.settled(ctx, o)
	if errors.Is(err, storage.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if o.had { // if it lacks them now, it was erased or cut since
		floor = max(floor, o.end)
	}
	if o.log {
		return s.sendLog(ctx, o.key, min(floor, size), min(o.end, size))
	}
	return s.sendFile(ctx, o.key)
}

// settled returns the size of a key on the disk after the operation.
func (s *Spool) settled(ctx context.Context, o queued) (int64, error) {
	unlock, err := s.lock(ctx, writing, o.key.Dir())
	if err != nil {
		return 0, err
	}
	defer unlock()
	size, err := s.size(ctx, o.key)
	if o.log && size < o.end && (err == nil || errors.Is(err, storage.ErrNotExist)) {
		if err := s.correct(o, size); err != nil {
			return 0, fmt.Errorf("the spool cannot be written: %w", err)
		}
	}
	return size, err
}

func (s *Spool) sendFile(ctx context.Context, k storage.Key) error {
	b, err := stored(ctx, s.local, k, 0, -1)
	if err != nil {
		return err
	}
	err = s.remote.Create(ctx, k, b)
	if !errors.Is(err, storage.ErrExists) {
		return err
	}
	have, err := stored(ctx, s.remote, k, 0, -1)
	if err != nil {
		return err
	}
	if have.SHA256() != b.SHA256() {
		return &ConflictError{Reason: fmt.Sprintf("the remote archive has another %s", k)}
	}
	return nil
}

// sendLog extends the remote log to end; it had floor bytes before.
func (s *Spool) sendLog(ctx context.Context, k storage.Key, floor, end int64) error {
	for {
		if n, ok := s.known(k); ok && n < floor {
			s.forget(k) // another process has sent more
		}
		have, err := s.reached(ctx, k)
		if err != nil {
			return err
		}
		if have < floor {
			return &ConflictError{Reason: fmt.Sprintf("the remote archive has %d bytes of %s, but %d were sent: the file was erased or cut", have, k, floor)}
		}
		if have >= end {
			return nil
		}
		b, err := stored(ctx, s.local, k, have, end-have)
		if err != nil {
			return err
		}
		err = s.remote.Append(ctx, k, have, b)
		if err == nil {
			s.know(k, end)
			return nil
		}
		s.forget(k)
		if !errors.Is(err, storage.ErrSeq) {
			return err
		}
		now, err := s.reached(ctx, k)
		if err != nil {
			return err
		}
		if now == have {
			return fmt.Errorf("the remote archive neither accepts nor has byte %d of %s: %w", have, k, storage.ErrSeq)
		}
		floor = max(floor, have)
	}
}

// compared is the number of bytes at the end of a log that are compared. The
// lines of a log are chained, so if the last ones are equal, all are.
const compared = 64 << 10

// reached returns the size of the remote log. If it is not known from sending,
// the end is compared.
func (s *Spool) reached(ctx context.Context, k storage.Key) (int64, error) {
	if n, ok := s.known(k); ok {
		return n, nil
	}
	size := int64(0)
	for info, err := range s.remote.List(ctx, k) {
		if err != nil {
			return 0, err
		}
		if info.Key == k {
			size = info.Size
		}
	}
	mine, err := s.size(ctx, k)
	if err != nil {
		return 0, err
	}
	if size > mine {
		return 0, &ConflictError{Reason: fmt.Sprintf("the remote archive has %d bytes of %s, the disk %d", size, k, mine)}
	}
	from := max(size-compared, 0)
	theirs, err := s.span(ctx, s.remote, k, from, size)
	if err != nil {
		return 0, err
	}
	ours, err := s.span(ctx, s.local, k, from, size)
	if err != nil {
		return 0, err
	}
	if theirs != ours {
		return 0, &ConflictError{Reason: fmt.Sprintf("the remote archive has other bytes before byte %d of %s", size, k)}
	}
	s.know(k, size)
	return size, nil
}

// span returns the hash of a range of a log.
func (s *Spool) span(ctx context.Context, a storage.Archive, k storage.Key, from, to int64) (string, error) {
	if to == 0 {
		return "", nil
	}
	b, err := stored(ctx, a, k, from, to-from)
	return b.SHA256(), err
}
