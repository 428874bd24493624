package spool_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/agentcompact/compact/storage/internal/needs"
	"github.com/agentcompact/compact/storage/spool"
)

const faults = "COMPACT_FAULTS"

func TestFullDiskIsAClearErrorAndLosesNothing(t *testing.T) {
	needs.Skip(t, os.Geteuid() == 0, faults, "the right of root", "run it as root")
	disk := t.TempDir()
	mounted := unix.Mount("none", disk, "tmpfs", 0, "size=400k")
	needs.Skip(t, mounted == nil, faults, "the right to mount", "run it where that is allowed, such as a privileged container")
	t.Cleanup(func() { _ = unix.Unmount(disk, unix.MNT_DETACH) })
	r := newRemote()
	r.goAway(true)
	s := open(t, filepath.Join(disk, "spool"), r, &spool.Options{Blind: true, Passive: true})
	log := session(t, s, "s")
	steps := 0
	var err error
	for ; err == nil; steps++ {
		err = step(t.Context(), log)
	}
	steps--
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("after %d steps: %v, want ENOSPC", steps, err)
	}
	t.Logf("after %d steps: %v", steps, err)
	r.goAway(false)
	must(t, s.Flush(t.Context())) // even while the disk is full
	same(t, r, s)
	other := session(t, s, "t")
	must(t, step(t.Context(), other)) // the sent data frees space
	must(t, step(t.Context(), log))   // the session returns to the disk
	must(t, s.Flush(t.Context()))
	same(t, r, s)
	head, err := log.Head(t.Context())
	must(t, err)
	if head < steps+1 {
		t.Errorf("the archive has %d steps, %d were acknowledged", head, steps+1)
	}
	sound(t, r, "t", 1)
}

// A record of the queue that could not be written is an error, because the first record of a
// session reserves the space for all later ones.
func TestARecordThatCannotBeWrittenIsAnError(t *testing.T) {
	s := open(t, t.TempDir(), newRemote(), &spool.Options{Passive: true})
	must(t, os.MkdirAll(filepath.Dir(s.SentFile("s")), 0o700))
	must(t, s.SetSent("s", 7))
	must(t, os.Remove(s.SentFile("s")))
	must(t, os.Symlink("/dev/full", s.SentFile("s"))) // each write ends with ENOSPC
	if err := s.SetSent("s", 8); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v, want ENOSPC", err)
	}
	must(t, os.Remove(s.SentFile("s"))) // Close would read it
}
