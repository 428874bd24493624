package fs_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/internal/needs"
	"github.com/agentcompact/compact/storage/record"
)

// able skips a test with a message if the machine can't run it.
func able(t testing.TB, ok bool, what, remedy string) {
	t.Helper()
	needs.Skip(t, ok, "COMPACT_FAULTS", what, remedy)
}

func needsTool(t testing.TB, name string) {
	t.Helper()
	_, err := exec.LookPath(name)
	able(t, err == nil, name, "install it")
}

func needsMounts(t testing.TB) {
	t.Helper()
	able(t, os.Geteuid() == 0, "the right of root", "run it as root")
	dir := t.TempDir()
	err := unix.Mount("none", dir, "tmpfs", 0, "size=64k")
	able(t, err == nil, "the right to mount", "run it where that is allowed, such as a privileged container")
	must(t, unix.Unmount(dir, 0))
}

// mount mounts a file system, and unmounts it at the end of the test, even if the test
// fails.
func mount(t testing.TB, source, kind, options string) string {
	t.Helper()
	dir := t.TempDir()
	must(t, unix.Mount(source, dir, kind, 0, options))
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

func TestFullDiskIsAClearErrorWithoutPartialFiles(t *testing.T) {
	needsMounts(t)
	root := mount(t, "none", "tmpfs", "size=300k")
	a := open(t, root)
	s, err := record.OpenSession(t.Context(), a, "s")
	must(t, err)
	var lines []redact.Text
	for range 300 {
		lines = append(lines, redact.Lit(`{"role":"tool","content":"what a tool said, of some length, and the same each time it is said"}`))
	}
	step := 1
	for err == nil && step < 100 {
		if _, err = s.Transcript(t.Context(), step, lines); err == nil {
			_, err = s.Commit(t.Context(), step, redact.Lit(`{"v":1}`))
			step++
		}
	}
	var typed *storage.Error
	if !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &typed) || typed.Key.IsZero() {
		t.Fatalf("after %d steps: %v, want ENOSPC with its key", step-1, err)
	}
	for err = nil; err == nil; { // every last byte
		err = s.Events(t.Context(), lines[:1])
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a log on a full disk: %v, want ENOSPC", err)
	}
	if temps, err := os.ReadDir(root + "/.tmp"); err != nil || len(temps) > 0 {
		t.Errorf("%d temporary files are left, %v", len(temps), err)
	}
	wantOK := func() {
		t.Helper()
		r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{})
		must(t, err)
		for _, p := range r.Problems {
			t.Errorf("verify: %s", p)
		}
		for _, n := range r.Notes {
			if strings.Contains(n, "an incomplete line") {
				t.Errorf("half a line is left: %s", n)
			}
		}
	}
	wantOK()
	must(t, unix.Mount("none", root, "tmpfs", unix.MS_REMOUNT, "size=2m"))
	head, err := s.Head(t.Context())
	must(t, err)
	must(t, second(s.Transcript(t.Context(), head+1, lines)))
	must(t, second(s.Commit(t.Context(), head+1, redact.Lit(`{"v":1}`))))
	wantOK()
}

func TestReadOnlyFolderIsAnErrorAtOpenAndLater(t *testing.T) {
	needsMounts(t)
	root := mount(t, "none", "tmpfs", "size=300k")
	a := open(t, root)
	k := key(t, "s/log")
	must(t, a.Append(t.Context(), k, 0, lit))
	must(t, unix.Mount("none", root, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	_, openErr := fs.Open(root)
	for what, err := range map[string]error{
		"Open": openErr, "Create": a.Create(t.Context(), key(t, "s/f"), lit),
		"Append": a.Append(t.Context(), k, lit.Size(), lit), "Remove": a.Remove(t.Context(), k),
	} {
		if !errors.Is(err, syscall.EROFS) {
			t.Errorf("%s: %v, want EROFS", what, err)
		}
	}
	if got := tree(t, root)["s/log"]; !strings.HasSuffix(got, `{"some":"text"}`+"\n") {
		t.Errorf("the earlier data cannot be read: %q", got)
	}
}

func TestForeignFolderIsAnErrorAtOpen(t *testing.T) {
	able(t, os.Geteuid() == 0, "the right of root", "run it as root")
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o500))
	// The other user must be able to run the binary.
	exe, err := os.Executable()
	must(t, err)
	open, err := os.MkdirTemp("", "")
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(open)) })
	must(t, os.Chmod(open, 0o755))
	data, err := os.ReadFile(exe)
	must(t, err)
	must(t, os.WriteFile(open+"/worker", data, 0o755))
	cmd := exec.CommandContext(t.Context(), open+"/worker")
	cmd.Env = append(os.Environ(), workerMode+"=once", workerRoot+"="+filepath.Join(dir, "root"), workerID+"=s")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	cmd.Dir = "/"
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "storage: open archive") || !strings.Contains(string(out), "permission denied") {
		t.Errorf("got %v: %s, want an error", err, out)
	}
}

