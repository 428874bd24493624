//go:build unix

package spool_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/spool"
)

// The tests start their own binary again as a process that archives through a spool and
// prints the acknowledged steps.
const workerDir, workerRemote = "COMPACT_SPOOL_DIR", "COMPACT_SPOOL_REMOTE"

func TestMain(m *testing.M) {
	if os.Getenv(workerDir) == "" {
		os.Exit(m.Run())
	}
	if err := work(context.Background(), os.Getenv(workerDir), os.Getenv(workerRemote)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// flaky is a folder that is sometimes unreachable.
type flaky struct{ *fs.Archive }

func (f flaky) fails() error {
	if rand.IntN(4) == 0 {
		return errAway
	}
	return nil
}

func (f flaky) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if err := f.fails(); err != nil {
		return err
	}
	return errors.Join(f.Archive.Create(ctx, k, b), f.fails())
}

func (f flaky) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if err := f.fails(); err != nil {
		return err
	}
	return errors.Join(f.Archive.Append(ctx, k, seq, b), f.fails())
}

func work(ctx context.Context, dir, remote string) error {
	far, err := fs.Open(remote)
	if err != nil {
		return err
	}
	s, err := spool.Open(dir, flaky{far}, &spool.Options{Blind: true})
	if err != nil {
		return err
	}
	log, err := record.OpenSession(ctx, s, "s")
	if err != nil {
		return err
	}
	for {
		err := step(ctx, log)
		if errors.Is(err, storage.ErrExists) || errors.Is(err, record.ErrStep) {
			continue // the other process was first
		}
		if err != nil {
			return err
		}
		if _, err := fmt.Println("step"); err != nil {
			return err
		}
	}
}

// worker is such a process.
type worker struct {
	cmd    *exec.Cmd
	said   chan int // number of steps, at the end
	errout strings.Builder
}

func start(t *testing.T, dir, remote string) *worker {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	w := &worker{cmd: exec.CommandContext(t.Context(), exe), said: make(chan int, 1)}
	w.cmd.Env = append(os.Environ(), workerDir+"="+dir, workerRemote+"="+remote)
	w.cmd.Stderr = &w.errout
	out, err := w.cmd.StdoutPipe()
	must(t, err)
	must(t, w.cmd.Start())
	go func() {
		n := 0
		for r := bufio.NewReader(out); ; n++ {
			if _, err := r.ReadString('\n'); err != nil {
				_ = w.cmd.Wait() // the process was killed
				w.said <- n
				return
			}
		}
	}()
	return w
}

// TestKilledProcessesLoseNothingAcknowledged kills two processes that share a spool and
// write one session, at random moments, again and again. Then it sends the rest.
// COMPACT_KILLS is the number of rounds.
func TestKilledProcessesLoseNothingAcknowledged(t *testing.T) {
	kills := 8
	if os.Getenv("COMPACT_SOAK") != "" {
		kills = 400
	}
	if v := os.Getenv("COMPACT_KILLS"); v != "" {
		_, err := fmt.Sscan(v, &kills)
		must(t, err)
	}
	seed := uint64(time.Now().UnixNano())
	rnd := rand.New(rand.NewPCG(seed, 0))
	const perSession = 8
	total, done := 0, 0
	// On a busy machine no process may get to its first step: the kills are then repeated, later.
	more := func() bool { return done < kills || total == 0 && done < 10*kills }
	for more() {
		dir, remote := t.TempDir(), t.TempDir()
		acked := 0
		for i := 0; i < perSession && more(); i, done = i+2, done+2 {
			one, two := start(t, dir, remote), start(t, dir, remote)
			for _, w := range []*worker{one, two} {
				time.Sleep(time.Duration(50+rnd.IntN(250)) * time.Duration(1+done/kills) * time.Millisecond)
				_ = w.cmd.Process.Kill() // if it ended by itself, it has printed why
			}
			for _, w := range []*worker{one, two} {
				acked += <-w.said
				if s := w.errout.String(); s != "" {
					t.Errorf("a worker failed before it was killed: %s", s)
				}
			}
		}
		far, err := fs.Open(remote)
		must(t, err)
		s := open(t, dir, far, &spool.Options{Passive: true})
		must(t, s.Flush(t.Context()))
		for what, a := range map[string]storage.Archive{"disk": s, "remote archive": far} {
			r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{})
			if acked == 0 && errors.Is(err, storage.ErrNotExist) {
				continue
			}
			must(t, err)
			for _, p := range r.Problems {
				t.Errorf("verify the %s: %s", what, p)
			}
			if r.Steps < acked {
				t.Errorf("the %s has %d steps, %d were acknowledged", what, r.Steps, acked)
			}
		}
		same(t, far, s)
		must(t, errors.Join(s.Close(t.Context()), far.Close()))
		if total += acked; t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("seed %d: %d kills, %d steps acknowledged", seed, done, total)
	if total == 0 {
		t.Error("nothing was acknowledged in all this time")
	}
}
