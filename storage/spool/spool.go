package spool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
)

// Options configures [Open]. nil means the defaults.
type Options struct {
	// Keep is how long a sent session stays on the disk after its last write.
	// Default 24 h.
	Keep time.Duration
	// Blind is for agents, which must continue, and not for readers of the archive. With
	// Blind, a session that is not on the disk counts as new while the remote archive can't
	// be reached, unless this Spool has seen the session. Without Blind such a session is an
	// error.
	Blind bool
	// Passive means that nothing is sent in the background, only by Flush and
	// Close.
	Passive bool
	// Over, if not nil, returns an archive in the form that the caller of the spool
	// sees, for example decrypted. Through it the spool reads which sessions were
	// erased.
	Over func(storage.Archive) storage.Archive
}

const (
	defaultKeep = 24 * time.Hour
	// probeTimeout limits a request for a session that is not on the disk.
	probeTimeout = 5 * time.Second
	// downFor is the pause of such requests after a failure.
	downFor = 30 * time.Second
	// scanEvery is the interval between two scans for operations of other
	// processes.
	scanEvery = time.Minute
)

// Spool is an archive on disk in front of another archive. Create it with [Open], and
// close it with [Spool.Close].
type Spool struct {
	dir    string
	local  *fs.Archive
	remote storage.Archive
	opts   Options

	wake chan struct{} // something was written
	stop context.CancelFunc
	done chan struct{} // closed when the background has ended

	mu      sync.Mutex
	dirty   map[string]bool       // sessions that this process wrote to and that can wait
	there   map[storage.Key]int64 // known sizes of logs in the remote archive
	downAt  time.Time             // time of the remote archive's last answer or failure
	downErr error                 // error of that answer; nil: it was not a failure
	exist   map[string]bool       // sessions that were on the disk or in the remote archive when they were last looked for
	turns   map[string]turn       // retries of failed sessions
	notify  func(storage.Backlog) // see Notify; nil: none
	buried  int64                 // size of the log of tombstones up to which erased sessions have left
	closed  bool
}

var (
	_ storage.Archive = (*Spool)(nil)
	_ storage.Remover = (*Spool)(nil)
	_ storage.Keeper  = (*Spool)(nil)
	_ storage.Locator = (*Spool)(nil)
)

// Open returns a spool in front of remote, in the folder dir, which is created if it is
// missing. It starts to send the data that earlier processes left there. A folder
// belongs to the first archive for which it was opened, identified by the archive's
// [storage.Locator]. Opening the folder for another archive is an error.
func Open(dir string, remote storage.Archive, opts *Options) (*Spool, error) {
	if dir == "" {
		return nil, &storage.Error{Op: "open spool", Err: errors.New("no folder is named")}
	}
	dir, err := fs.Folder(dir)
	if err != nil {
		return nil, &storage.Error{Op: "open spool", Err: err}
	}
	s := &Spool{
		dir: filepath.Clean(dir), remote: remote, wake: make(chan struct{}, 1), done: make(chan struct{}),
		dirty: map[string]bool{}, there: map[storage.Key]int64{}, turns: map[string]turn{}, exist: map[string]bool{},
	}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Keep == 0 {
		s.opts.Keep = defaultKeep
	}
	if s.local, err = fs.Open(filepath.Join(s.dir, "archive")); err != nil {
		return nil, err
	}
	for _, sub := range []string{"state", "locks"} {
		if err := makeFolder(filepath.Join(s.dir, sub)); err != nil {
			return nil, &storage.Error{Op: "open spool", Err: errors.Join(err, s.local.Close())}
		}
	}
	if err := s.bind(); err != nil {
		return nil, &storage.Error{Op: "open spool", Err: errors.Join(err, s.local.Close())}
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	if s.opts.Passive {
		close(s.done)
	} else {
		go s.background(ctx)
	}
	return s, nil
}

// remoteFile names the archive of the folder.
const remoteFile = "remote"

// bind makes sure that the folder belongs to the remote archive.
func (s *Spool) bind() error {
	l, ok := s.remote.(storage.Locator)
	if !ok {
		return nil
	}
	path, mine := filepath.Join(s.dir, remoteFile), l.Location(storage.Key{})
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return replace(path, []byte(mine))
	}
	if err == nil && string(data) != mine {
		err = fmt.Errorf("%s is the spool of %s, not of %s; give each archive a folder of its own", s.dir, data, mine)
	}
	return err
}

// Remote returns the remote archive.
func (s *Spool) Remote() storage.Archive { return s.remote }

// Dir returns the folder.
func (s *Spool) Dir() string { return s.dir }

// Location returns the location of a key in the remote archive, also before it is
// sent.
func (s *Spool) Location(k storage.Key) string {
	if l, ok := s.remote.(storage.Locator); ok {
		return l.Location(k)
	}
	return s.local.Location(k)
}

// belongsToNoSession reports whether a key belongs to no session; the remote archive alone stores
// such keys. In an encrypted archive each log is a folder, even a log beside the
// sessions, such as _erased.jsonl.
func belongsToNoSession(k storage.Key) bool {
	dir := k.Dir()
	return dir == k.String() || isBeside(dir) && strings.Contains(dir, ".")
}

// touched records that a session waits, and wakes the background work.
func (s *Spool) touched(session string) {
	s.mu.Lock()
	s.dirty[session] = true
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default: // already awake
	}
}

// maxExist limits the number of remembered sessions.
const maxExist = 4096

// seen records whether a session was there.
func (s *Spool) seen(session string, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !there {
		delete(s.exist, session)
		return
	}
	if len(s.exist) >= maxExist {
		clear(s.exist)
	}
	s.exist[session] = true
}

// isNew reports whether a session counts as new if the remote archive can't be reached:
// with Blind, unless this process has seen the session. A folder beside the sessions can
// be new for each machine.
func (s *Spool) isNew(session string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opts.Blind && (isBeside(session) || !s.exist[session])
}

// asked records the remote archive's answer.
func (s *Spool) asked(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.downAt, s.downErr = time.Now(), err
}

// Unreachable returns the error of the remote archive if it did not answer a request of the
// last half minute; nil if it did, or was not asked. Meanwhile a reader sees only the
// sessions on the disk.
func (s *Spool) Unreachable() error { return s.down() }

// down returns the recent error of the remote archive, nil if there is none.
func (s *Spool) down() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.downErr == nil || time.Since(s.downAt) > downFor {
		return nil
	}
	return s.downErr
}

func makeFolder(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return syncFolder(filepath.Dir(dir))
}