// injected lists the system calls that an archive depends on. The test kills a process
// at each system call, and makes each call fail with each possible error.
var injected = []struct {
	calls string
	err   string
}{
	{"fsync", "EIO"}, {"fsync", "ENOSPC"}, {"linkat", "EIO"}, {"linkat", "ENOSPC"}, {"write", "ENOSPC"}, {"pwrite64", "ENOSPC"},
	{"pwrite64", "EIO"}, {"mkdirat", "ENOSPC"}, {"openat", "EMFILE"}, {"ftruncate", "EIO"}, {"unlinkat", "EIO"}, {"flock", "EIO"}, {"getdents64", "EIO"}, {"read", "EIO"},
}

var killed = []string{"openat", "write", "pwrite64", "fsync", "linkat", "unlinkat", "mkdirat", "flock", "newfstatat", "fstat", "close", "getdents64", "lseek", "read"}

// TestEachSystemCallCanFail runs two steps under strace again and again, and
// makes the n-th system call of a kind fail, or kills the process there. Then
// an intact process continues. COMPACT_STRACE_EVERY is the distance between two
// tested values of n.
func TestEachSystemCallCanFail(t *testing.T) {
	needsTool(t, "strace")
	every := size(t, "COMPACT_STRACE_EVERY", 29, 1)
	probe := start(t, "once", t.TempDir(), "s", fs.NoFault, "strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", "trace=fsync")
	able(t, probe.wait(t) == nil, "the right to trace", "run it where ptrace is allowed")
	runs, hits := 0, 0
	for i, kill := range killed {
		r, h := inTurn(t, kill, "signal=KILL", every, i)
		runs, hits = runs+r, hits+h
	}
	for i, in := range injected {
		r, h := inTurn(t, in.calls, "error="+in.err, every, i)
		runs, hits = runs+r, hits+h
	}
	t.Logf("%d runs, %d of them did not finish", runs, hits)
	if hits == 0 {
		t.Error("no injection had any effect")
	}
}

// inTurn increases n until a process ends before its n-th call.
func inTurn(t *testing.T, call, fault string, every, first int) (runs, hits int) {
	t.Helper()
	const most = 400
	// strace stops the process at the chosen calls only, which takes half the time. It can
	// not kill the process then. A process that was not killed has no n-th call.
	trace, enough := []string{"strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", "trace=" + call}, 3
	if strings.HasPrefix(fault, "signal") {
		trace, enough = slices.Delete(trace, 2, 3), 1
	}
	calm := 0
	for n := 1 + first%every; n < most && calm < enough; n += every {
		root := t.TempDir()
		inject := fmt.Sprintf("inject=%s:%s:when=%d", call, fault, n)
		w := start(t, "once", root, "s", fs.NoFault, slices.Concat(trace, []string{"-e", inject})...)
		failed := w.wait(t) != nil
		runs++
		var k acknowledged
		k.add(t, w)
		if failed {
			hits, calm = hits+1, 0
		} else {
			calm++ // there is no n-th call, or the process does not depend on it
		}
		k.whole(t, root, "s")
		again := start(t, "once", root, "s", fs.NoFault)
		if err := again.wait(t); err != nil {
			t.Errorf("the next process: %v: %s", err, again.errout.String())
		}
		k.add(t, again)
		k.whole(t, root, "s")
		if t.Failed() {
			t.Fatalf("%s; the worker said: %s", inject, w.errout.String())
		}
	}
	return runs, hits
}

// disk is an ext4 file system in a file with a simulated power supply.
type disk struct {
	image, dir string
}

const ext4Shutdown, withoutFlush = 0x8004587d, 2

