package fs_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/turnindex"
)

// The tests of this package start their own binary again as a process that
// archives and prints acknowledged data on standard output, so that it can be
// killed, blocked or lose its disk.
const (
	workerMode  = "COMPACT_FS_WORKER" // the task of the worker
	workerRoot  = "COMPACT_FS_ROOT"
	workerID    = "COMPACT_FS_SESSION"
	workerFault = "COMPACT_FS_FAULT"
)

func TestMain(m *testing.M) {
	mode := os.Getenv(workerMode)
	if mode == "" {
		os.Exit(m.Run())
	}
	if err := work(mode); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func work(mode string) error {
	ctx := context.Background()
	a, err := fs.OpenWith(os.Getenv(workerRoot), fs.Fault(os.Getenv(workerFault)))
	if err != nil {
		return err
	}
	id := os.Getenv(workerID)
	switch mode {
	case "create": // creates one file, and then waits
		k, err := record.SessionKey(id, "file-001.json")
		if err != nil {
			return err
		}
		if err := a.Create(ctx, k, payload(20_000)); err != nil {
			return err
		}
		ack("file %s %s", k.Base(), payload(20_000).SHA256())
	case "append":
		k, err := record.SessionKey(id, "log.jsonl")
		if err != nil {
			return err
		}
		if err := a.Append(ctx, k, 0, payload(20_000)); err != nil {
			return err
		}
		ack("file %s %s", k.Base(), payload(20_000).SHA256())
	case "steps":
		return steps(ctx, a, id, 1<<30)
	case "once":
		return steps(ctx, a, id, 2)
	default:
		return errors.New("no such mode")
	}
	_, err = io.Copy(io.Discard, os.Stdin) // until the other end is closed
	return err
}

func payload(n int) storage.Blob {
	word := redact.Lit(`{"a":"line of some length, the same each time"}` + "\n")
	var texts []redact.Text
	for size := 0; size < n; size += word.Len() {
		texts = append(texts, word)
	}
	return storage.Redacted(texts...)
}

// ack prints that something is durable, in one write.
func ack(format string, args ...any) {
	if _, err := fmt.Printf(format+"\n", args...); err != nil {
		os.Exit(3)
	}
}

// steps archives step after step, and takes part in races with other processes.
func steps(ctx context.Context, a storage.Archive, id string, most int) error {
	s, err := record.OpenSession(ctx, a, id)
	if err != nil {
		return err
	}
	for done := 0; done < most; {
		head, err := s.Head(ctx)
		if err != nil {
			return err
		}
		err = oneStep(ctx, s, head+1)
		if errors.Is(err, storage.ErrExists) {
			continue // another process was first
		}
		if err != nil {
			return err
		}
		done++
	}
	return s.Checkpoint(ctx)
}

func oneStep(ctx context.Context, s *record.Session, step int) error {
	size := 1 + rand.IntN(200)
	if rand.IntN(10) == 0 {
		size *= 20
	}
	lines := make([]redact.Text, size)
	for i := range lines {
		lines[i] = redact.Lit(`{"role":"tool","content":"what a tool said, of some length, and the same each time it is said"}`)
	}
	made := record.Step{Number: step}
	if rand.IntN(2) == 0 { // while a model writes the summary
		w, err := s.Transcript(ctx, step, lines)
		if err != nil {
			return err
		}
		ack("file %s %s", w.Key.Base(), w.SHA256)
		made.Files = append(made.Files, w)
	} else { // with its step
		var c record.Content
		for _, l := range lines {
			c.Line(l)
		}
		w, err := s.TranscriptDraft(&c, nil)
		if err != nil {
			return err
		}
		made.Drafts = append(made.Drafts, w)
	}
	index, err := s.IndexDraft(&turnindex.Set{})
	if err != nil {
		return err
	}
	made.Drafts = append(made.Drafts, s.SummaryDraft(redact.Lit(`{"summary":"short"}`)), index)
	made.Ledger = func([]record.Written) ([]redact.Text, error) { return []redact.Text{redact.Lit(`{"v":1}`)}, nil }
	made.Beside = func(ctx context.Context, _ []record.Written) error {
		err := s.Events(ctx, []redact.Text{redact.Lit(`{"name":"one"}`), redact.Lit(`{"name":"two"}`)})
		if err == nil {
			ack("events 2")
		}
		return err
	}
	done, err := s.CommitStep(ctx, made)
	if err != nil {
		return err
	}
	for _, w := range done.Drafts {
		ack("file %s %s", w.Key.Base(), w.SHA256)
	}
	ack("step %d %s %s", step, done.Ledger.Key.Base(), done.Ledger.SHA256)
	return nil
}

// worker is a running process with its acknowledged data.
type worker struct {
	cmd   *exec.Cmd
	stdin io.Closer
	done  chan error // gets the process's exit error

	mu     sync.Mutex
	acks   []string
	errout strings.Builder
}

// start starts a process, under the commands of prefix if any.
func start(t testing.TB, mode, root, id string, fault fs.Fault, prefix ...string) *worker {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	args := append(prefix, exe)
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Env = append(os.Environ(), workerMode+"="+mode, workerRoot+"="+root, workerID+"="+id, workerFault+"="+string(fault), "GOMAXPROCS=2")
	w := &worker{cmd: cmd, done: make(chan error, 1)}
	cmd.Stderr = &w.errout
	w.stdin, err = cmd.StdinPipe()
	must(t, err)
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	go func() {
		w.collect(stdout)
		w.done <- cmd.Wait()
	}()
	return w
}

// collect keeps only whole lines, because half a line was not acknowledged.
func (w *worker) collect(r io.Reader) {
	br := bufio.NewReader(r)
	for {
		line, err := br.ReadString('\n')
		if err != nil {
			return
		}
		w.mu.Lock()
		w.acks = append(w.acks, strings.TrimSuffix(line, "\n"))
		w.mu.Unlock()
	}
}

// wait returns how the process ended.
func (w *worker) wait(t testing.TB) error {
	t.Helper()
	select {
	case err := <-w.done:
		return err
	case <-time.After(time.Minute):
		_ = w.cmd.Process.Kill()
		t.Fatalf("a worker hangs; its output: %s", w.errout.String())
		return nil
	}
}

// acked waits until the process has acknowledged something.
func (w *worker) acked(t testing.TB) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if len(w.snapshot()) > 0 {
			return
		}
	}
	_ = w.cmd.Process.Kill()
	t.Fatalf("nothing was acknowledged; the worker said: %s", w.errout.String())
}

