package compact_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/trace"
)

// victim is an environment variable that names an archive. With it the test binary
// compacts in that archive until it is killed.
const victim = "COMPACT_KILL_ARCHIVE"

// TestVictimOfTheKillTest is that process. Without the variable the test does nothing.
func TestVictimOfTheKillTest(t *testing.T) {
	dir := os.Getenv(victim)
	if dir == "" {
		t.Skip("only a process of TestKilledCompactionsLeaveNoStepWithoutItsEvents does this; run that test")
	}
	a, err := fs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, err := compact.New(context.Background(), compact.Config{Model: "gpt-4", MaxContextTokens: 2_000, Archive: a})
	if err != nil {
		t.Fatal(err)
	}
	history := []message.Message{message.System("You fix bugs."), message.User("Make all tests pass.")}
	began := time.Now().UnixNano() // each process has another history
	for i := 0; ; i++ {
		history = append(history, round(i, 150+i%7)...)
		history[len(history)-1] = message.ToolResult(history[len(history)-1].Parts[0].CallID, fmt.Sprintf("run %d: %s", began, text(150+i%7)))
		res, err := m.Preflight(context.Background(), "s", history, compact.WithAgent(strconv.FormatInt(began, 36)))
		if err != nil {
			t.Fatal(err)
		}
		if res.Archived != nil {
			fmt.Printf("step %d\n", res.Step) // acknowledged
		}
	}
}

// kills returns the number of killed processes: a few in every run, 1,000 with
// COMPACT_SOAK=1, or COMPACT_KILLS.
func kills(t *testing.T) int {
	n := samples.Of(24)
	if testing.Short() {
		n = 6
	}
	if soak() {
		n = 1000
	}
	if s := os.Getenv("COMPACT_KILLS"); s != "" {
		if _, err := fmt.Sscan(s, &n); err != nil {
			t.Fatalf("COMPACT_KILLS: %v", err)
		}
	}
	return n
}

// Processes that compact one session are killed at random moments. Afterwards
// the audit log parses, its chain is valid, each committed step has its events,
// and all acknowledged data exists.
func TestKilledCompactionsLeaveNoStepWithoutItsEvents(t *testing.T) {
	n := kills(t)
	const perSession = 20 // kills; later processes find the data of earlier ones
	seed := uint64(time.Now().UnixNano())
	rnd := rand.New(rand.NewPCG(seed, 0))
	steps, acked, dir := 0, 0, ""
	for i := range n {
		if i%perSession == 0 {
			dir, acked = t.TempDir(), 0
		}
		acked = max(acked, killOne(t, dir, time.Duration(rnd.IntN(60_000))*time.Microsecond))
		committed := checkAuditLog(t, dir, "s")
		if committed < acked {
			t.Errorf("%d steps were acknowledged, %d are in the archive", acked, committed)
		}
		if i%perSession == perSession-1 || i == n-1 {
			steps += committed
		}
		if t.Failed() {
			t.Fatalf("seed %d, kill %d", seed, i)
		}
	}
	t.Logf("seed %d: %d kills, %d steps committed", seed, n, steps)
	if n >= 6 && steps == 0 {
		t.Error("no process got to a step: the test proves nothing")
	}
}

// killOne starts a process and kills it some time after its first step. It
// returns the last step that the process acknowledged.
func killOne(t *testing.T, dir string, after time.Duration) (acked int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestVictimOfTheKillTest$", "-test.timeout=60s")
	cmd.Env = append(os.Environ(), victim+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	killed := false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, err := fmt.Sscanf(lines.Text(), "step %d", &acked); err != nil {
			t.Errorf("the process said %q", lines.Text())
		}
		if !killed {
			killed = true
			time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		}
	}
	if err := cmd.Wait(); err == nil || !killed {
		t.Fatalf("the process ended by itself: %v", err)
	}
	return acked
}

// checkAuditLog verifies a session on disk and compares its audit log with its
// steps. It returns the number of steps.
func checkAuditLog(t *testing.T, dir, session string) int {
	t.Helper()
	a := mustOpen(t, dir)
	defer func() { _ = a.Close() }()
	report, err := record.Verify(context.Background(), a, session, record.VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Problems {
		t.Errorf("verify: %s", p)
	}
	s, err := record.OpenSession(context.Background(), a, session)
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]map[int]bool{}
	for line, err := range s.EventLines(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		var e struct {
			Name string
			Data struct{ Step int }
		}
		if err := json.Unmarshal(bytes.TrimSpace(line), &e); err != nil || e.Name == "" {
			t.Fatalf("the audit log does not parse: %v: %.200q", err, line)
		}
		if has[e.Name] == nil {
			has[e.Name] = map[int]bool{}
		}
		has[e.Name][e.Data.Step] = true
	}
	for step := 1; step <= report.Steps; step++ {
		want := []string{trace.NameBeforeModelCall, trace.NameTriggerDecision, trace.NameArchival, trace.NamePrunedMessages}
		if _, err := os.Stat(filepath.Join(dir, session, fmt.Sprintf("summary-%03d.json", step))); err == nil {
			want = append(want, trace.NameSummaryCreated)
		}
		for _, name := range want {
			if !has[name][step] {
				t.Errorf("step %d is committed, but its %s is not in the audit log", step, strings.TrimPrefix(name, "compact."))
			}
		}
	}
	return report.Steps
}
