package compact

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
)

// opening is a session that is being read from the archive, shared by all calls
// that need it. The manager's mutex guards it.
type opening struct {
	done    chan struct{} // closed when s and err are set
	s       *session
	err     error
	waiting int // calls
	stop    context.CancelFunc
}

// session returns the state of a session, which is read from the archive the
// first time and stays in memory until it is released. Concurrent calls for one
// session share one read; a call leaves when its context is done.
func (m *CompactManager) session(ctx context.Context, id string) (*session, error) {
	if !m.uses.begin() {
		return nil, ErrClosed
	}
	if err := m.keyed(ctx, request{dry: true}); err != nil {
		m.uses.done()
		return nil, err
	}
	s, err := m.shared(ctx, called{m.nameOf(id), SessionName(m.redactor, id)})
	if err != nil {
		m.uses.done()
	}
	return s, err
}

// called holds the name of a session, and its name in version 1.
type called struct{ name, old redact.Text }

func (m *CompactManager) shared(ctx context.Context, is called) (*session, error) {
	s, o := m.held(ctx, is)
	if s != nil {
		return s, nil
	}
	select {
	case <-o.done:
	case <-ctx.Done():
	}
	return m.opened(ctx, is.name.String(), o)
}

// held returns a session in memory, or its opening.
func (m *CompactManager) held(ctx context.Context, is called) (*session, *opening) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.sessions[is.name.String()]; s != nil {
		s.users++
		return s, nil
	}
	o := m.openings[is.name.String()]
	if o == nil {
		o = m.open(ctx, is)
	}
	o.waiting++
	return nil, o
}

// open starts a read of a session; the caller holds mu, and a use.
func (m *CompactManager) open(ctx context.Context, is called) *opening {
	name := is.name.String()
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	o := &opening{done: make(chan struct{}), stop: stop}
	m.openings[name] = o
	m.uses.add()
	go func() {
		defer m.uses.done()
		defer stop()
		s, err := m.read(ctx, is)
		m.mu.Lock()
		defer m.mu.Unlock()
		o.s, o.err = s, err
		if m.openings[name] == o {
			delete(m.openings, name)
			if err == nil {
				m.keepSession(s, o.waiting)
			}
		}
		close(o.done)
	}()
	return o
}

// keepSession puts a session into memory for the waiting calls; the caller
// holds mu.
func (m *CompactManager) keepSession(s *session, users int) {
	s.audit = m.backlog.adopt(s.id, s.log)
	s.seeWaiting()
	s.users = users
	m.sessions[s.id] = s
}

// writing returns the session in memory that writes to an audit log, or nil.
func (m *CompactManager) writing(a *auditLog) *session {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.sessions[a.id]; s != nil && s.audit == a {
		return s
	}
	return nil
}

// inMemory returns the sessions in memory.
func (m *CompactManager) inMemory() []*session {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Values(m.sessions))
}

// opened ends a call's wait for an opening. If the last call leaves early, the
// read is canceled.
func (m *CompactManager) opened(ctx context.Context, id string, o *opening) (*session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-o.done:
		return o.s, o.err
	default:
	}
	if o.waiting--; o.waiting == 0 { // no call waits for it
		o.stop()
		delete(m.openings, id)
	}
	return nil, ctx.Err()
}

// read reads a session from the archive.
func (m *CompactManager) read(ctx context.Context, is called) (_ *session, err error) {
	defer m.rescue("the archive", &err)
	name := is.name
	folder, err := m.folderOf(ctx, name, is.old)
	if err != nil && !m.goesOn(ctx, err) {
		return nil, &ArchiveError{Op: "read", Session: name.String(), Err: err}
	}
	s, err := openToGoOn(ctx, m.archive, folder, m.keys)
	if errors.Is(err, storage.ErrNoIdentity) {
		s, err = m.openUnread(ctx, name.String(), folder, err)
	}
	if err != nil && m.goesOn(ctx, err) {
		s, err = m.readLate(ctx, name.String(), err)
	}
	if err == nil && s.late == nil {
		if s, err = m.afterErasure(ctx, is, s); err != nil && m.goesOn(ctx, err) {
			s, err = m.readLate(ctx, name.String(), err)
		}
	}
	if err == nil {
		s.id = name.String()
		if a, ok := m.archive.(*lateArchive); ok {
			s.late = a
		}
		s.log.KeepHeads(m.heads)
		s.redactor.Session, s.checked = m.redactor.Session(name), m.now()
	}
	if err == nil && m.cfg.Storage.Transcripts == "all" {
		err = s.readJournal(ctx)
	}
	if err != nil {
		return nil, &ArchiveError{Op: "read", Session: name.String(), Err: err}
	}
	return s, nil
}
