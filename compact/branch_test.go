package compact_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
)

// A model switch in mid-session is a new epoch: another tokenizer, another
// window. Earlier decisions stay.
func TestModelSwitchInMidSessionKeepsTheEditsAndCountsAgain(t *testing.T) {
	s := &counting{}
	r := newRig(t, compact.Config{Model: "gpt-4o", MaxContextTokens: 16_000, Summarize: s})
	history := loop(100, 200)
	large := r.preflight(history)
	if !large.Triggered || large.CountingUnit != "o200k_base" {
		t.Fatalf("triggered %v, counted in %s; want true and %s", large.Triggered, large.CountingUnit, "o200k_base")
	}
	calls := s.calls.Load()
	small := r.preflight(history, compact.WithModel("gpt-4"), compact.WithWindow(6_000))
	if !small.Triggered || small.Replayed == 0 || small.CountingUnit != "cl100k_base" || small.Budget != 4_500 || small.After.Total > small.Target {
		t.Errorf("the smaller model: triggered %v, %d edits replayed, counted in %s, %d of %d tokens (target %d)",
			small.Triggered, small.Replayed, small.CountingUnit, small.After.Total, small.Budget, small.Target)
	}
	if n := s.calls.Load(); n > calls+1 {
		t.Errorf("the summarizer was asked %d times for the switch", n-calls)
	}
	calls = s.calls.Load()
	back := r.preflight(history)
	if back.Triggered || s.calls.Load() != calls || bytesOf(back.Messages) != bytesOf(small.Messages) || back.Budget != large.Budget {
		t.Errorf("back at the first model: triggered %v (%s), budget %d; want the view of the smaller model, in the budget %d", back.Triggered, back.Reason, back.Budget, large.Budget)
	}
	for _, res := range []*compact.Result{large, small, back} {
		paired(t, res.Messages)
	}
}

func TestWindowOfACallOnlyNarrowsTheConfiguredOne(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 16_000})
	for told, want := range map[int]int{0: 16_000, 6_000: 6_000, 64_000: 16_000} {
		if got := r.preflight(loop(2, 50), compact.WithWindow(told)).MaxTokens; got != want {
			t.Errorf("with a lowered window of %d tokens the window is %d, want %d", told, got, want)
		}
	}
}

func TestLongAnswerNarrowsTheBudgetOfItsRequestAlone(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 16_000})
	for asked, want := range map[int]int{0: 14_500, 4_000: 10_500, 1_000_000: 6_500} {
		if got := r.preflight(loop(2, 50), compact.WithMaxOutput(asked)).Budget; got != want {
			t.Errorf("an answer of %d tokens leaves %d, want %d", asked, got, want)
		}
	}
}

// Sub-agents that share session and name, each with a history of its own: the edits of
// one are not applied to another, and the views of all stay stable.
func TestUnnamedSubAgentsOfOneSessionShareNoEdits(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Summarize: &counting{}})
	histories := [][]message.Message{loop(60, 200), turns(40, 150), loop(60, 210)}
	histories[2][1] = message.User("Make all tests of module_b pass.")
	views := make([]string, len(histories))
	for i, h := range histories {
		res := r.preflight(h)
		if !res.Triggered || res.Replayed > 0 {
			t.Fatalf("agent %d: triggered %v, %d edits of others replayed", i, res.Triggered, res.Replayed)
		}
		views[i] = bytesOf(res.Messages)
	}
	for range 3 {
		for i, h := range histories {
			if res := r.preflight(h); res.Triggered || bytesOf(res.Messages) != views[i] {
				t.Errorf("agent %d has a different view after the calls of the others (triggered %v)", i, res.Triggered)
			}
		}
	}
}

func TestBranchesOfOneAgentHaveLedgersOfTheirOwn(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Summarize: &counting{}})
	history := loop(40, 200)
	a := r.preflight(history, compact.WithAgent("coder"), compact.WithBranch("a"))
	b := r.preflight(history, compact.WithAgent("coder"), compact.WithBranch("b"))
	if !a.Triggered || !b.Triggered || b.Replayed > 0 {
		t.Fatalf("triggered %v and %v, %d edits replayed; want each branch to compact by itself", a.Triggered, b.Triggered, b.Replayed)
	}
	again := r.preflight(history, compact.WithAgent("coder"), compact.WithBranch("a"))
	if again.Triggered || bytesOf(again.Messages) != bytesOf(a.Messages) {
		t.Error("branch a has a different view")
	}
	// The ledger names the owner of a step, so another process knows it, too.
	other := newRig(t, compact.Config{MaxContextTokens: 8_000, Summarize: &counting{}, Archive: r.archive})
	if got := other.preflight(history, compact.WithAgent("coder"), compact.WithBranch("b")); got.Triggered || bytesOf(got.Messages) != bytesOf(b.Messages) {
		t.Error("branch b has a different view in another process")
	}
}

