//go:build unix

package fs_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/record"
)

func TestTwoProcessesShareASession(t *testing.T) {
	root := t.TempDir()
	one, two := start(t, "once", root, "s", fs.NoFault), start(t, "once", root, "s", fs.NoFault)
	for _, w := range []*worker{one, two} {
		if err := w.wait(t); err != nil {
			t.Errorf("%v: %s", err, w.errout.String())
		}
	}
	var k acknowledged
	k.add(t, one)
	k.add(t, two)
	if r := k.whole(t, root, "s"); r.Steps != 4 || k.steps != 4 {
		t.Errorf("%d steps are there, %d were acknowledged, want 4", r.Steps, k.steps)
	}
}

// tornLines counts the lines that a crash cut off.
func tornLines(r record.Report) int {
	n := 0
	for _, note := range r.Notes {
		if strings.Contains(note, "crash cut") {
			n++
		}
	}
	return n
}

// TestKilledWritersLoseNothingAcknowledged kills two writers of one session at
// random moments. COMPACT_KILLS sets the number of kills.
func TestKilledWritersLoseNothingAcknowledged(t *testing.T) {
	kills := size(t, "COMPACT_KILLS", 12, 2000)
	const perSession = 8 // kills; later rounds find the data of earlier ones
	seed := uint64(time.Now().UnixNano())
	rnd := rand.New(rand.NewPCG(seed, 0))
	root := t.TempDir()
	steps, abandoned, torn := 0, 0, 0
	var k acknowledged
	for i := 0; i < kills; i += 2 {
		id := fmt.Sprintf("s%d", i/perSession)
		one, two := start(t, "steps", root, id, fs.NoFault), start(t, "steps", root, id, fs.NoFault)
		for _, w := range []*worker{one, two} {
			time.Sleep(time.Duration(rnd.IntN(100)) * time.Millisecond)
			must(t, w.cmd.Process.Kill())
		}
		for _, w := range []*worker{one, two} {
			if err := w.wait(t); err == nil {
				t.Errorf("a worker ended by itself: %s", w.errout.String())
			}
			if s := w.errout.String(); s != "" {
				t.Errorf("a worker failed before it was killed: %s", s)
			}
			k.add(t, w)
		}
		r := k.whole(t, root, id)
		if t.Failed() {
			t.Fatalf("seed %d, kill %d, session %s", seed, i, id)
		}
		if i%perSession == perSession-2 || i >= kills-2 {
			steps += k.steps
			abandoned += len(r.Abandoned())
			torn += tornLines(r)
			must(t, os.RemoveAll(root+"/"+id))
			k = acknowledged{}
		}
	}
	t.Logf("seed %d: %d kills, %d steps acknowledged, %d files abandoned, %d torn lines", seed, kills, steps, abandoned, torn)
}