func newDisk(t testing.TB) *disk {
	t.Helper()
	needsMounts(t)
	needsTool(t, "mkfs.ext4")
	needsTool(t, "mount")
	d := &disk{filepath.Join(t.TempDir(), "image"), t.TempDir()}
	f, err := os.Create(d.image)
	must(t, err)
	must(t, errors.Join(f.Truncate(64<<20), f.Close()))
	run(t, "mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", d.image)
	out, err := exec.CommandContext(t.Context(), "mount", "-o", "loop", d.image, d.dir).CombinedOutput()
	able(t, err == nil, "a loop device ("+strings.TrimSpace(string(out))+")", "run it where one can be mounted, such as a privileged container")
	t.Cleanup(func() { _ = unix.Unmount(d.dir, unix.MNT_DETACH) })
	return d
}

func run(t testing.TB, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", name, err, out)
	}
}

// cut simulates a power loss: data that is not on the disk by now is lost.
func (d *disk) cut(t testing.TB) {
	t.Helper()
	f, err := os.Open(d.dir)
	must(t, err)
	must(t, unix.IoctlSetPointerInt(int(f.Fd()), ext4Shutdown, withoutFlush))
	must(t, f.Close())
}

// restore mounts the disk again.
func (d *disk) restore(t testing.TB) {
	t.Helper()
	must(t, unix.Unmount(d.dir, unix.MNT_DETACH))
	run(t, "mount", "-o", "loop", d.image, d.dir)
}

// TestPowerLossLosesNothingAcknowledged cuts the power under two writers of one
// session at random moments. COMPACT_POWER_LOSSES sets the number of losses.
func TestPowerLossLosesNothingAcknowledged(t *testing.T) {
	d := newDisk(t)
	losses := size(t, "COMPACT_POWER_LOSSES", 4, 200)
	const perSession = 4
	steps, torn := 0, 0
	var k acknowledged
	for i := range losses {
		root, id := d.dir+"/root", fmt.Sprintf("s%d", i/perSession)
		one, two := start(t, "steps", root, id, fs.NoFault), start(t, "steps", root, id, fs.NoFault)
		one.acked(t)
		time.Sleep(time.Duration(i*37%150) * time.Millisecond)
		// Only output from before the cut counts: after a real power loss no
		// process could print anything, and a sync during the cut can return
		// without an error.
		said := [][]string{one.snapshot(), two.snapshot()}
		d.cut(t)
		for i, w := range []*worker{one, two} {
			if err := w.wait(t); err == nil {
				t.Error("a worker finished although the power was lost")
			}
			k.addAcks(t, said[i])
		}
		d.restore(t)
		r := k.whole(t, root, id)
		if t.Failed() {
			t.Fatalf("power loss %d", i)
		}
		if i%perSession == perSession-1 || i == losses-1 {
			steps, torn = steps+k.steps, torn+tornLines(r)
			must(t, os.RemoveAll(root))
			k = acknowledged{}
		}
	}
	t.Logf("%d power losses, %d steps acknowledged, %d torn lines", losses, steps, torn)
}

func TestPowerLossRevealsEachMissingSync(t *testing.T) {
	d := newDisk(t)
	for i, c := range []struct {
		mode  string
		fault fs.Fault
		lost  bool
	}{
		{"create", fs.NoFault, false}, {"append", fs.NoFault, false},
		{"create", fs.FaultNoFileSync, true}, {"append", fs.FaultNoFileSync, true}, {"create", fs.FaultNoFolderSync, true},
	} {
		root, id := fmt.Sprintf("%s/root%d", d.dir, i), "s"
		warm, err := fs.Open(root) // the root folder must be durable before
		must(t, err)
		must(t, warm.Create(t.Context(), key(t, "s/first"), lit))
		must(t, warm.Close())
		w := start(t, c.mode, root, id, c.fault)
		w.acked(t)
		d.cut(t)
		must(t, w.stdin.Close())
		_ = w.wait(t) // the worker has ended
		d.restore(t)
		var k acknowledged
		k.add(t, w)
		a, err := fs.Open(root)
		must(t, err)
		lost, err := k.lost(t.Context(), a, id)
		must(t, errors.Join(err, a.Close()))
		if len(lost) > 0 != c.lost {
			t.Errorf("%s, fault %q: lost %q", c.mode, c.fault, lost)
		}
	}
}