// An agent may keep only the view. The summary is then a message of the incoming history,
// and the view still counts as summarized.
func TestKeptViewCountsAsSummarized(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000})
	first := r.preflight(loop(100, 200))
	if first.Summary == nil {
		t.Fatal("nothing was summarized")
	}
	res := r.preflight(append(slices.Clone(first.Messages), round(100, 200)...))
	if res.Triggered || res.Summary == nil || res.Summary.Text != first.Summary.Text || res.SummarizedCount != 0 || res.ReductionStage != compact.ReductionSummarization {
		t.Errorf("triggered %v, summary %v, %d summarized, stage %s; want false, 0 and %s", res.Triggered, res.Summary != nil, res.SummarizedCount, res.ReductionStage, compact.ReductionSummarization)
	}
}

// If the history changes after its compacted part, the compacted prefix is still known. A
// change within that part makes the rest a separate history.
func TestEditedHistoryReusesTheLongestCommonPrefix(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Summarize: &counting{}})
	history := loop(30, 200)
	first := r.preflight(history)
	grown := append(slices.Clone(history), rounds(1000, 20, 200)...)
	second := r.preflight(grown)
	if !first.Triggered || !second.Triggered || second.Replayed == 0 {
		t.Fatalf("triggered %v and %v, %d replayed; want true and true", first.Triggered, second.Triggered, second.Replayed)
	}
	edited := slices.Clone(grown)
	edited[len(history)+1] = message.ToolResult(edited[len(history)+1].Parts[0].CallID, "edited since")
	res := r.preflight(edited)
	if want := second.Replayed; res.Replayed != want {
		t.Errorf("%d edits replayed, want the %d of the first step, whose prefix is the same", res.Replayed, want)
	}
	early := slices.Clone(grown)
	early[3] = message.ToolResult(early[3].Parts[0].CallID, "edited at the start")
	if res := r.preflight(early); res.Replayed != 0 {
		t.Errorf("%d edits replayed on a history that differs at its third message", res.Replayed)
	}
}

func rounds(from, n, tokens int) (msgs []message.Message) {
	for i := range n {
		msgs = append(msgs, round(from+i, tokens)...)
	}
	return msgs
}

// TestProcessThatDrivesASession is one of the processes of the test below; run
// by itself it has nothing to do.
func TestProcessThatDrivesASession(t *testing.T) {
	dir := os.Getenv("COMPACT_TEST_DRIVE_DIR")
	if dir == "" {
		return
	}
	r := onDisk(t, dir, nil)
	history := loop(10, 200)
	for i := range 40 {
		history = append(history, round(100+i, 200)...)
		res, err := r.Preflight(context.Background(), "s", history)
		if err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
		if res.After.Total > res.Budget {
			t.Fatalf("call %d: %d tokens of %d", i, res.After.Total, res.Budget)
		}
		paired(t, res.Messages)
	}
	if err := r.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// Real processes work on one session at once: each step has one winner, no
// number is missing, no call fails, and later processes see one history.
func TestProcessesOnOneSessionShareItsSteps(t *testing.T) {
	dir := t.TempDir()
	const processes = 3
	var running []*exec.Cmd
	outs := make([]bytes.Buffer, processes)
	for i := range processes {
		cmd := exec.Command(os.Args[0], "-test.run=^TestProcessThatDrivesASession$")
		cmd.Env = append(os.Environ(), "COMPACT_TEST_DRIVE_DIR="+dir)
		cmd.Stdout, cmd.Stderr = &outs[i], &outs[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	for i, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Errorf("process %d: %v: %s", i, err, outs[i].String())
		}
	}
	ledgers, err := filepath.Glob(filepath.Join(dir, "s", "ledger-*.json"))
	if err != nil || len(ledgers) < 2 {
		t.Fatalf("%d steps, %v; want several", len(ledgers), err)
	}
	for i, name := range ledgers {
		if want := fmt.Sprintf("ledger-%03d.json", i+1); filepath.Base(name) != want {
			t.Errorf("%s, want %s: a number is left out", filepath.Base(name), want)
		}
	}
	history := append(loop(10, 200), rounds(100, 40, 200)...)
	first := inAnotherProcess(t, dir, history)
	if second := inAnotherProcess(t, dir, history); first != second || first == "" {
		t.Error("two processes that come later have different views")
	}
}
