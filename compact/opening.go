package compact

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// session returns the state of a session, which is read from the archive the first
// time and stays in memory at least until it is released. Concurrent calls for one
// session share one read; a call leaves when its context is done.
func (m *CompactManager) session(ctx context.Context, id string) (*session, error) {
	if !m.uses.begin() {
		return nil, ErrClosed
	}
	if err := m.keyed(ctx, request{dry: true}); err != nil {
		m.uses.done()
		return nil, err
	}
	s, err := m.shared(ctx, sessionNames{m.nameOf(id), SessionName(m.redactor, id)})
	if err != nil {
		m.uses.done()
	}
	return s, err
}

func (m *CompactManager) shared(ctx context.Context, is sessionNames) (*session, error) {
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
func (m *CompactManager) held(ctx context.Context, is sessionNames) (*session, *opening) {
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

// open starts a read of a session. The caller holds mu, and a use of the manager, so that
// Close waits for it.
func (m *CompactManager) open(ctx context.Context, is sessionNames) *opening {
	name := is.name.String()
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	o := &opening{done: make(chan struct{}), stop: stop}
	m.openings[name] = o
	m.uses.add()
	go func() {
		defer m.uses.done()
		defer stop()
		var s *session
		var err error
		defer func() { m.hasRead(name, o, s, err) }()
		m.alone("the archive", &err, func() { s, err = m.read(ctx, is) })
	}()
	return o
}

// hasRead ends an opening with the session, or with the error of reading it.
func (m *CompactManager) hasRead(name string, o *opening, s *session, err error) {
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
}

// keepSession puts a session into memory for the waiting calls; the caller
// holds mu.
func (m *CompactManager) keepSession(s *session, users int) {
	s.audit = m.backlog.adopt(s.id, s.log)
	s.seeWaiting()
	s.users = users
	m.sessions[s.id] = s
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
func (m *CompactManager) read(ctx context.Context, is sessionNames) (_ *session, err error) {
	defer m.rescue("the archive", &err)
	name := is.name
	folder, err := m.folderOf(ctx, name, is.old)
	if err != nil && !m.canContinue(ctx, err) {
		return nil, &ArchiveError{Op: "read", Session: name.String(), Err: err}
	}
	s, err := openToGoOn(ctx, m.archive, folder, m.keys)
	half := err != nil && s != nil && s.log.Erasing()
	if half {
		s, err = m.afterHalf(ctx, is, s, err)
	}
	if errors.Is(err, storage.ErrNoIdentity) {
		s, err = m.openUnread(ctx, name.String(), folder, err)
	}
	if err != nil && m.canContinue(ctx, err) {
		s, err = m.readLate(ctx, name.String(), err)
	}
	if err == nil && s.late == nil && !half {
		if s, err = m.afterErasure(ctx, is, s); err != nil && m.canContinue(ctx, err) {
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

// afterHalf calls afterErasure for a session that can't be read because an erase has
// removed some of its files. Without a tombstone it returns why, the error of the read.
func (m *CompactManager) afterHalf(ctx context.Context, is sessionNames, s *session, why error) (*session, error) {
	next, err := m.afterErasure(ctx, is, s)
	if err == nil && next == s { // it has no tombstone yet
		return nil, why
	}
	return next, err
}

// canContinue reports whether a session can be used although its archive could not
// be read. The configuration must allow it, and the failure must concern the
// storage, not its content.
func (m *CompactManager) canContinue(ctx context.Context, err error) bool {
	var place *storage.Error
	return m.cfg.Storage.OnError == "continue" && ctx.Err() == nil && errors.As(err, &place) &&
		!errors.Is(err, storage.ErrDamaged) && !errors.Is(err, record.ErrErased)
}

// readLate returns an empty session if the archive does not answer. If the session was
// erased, it stores nothing, and the next call reads the session again.
func (m *CompactManager) readLate(ctx context.Context, name string, err error) (*session, error) {
	a := newLate(&m.env, &m.side, "session "+name, err, func(ctx context.Context) (storage.Archive, error) {
		log, err := record.OpenSession(ctx, m.archive, name)
		if err == nil && log.ManifestHead() == "" {
			var erased bool
			if _, erased, err = m.graves.Find(ctx, name); erased {
				err = &storage.Error{Op: "open", Key: log.Key(), Err: record.ErrErased}
			}
		}
		return m.archive, err
	})
	s, err := openSession(ctx, a, name, m.keys)
	if err == nil {
		s.late = a
	}
	return s, err
}

// keyed finds the key of the archive before any name is computed. A call that can
// write gives a key to an archive that has none. If that fails, the call fails
// only when it has something to store.
func (m *CompactManager) keyed(ctx context.Context, q request) error {
	if q.observe || m.keys.settled.Load() {
		return nil
	}
	if err := m.keys.look(ctx, m.archive); err != nil && !m.canContinue(ctx, err) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &ArchiveError{Op: "read", Err: err}
	}
	if !q.dry {
		_, _ = m.keys.make(ctx, m.archive)
	}
	return ctx.Err()
}

// folderOf returns the name under which the archive has a session: the name of
// version 1 if only that exists.
func (m *CompactManager) folderOf(ctx context.Context, name, old redact.Text) (string, error) {
	if name == old {
		return name.String(), nil
	}
	for _, n := range []redact.Text{name, old} {
		there, err := hasSession(ctx, m.archive, n.String())
		if err != nil || there {
			return n.String(), err
		}
	}
	return name.String(), nil
}

func hasSession(ctx context.Context, a storage.Archive, name string) (bool, error) {
	dir, err := record.Prefix(name)
	if err != nil {
		return false, err
	}
	return hasFolder(ctx, a, dir)
}

func hasFolder(ctx context.Context, a storage.Archive, dir storage.Key) (bool, error) {
	for _, err := range a.List(ctx, dir) {
		return err == nil, err
	}
	return false, nil
}

// ownFolder returns the folder in which a process without an identity continues an
// encrypted session. It differs for each process.
func (m *CompactManager) ownFolder(folder string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.own == "" {
		m.own = strings.ToLower(rand.Text()[:12])
	}
	return folder + ".by-" + m.own
}

// openUnread opens a new session, in a folder of its own, in place of a session that
// this process can't read. The existing session stays unchanged, and the history is
// compacted again.
func (m *CompactManager) openUnread(ctx context.Context, id, folder string, why error) (*session, error) {
	own := m.ownFolder(folder)
	s, err := openSession(ctx, m.archive, own, m.keys)
	if err != nil {
		return nil, errors.Join(why, err)
	}
	m.log().Warn("compact: the archived files of the session can't be read here; the session continues in a new folder",
		"session", id, "folder", record.EscapeSession(own), "error", m.redactor.Text(why.Error()).String())
	return s, nil
}

// shadowKey is the prefix of the ids of shadows, which no session's name has.
const shadowKey = "\x00observed\x00"

func (m *CompactManager) shadowOf(ctx context.Context, label redact.Text) (*session, error) {
	id := shadowKey + label.String()
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.sessions[id]; s != nil {
		s.users++
		return s, nil
	}
	s, err := openSession(ctx, m.shadows, id, m.keys) // in memory, and empty
	if err != nil {
		return nil, err
	}
	s.shadow, s.volatile = true, true
	s.redactor.Session = m.redactor.Session(label)
	m.keepSession(s, 1)
	return s, nil
}