// snapshot returns the data acknowledged so far.
func (w *worker) snapshot() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.acks)
}

// acknowledged collects the data that any number of workers acknowledged for one
// session.
type acknowledged struct {
	files  map[string]string // name → SHA-256
	steps  int
	events int
}

// add adds everything that a worker acknowledged.
func (k *acknowledged) add(t testing.TB, w *worker) {
	t.Helper()
	k.addAcks(t, w.snapshot())
}

func (k *acknowledged) addAcks(t testing.TB, acks []string) {
	t.Helper()
	if k.files == nil {
		k.files = map[string]string{}
	}
	for _, line := range acks {
		var name, sum string
		var n int
		if _, err := fmt.Sscanf(line, "file %s %s", &name, &sum); err == nil {
			k.file(t, name, sum)
		} else if _, err := fmt.Sscanf(line, "step %d %s %s", &n, &name, &sum); err == nil {
			k.file(t, name, sum)
			k.steps++
		} else if _, err := fmt.Sscanf(line, "events %d", &n); err == nil {
			k.events += n
		} else {
			t.Errorf("a worker said %q", line)
		}
	}
}

func (k *acknowledged) file(t testing.TB, name, sum string) {
	t.Helper()
	if other, ok := k.files[name]; ok {
		t.Errorf("%s was acknowledged twice, as %.8s and %.8s", name, other, sum)
	}
	k.files[name] = sum
}

// lost returns acknowledged data that no longer exists, or was changed.
func (k *acknowledged) lost(ctx context.Context, a storage.Archive, id string) ([]string, error) {
	var out []string
	for name, sum := range k.files {
		key, err := record.SessionKey(id, name)
		if err != nil {
			return nil, err
		}
		got, err := hashOf(ctx, a, key)
		if errors.Is(err, storage.ErrNotExist) {
			out = append(out, name+" is gone")
		} else if err != nil {
			return nil, err
		} else if got != sum {
			out = append(out, name+" differs")
		}
	}
	s, err := record.OpenSession(ctx, a, id)
	if err != nil {
		return nil, err
	}
	events := 0
	for _, err := range s.EventLines(ctx) {
		if err != nil {
			return nil, err
		}
		events++
	}
	if events < k.events {
		out = append(out, fmt.Sprintf("%d of %d events are gone", k.events-events, k.events))
	}
	return out, nil
}

func hashOf(ctx context.Context, a storage.Archive, k storage.Key) (string, error) {
	r, err := a.Open(ctx, k, 0, -1)
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(r)
	return storage.Redacted(raw(string(data))).SHA256(), errors.Join(err, r.Close())
}

// raw makes a hash input of any text.
func raw(s string) redact.Text {
	r, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		panic(err)
	}
	return r.Text(s)
}

// whole checks a session after failures of its writers: all acknowledged data
// exists, everything verifies, steps have no gaps, and leftovers are removed
// after a minute.
func (k *acknowledged) whole(t testing.TB, root, id string) record.Report {
	t.Helper()
	a, err := fs.Open(root)
	must(t, err)
	defer func() { must(t, a.Close()) }()
	lost, err := k.lost(t.Context(), a, id)
	must(t, err)
	for _, l := range lost {
		t.Errorf("acknowledged, and %s", l)
	}
	r, err := record.Verify(t.Context(), a, id, record.VerifyOptions{})
	if errors.Is(err, storage.ErrNotExist) && len(k.files) == 0 {
		return r
	}
	must(t, err)
	for _, p := range r.Problems {
		t.Errorf("verify: %s", p)
	}
	if r.Steps < k.steps {
		t.Errorf("%d steps were acknowledged, %d are there", k.steps, r.Steps)
	}
	noTemps(t, a, root)
	return r
}

// noTemps checks that temporary files are gone when they are a minute old.
func noTemps(t testing.TB, a *fs.Archive, root string) {
	t.Helper()
	dir := root + "/.tmp"
	entries, err := os.ReadDir(dir)
	must(t, err)
	old := time.Now().Add(-61 * time.Second)
	for _, e := range entries {
		must(t, os.Chtimes(dir+"/"+e.Name(), old, old))
	}
	a.SweepNow()
	entries, err = os.ReadDir(dir)
	must(t, err)
	if len(entries) > 0 {
		t.Errorf("%d temporary files are a minute old", len(entries))
	}
}

// size returns the number of repetitions of a test: usual in normal runs, all
// with COMPACT_SOAK=1, or the value of the given variable.
func size(t testing.TB, variable string, usual, soak int) int {
	t.Helper()
	n := usual
	if os.Getenv("COMPACT_SOAK") != "" {
		n = soak
	}
	if s := os.Getenv(variable); s != "" {
		if _, err := fmt.Sscan(s, &n); err != nil {
			t.Fatalf("%s: %v", variable, err)
		}
	}
	return n
}
