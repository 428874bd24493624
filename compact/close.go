package compact

import (
	"context"
	"errors"
	"sync"

	"github.com/agentcompact/compact/storage/record"
)

// closeArchive closes an archive that the manager opened, once; the caller holds m.ending.
func (m *CompactManager) closeArchive(ctx context.Context) error {
	if m.cfg.Archive != nil || m.archiveClosed {
		return nil
	}
	m.archiveClosed = true
	return closeOpened(ctx, m.archive)
}

// Flush writes the audit log of every session to the archive, and waits until the exporters
// have all emitted events. It also waits until the archive has stored the reductions on
// arrival for which earlier calls did not wait (tidy.wait), so that other processes make
// the same views. Then it sends the contents of the spool. If ctx is done first, Flush
// returns an error. An unreachable exporter is not an error of Flush; it is reported like
// every failure of an exporter (Config.OnTraceError), and the events wait.
func (m *CompactManager) Flush(ctx context.Context) (err error) {
	defer m.rescue("Flush", &err)
	if !m.uses.begin() {
		return ErrClosed
	}
	defer m.uses.done()
	err = errors.Join(m.flushLogs(ctx), m.flushTrace(ctx), m.appends.wait(ctx))
	if spool, ok := m.archive.(interface{ Flush(context.Context) error }); ok {
		err = errors.Join(err, spool.Flush(ctx))
	}
	return err
}

// flushAtOnce is the number of sessions that are written concurrently. A proxy has
// many sessions, and each waits for several requests to a bucket.
const flushAtOnce = 16

func (m *CompactManager) flushLogs(ctx context.Context) error {
	return errors.Join(sideBySide(&m.env, m.inMemory(), func(s *session) error {
		err := s.audit.drain(ctx)
		if err == nil {
			if err = s.log.Checkpoint(ctx); errors.Is(err, record.ErrErased) {
				err = nil
			}
		}
		return unflushed(s.id, err)
	}), sideBySide(&m.env, m.backlog.left(), func(a *auditLog) error {
		defer m.backlog.settle(a)
		return unflushed(a.id, a.drain(ctx))
	}))
}

func unflushed(id string, err error) error {
	if err == nil {
		return nil
	}
	return &ArchiveError{Op: "events", Session: id, Err: err}
}

// sideBySide runs f for each element, flushAtOnce at a time, and returns the errors in
// the order of the list. A panic becomes an error.
func sideBySide[T any](m *env, all []T, f func(T) error) error {
	errs, turn := make([]error, len(all)), make(chan struct{}, flushAtOnce)
	var work sync.WaitGroup
	for i := range all {
		turn <- struct{}{}
		work.Go(func() {
			defer func() { <-turn }()
			m.alone("the archive", &errs[i], func() { errs[i] = f(all[i]) })
		})
	}
	work.Wait()
	return errors.Join(errs...)
}

// Close cancels summaries that are written in the background, waits for running
// calls, writes the audit log, delivers the events queued for the exporters, shuts
// the exporters down, sends the contents of the spool, and closes the archive unless
// it is Config.Archive. The error names the data that could not be sent. Close
// honors the deadline of ctx, even if a call hangs. Calls after it return
// [ErrClosed]. A second Close waits for the first one, and does nothing if the first
// one has succeeded; otherwise it tries again to send the remaining data.
// Components of the Config must not call it. A usage that is observed after Close is
// in no bill; transport.Transport.Settle waits for the answers that are still being
// read.
func (m *CompactManager) Close(ctx context.Context) (err error) {
	defer m.rescue("Close", &err)
	m.uses.closing()
	if !m.ending.TryLock() {
		if err := m.ending.Lock(ctx); err != nil {
			return err
		}
	}
	defer m.ending.Unlock()
	if m.ended {
		return nil
	}
	err = errors.Join(m.side.end(ctx), m.uses.end(ctx))
	m.backlog.close(ctx)
	m.throwUnused()
	m.endTraces()
	err = errors.Join(err, m.flushLogs(ctx), m.pipe.Close(ctx), m.closeArchive(ctx))
	m.ended = err == nil
	return err
}
