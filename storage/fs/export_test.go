package fs

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentcompact/compact/storage/internal/filelock"
)

// Fault is a mistake that this package could make. The tests must see each.
type Fault string

// The planted faults.
const (
	NoFault           Fault = ""
	FaultNoFileSync   Fault = "the file is not synced"
	FaultNoFolderSync Fault = "the folder is not synced"
	FaultOverwrite    Fault = "the name is given by rename, which overwrites"
)

// OpenWith is Open with a fault.
func OpenWith(root string, fault Fault) (*Archive, error) {
	if fault == FaultOverwrite { // Open would refuse a file system that overwrites
		a, err := Open(root)
		if err == nil {
			a.sys.link = renameOver
		}
		return a, err
	}
	return open(root, fault.system())
}

func (f Fault) system() system {
	sys := realSystem
	switch f {
	case FaultNoFileSync:
		sys.sync = func(f *os.File) error { return syncIf(f, true) }
	case FaultNoFolderSync:
		sys.sync = func(f *os.File) error { return syncIf(f, false) }
	case FaultOverwrite:
		sys.link = renameOver
	}
	return sys
}

func renameOver(r *os.Root, from, to string) error { return r.Rename(from, to) }

// syncIf syncs only folders, or only other files.
func syncIf(f *os.File, folders bool) error {
	info, err := f.Stat()
	if err != nil || info.IsDir() != folders {
		return err
	}
	return f.Sync()
}

// OpenBroken is Open with failing calls: each call for which fails returns an
// error fails with it.
func OpenBroken(root string, fails func(call string) error) (*Archive, error) {
	return open(root, system{
		sync: func(f *os.File) error {
			call := "sync file"
			if info, err := f.Stat(); err != nil || info.IsDir() {
				call = "sync folder"
			}
			return errors.Join(fails(call), f.Sync())
		},
		link: func(r *os.Root, from, to string) error {
			if err := fails("link"); err != nil {
				return &os.LinkError{Op: "link", Old: from, New: to, Err: err}
			}
			return r.Link(from, to)
		},
	})
}

// Watch returns an archive that records the operations on which durability depends, in
// order, and the record.
func Watch(root string, fault Fault) (*Archive, *[]string, error) {
	var notes []string
	var mu sync.Mutex
	note := func(s string) {
		mu.Lock()
		defer mu.Unlock()
		notes = append(notes, s)
	}
	below := fault.system()
	sys := system{
		sync: func(f *os.File) error {
			if fault == FaultNoFileSync || fault == FaultNoFolderSync {
				info, err := f.Stat()
				if err != nil || info.IsDir() == (fault == FaultNoFolderSync) {
					return err
				}
			}
			id, err := fileID(f.Stat())
			note("sync " + id)
			return errors.Join(err, below.sync(f))
		},
		link: func(r *os.Root, from, to string) error {
			id, err := fileID(r.Lstat(from))
			note("link " + id + " " + to)
			return errors.Join(err, below.link(r, from, to))
		},
	}
	a, err := open(root, realSystem)
	if err == nil {
		a.sys = sys
	}
	return a, &notes, err
}

// FileID returns a value that distinguishes files, from the operating system.
func FileID(path string) (string, error) { return fileID(os.Lstat(path)) }

func fileID(info iofs.FileInfo, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%v", sysID(info)), nil
}

// SweepNow removes temporary files, like Create from time to time.
func (a *Archive) SweepNow() {
	a.swept = time.Time{}
	a.sweep()
}

// NewTemp begins a file as Create does, and returns its path and a function that ends
// it.
func (a *Archive) NewTemp() (path string, discard func(), err error) {
	t, err := a.newTemp()
	if err != nil {
		return "", nil, err
	}
	return t.name, t.discard, nil
}

// LockFile locks a file as Append does, and returns a function that unlocks it.
func LockFile(t testing.TB, path string) (unlock func()) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := filelock.TryLock(f); !ok || err != nil {
		t.Fatal(ok, err)
	}
	return func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// OpenHanging is Open, and returns hang in addition: after a call of hang, the next
// sync of a file hangs for a while.
func OpenHanging(root string) (a *Archive, hang func() (there <-chan struct{}, release func()), err error) {
	asked, done := make(chan struct{}), make(chan struct{})
	var armed atomic.Bool
	sys := realSystem
	sys.sync = func(f *os.File) error {
		if armed.CompareAndSwap(true, false) {
			close(asked)
			<-done
		}
		return f.Sync()
	}
	a, err = open(root, sys)
	return a, func() (<-chan struct{}, func()) {
		armed.Store(true)
		return asked, func() { close(done) }
	}, err
}

// KnowsBirth reports whether the file system stores the creation time of a
// folder.
func KnowsBirth(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // the file was only opened for reading
	_, ok := birth(f)
	return ok
}
