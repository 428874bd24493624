package compact_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/testkey"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/tidy"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/trace"
)

// sourceFile returns a file of code, as a tool prints it.
func sourceFile(seed, funcs int) string {
	var b strings.Builder
	for i := range funcs {
		fmt.Fprintf(&b, "func handle%d_%d(ctx context.Context) error {\n", seed, i)
		for k := range 8 {
			fmt.Fprintf(&b, "\tvalue%d := table[%d] + offset(%d)\n", k, i*k, seed)
		}
		b.WriteString("\treturn nil\n}\n\n")
	}
	return b.String()
}

// tidyLoop returns an agent loop that reads a large file in each turn.
func tidyLoop(rounds int) []message.Message {
	h := []message.Message{message.System("You fix bugs."), message.User("Find out why handle3_7 fails.")}
	for i := range rounds {
		h = append(h, tidyRound(i)...)
	}
	return h
}

func tidyRound(i int) []message.Message {
	id := fmt.Sprintf("call_%d", i)
	return []message.Message{
		message.Assistant(fmt.Sprintf("I read file %d.", i), message.Call(id, "Read", fmt.Sprintf(`{"file_path":"/src/f%d.go"}`, i))),
		message.ToolResult(id, sourceFile(i, 60)),
	}
}

func tidyConfig(a storage.Archive, more ...string) compact.Config {
	c, _ := compact.Preset("graduated")
	c.Model, c.MaxContextTokens, c.Archive = "gpt-4o", 128_000, a
	c.Policy.Stages = append([]string{"tidy"}, more...)
	c.Tidy.Wait = time.Hour // tests of the waiting time set another one
	return c
}

// eachCall makes the calls of a loop, one for each new result, and returns the last
// view.
func eachCall(t *testing.T, m *compact.CompactManager, history []message.Message, see func(n int, res *compact.Result)) *compact.Result {
	t.Helper()
	var last *compact.Result
	for n := 2; n <= len(history); n++ {
		if history[n-1].Role == message.RoleAssistant {
			continue
		}
		res, err := m.Preflight(t.Context(), "s", history[:n:n])
		if err != nil {
			t.Fatal(err)
		}
		if see != nil {
			see(n, res)
		}
		last = res
	}
	return last
}

func TestTidyReducesOnlyNewResults(t *testing.T) {
	a := memory.New()
	m := costRig(t, tidyConfig(a))
	var before []message.Message
	last := eachCall(t, m, tidyLoop(40), func(n int, res *compact.Result) {
		for i := range before {
			if !message.Identical(before[i], res.Messages[i]) {
				t.Fatalf("call with %d messages: message %d was sent before, and differs now", n, i)
			}
		}
		before = res.Messages
		if res.Step != 0 {
			t.Fatalf("call with %d messages is step %d, want 0", n, res.Step)
		}
		if res.Triggered != (n > 2) || n > 2 && (res.Reason != trace.ReasonArrival || res.Archived == nil) {
			t.Fatalf("call with %d messages: triggered %v, %s, archived %v", n, res.Triggered, res.Reason, res.Archived)
		}
	})
	if got := decided(last, policy.Truncated); len(got) != 40 || last.After.Total*2 > last.TokensIn {
		t.Fatalf("%d results are reduced, %d of %d tokens are left", len(got), last.After.Total, last.TokensIn)
	}
	if err := m.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	verified(t, a)
}

func TestTidiedResultsAreRecalledInEveryProcess(t *testing.T) {
	a := memory.New()
	m := costRig(t, tidyConfig(a))
	history := tidyLoop(5)
	last := eachCall(t, m, history, nil)
	for _, i := range decided(last, policy.Truncated) {
		ref, want := testkey.Ref(history[i].Parts[0]), history[i].Parts[0].Text
		if text, err := m.Recall(t.Context(), "s", ref); err != nil || text != want {
			t.Errorf("message %d: %.40q, %v; want %q and no error", i, text, err, want)
		}
		if text, err := recall.Text(t.Context(), a, "s", ref); err != nil || text != want {
			t.Errorf("message %d, elsewhere: %.40q, %v; want %q and no error", i, text, err, want)
		}
	}
	res, err := m.Preflight(t.Context(), "s", append(history[:len(history):len(history)], tidyRound(9)...))
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Tidied) != 1 || res.Tidied[0].Recalled != 5 || res.Tidied[0].Reducer != "code" || res.Tidied[0].TokensSaved == 0 {
		t.Errorf("the recalled result is counted as %+v", res.Tidied)
	}
}

// The same history gives the same view in every process, for each way in which an SDK
// uses the views.
func TestTidiedViewIsTheSameInEveryProcess(t *testing.T) {
	a := memory.New()
	history := tidyLoop(6)
	here := eachCall(t, costRig(t, tidyConfig(a)), history, nil)
	elsewhere, err := costRig(t, tidyConfig(a)).Preflight(t.Context(), "s", history)
	if err != nil {
		t.Fatal(err)
	}
	if bytesOf(here.Messages) != bytesOf(elsewhere.Messages) {
		t.Error("another process makes a different view")
	}
	off := tidyConfig(a, "squeeze")
	off.Policy.Stages = []string{"squeeze"}
	without, err := costRig(t, off).Preflight(t.Context(), "s", history)
	if err != nil || bytesOf(here.Messages) != bytesOf(without.Messages) {
		t.Errorf("with the stage off the sent results change (%v)", err)
	}
	kept, err := costRig(t, tidyConfig(a)).Preflight(t.Context(), "s", here.Messages)
	if err != nil || bytesOf(here.Messages) != bytesOf(kept.Messages) || kept.Triggered {
		t.Errorf("a view that comes back is changed (%v)", err)
	}
}

func TestPlanOfTidyEqualsTheCall(t *testing.T) {
	m := costRig(t, tidyConfig(memory.New()))
	history := tidyLoop(4)
	for n := 4; n <= len(history); n += 2 {
		plan, err := m.Plan(t.Context(), "s", history[:n:n])
		if err != nil {
			t.Fatal(err)
		}
		res, err := m.Preflight(t.Context(), "s", history[:n:n])
		if err != nil {
			t.Fatal(err)
		}
		if bytesOf(plan.Messages) != bytesOf(res.Messages) || plan.Reason != res.Reason || plan.After.Total != res.After.Total || fmt.Sprint(plan.Tidied) != fmt.Sprint(res.Tidied) {
			t.Fatalf("the plan has %d tokens, %s; the call has %d, %s", plan.After.Total, plan.Reason, res.After.Total, res.Reason)
		}
	}
}

// slowEdits is an archive in which writes of edits wait, or fail.
type slowEdits struct {
	storage.Archive
	hold chan struct{} // nil: no wait
	fail error
}

func (a *slowEdits) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if strings.HasSuffix(k.String(), "edits.jsonl") {
		if a.fail != nil {
			return a.fail
		}
		if a.hold != nil {
			<-a.hold
		}
	}
	return a.Archive.Append(ctx, k, seq, b)
}

func TestLateArchivedResultsAreSentWholeAndStayWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		mem := memory.New()
		a := &slowEdits{Archive: mem, hold: make(chan struct{})}
		c := tidyConfig(a)
		c.Tidy.Wait = 20 * time.Millisecond
		m, err := compact.New(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		history := tidyLoop(1)
		began := time.Now()
		res, err := m.Preflight(ctx, "s", history)
		if err != nil || bytesOf(res.Messages) != bytesOf(history) || res.Triggered || len(res.Warnings) == 0 {
			t.Fatalf("triggered %v, warnings %v, %v; want false and no error", res.Triggered, res.Warnings, err)
		}
		if waited := time.Since(began); waited != c.Tidy.Wait {
			t.Errorf("the call waited for %s, want %s", waited, c.Tidy.Wait)
		}
		close(a.hold)
		synctest.Wait()
		more := append(history[:len(history):len(history)], tidyRound(1)...)
		for name, h := range map[string][]message.Message{"again": history, "the next": more} {
			if res, err = m.Preflight(ctx, "s", h); err != nil || !message.Identical(res.Messages[3], history[3]) {
				t.Errorf("%s call: a result that was sent whole is reduced (%v)", name, err)
			}
		}
		if err := m.Close(ctx); err != nil {
			t.Fatal(err)
		}
		other, err := compact.New(ctx, tidyConfig(mem))
		if err != nil {
			t.Fatal(err)
		}
		if there, err := other.Preflight(ctx, "s", more); err != nil || !message.Identical(there.Messages[3], history[3]) || bytesOf(there.Messages) != bytesOf(res.Messages) && len(there.Messages) == len(res.Messages) {
			t.Errorf("another process reduces it (%v)", err)
		}
		if err := other.Close(ctx); err != nil {
			t.Fatal(err)
		}
	})
}

// A step lists the results of its call, including those that were sent whole because
// the archive did not store them in time.
func TestResultsSentWholeStayWholeElsewhere(t *testing.T) {
	mem := memory.New()
	config := func(a storage.Archive) compact.Config {
		c := tidyConfig(a, "mask")
		c.Policy.KeepRecentTurns = 1
		return c
	}
	history := tidyLoop(1)
	for i := range 12 {
		id := fmt.Sprintf("old_%d", i)
		history = append(history, message.Assistant("", message.Call(id, "Read", "{}")), message.ToolResult(id, strings.Repeat("as it is ", 100)))
	}
	history = append(history, tidyRound(1)...)
	failing := costRig(t, config(&slowEdits{Archive: mem, fail: errors.New("disk full")}))
	if res, err := failing.Preflight(t.Context(), "s", history); err != nil || bytesOf(res.Messages) != bytesOf(history) {
		t.Fatalf("the result is not sent whole (%v)", err)
	}
	here, err := failing.ManualCompact(t.Context(), "s", history, "")
	newest := len(here.Messages) - 1
	if err != nil || here.Step != 1 || !message.Identical(here.Messages[newest], history[len(history)-1]) {
		t.Fatalf("step %d, %v; want 1 and no error", here.Step, err)
	}
	for name, h := range map[string][]message.Message{"the history": history, "the view": here.Messages} {
		there, err := costRig(t, config(mem)).Preflight(t.Context(), "s", h)
		if err != nil || bytesOf(there.Messages) != bytesOf(here.Messages) {
			t.Errorf("%s: another process makes a different view (%v)", name, err)
		}
	}
	others, err := costRig(t, config(mem)).Preflight(t.Context(), "s", history, compact.WithAgent("other"))
	if err != nil || message.Identical(others.Messages[len(others.Messages)-1], history[len(history)-1]) {
		t.Errorf("a result that no call of this agent has sent is not reduced (%v)", err)
	}
	more := append(history[:len(history):len(history)], tidyRound(2)...)
	there, err := costRig(t, config(mem)).Preflight(t.Context(), "s", more)
	if err != nil || !there.Triggered || message.Identical(there.Messages[len(there.Messages)-1], more[len(more)-1]) {
		t.Errorf("a result that no step has seen is not reduced (%v)", err)
	}
}

func TestArchiveThatFailsLeavesResultsWhole(t *testing.T) {
	history := tidyLoop(2)
	m := costRig(t, tidyConfig(&slowEdits{Archive: memory.New(), fail: errors.New("disk full")}))
	res, err := m.Preflight(t.Context(), "s", history)
	if err != nil || bytesOf(res.Messages) != bytesOf(history) || !strings.Contains(strings.Join(res.Warnings, " "), "disk full") {
		t.Errorf("warnings %v, %v", res.Warnings, err)
	}
	for _, r := range res.Tidied {
		if r.Results > 0 || r.TokensSaved > 0 {
			t.Errorf("results that were sent whole are counted as reduced: %+v", r)
		}
	}
}

// lostAnswer is an archive that stores the first edits, and returns an error.
type lostAnswer struct {
	storage.Archive
	lost bool
}

func (a *lostAnswer) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	err := a.Archive.Append(ctx, k, seq, b)
	if strings.HasSuffix(k.String(), "edits.jsonl") && !a.lost {
		a.lost = true
		return errors.New("connection reset")
	}
	return err
}

// Edits that were stored although the archive returned an error are void for other
// processes, because the results were sent whole.
func TestEditsWithALostAnswerDoNotExistElsewhere(t *testing.T) {
	mem := memory.New()
	m, err := compact.New(t.Context(), tidyConfig(&lostAnswer{Archive: mem}))
	if err != nil {
		t.Fatal(err)
	}
	history := tidyLoop(1)
	res, err := m.Preflight(t.Context(), "s", history)
	if err != nil || bytesOf(res.Messages) != bytesOf(history) || !strings.Contains(strings.Join(res.Warnings, " "), "connection reset") {
		t.Fatalf("warnings %v, %v", res.Warnings, err)
	}
	history = append(history, tidyRound(1)...)
	here, err := m.Preflight(t.Context(), "s", history)
	if err != nil || !here.Triggered {
		t.Fatalf("the next result is not reduced (%v)", err)
	}
	if err := m.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	there, err := costRig(t, tidyConfig(mem)).Preflight(t.Context(), "s", history)
	if err != nil || bytesOf(there.Messages) != bytesOf(here.Messages) {
		t.Errorf("another process makes a different view (%v)", err)
	}
	verified(t, mem)
}

// heldAnswer is an archive that stores the first edits, and returns an error late.
type heldAnswer struct {
	storage.Archive
	once         sync.Once
	stored, free chan struct{}
}

func (a *heldAnswer) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	err := a.Archive.Append(ctx, k, seq, b)
	if strings.HasSuffix(k.String(), "edits.jsonl") {
		a.once.Do(func() {
			close(a.stored)
			<-a.free
			err = errors.New("connection reset")
		})
	}
	return err
}

// Another process shows a reduced result whose edit becomes void a moment later. Every
// process can recall the original nevertheless.
func TestShownVoidEditsAreRecalled(t *testing.T) {
	a := &heldAnswer{Archive: memory.New(), stored: make(chan struct{}), free: make(chan struct{})}
	history := tidyLoop(1)
	first := costRig(t, tidyConfig(a))
	var failed sync.WaitGroup
	failed.Go(func() {
		if res, err := first.Preflight(t.Context(), "s", history); err != nil || bytesOf(res.Messages) != bytesOf(history) {
			t.Errorf("the first process: %v", err)
		}
	})
	<-a.stored
	other := costRig(t, tidyConfig(a))
	shown, err := other.Preflight(t.Context(), "s", history)
	close(a.free)
	if failed.Wait(); err != nil || bytesOf(shown.Messages) == bytesOf(history) {
		t.Fatalf("the other process does not show the edit: %v", err)
	}
	if err := first.Close(t.Context()); err != nil { // stores the line that voids the edit
		t.Fatal(err)
	}
	p := history[len(history)-1].Parts[0]
	for name, m := range map[string]*compact.CompactManager{"that showed it": other, "that is new": costRig(t, tidyConfig(a))} {
		whole, err := m.Preflight(t.Context(), "s", append(history[:len(history):len(history)], tidyRound(1)...))
		if err != nil || !strings.Contains(bytesOf(whole.Messages), "handle0_5") {
			t.Errorf("the process %s: %v", name, err)
		}
		if got, err := m.Recall(t.Context(), "s", testkey.Ref(p)); err != nil || !strings.Contains(got, p.Text) {
			t.Errorf("the process %s recalls %.60q, %v; want text with %q and no error", name, got, err, p.Text)
		}
	}
	verified(t, a)
}

// Two processes reduce the same result, and each stores its edit. The edit of the first
// process is void, because the archive returned an error. The second one's edit is valid,
// for the first process as for all others.
func TestVoidLineLeavesTheSameEditOfAnotherProcess(t *testing.T) {
	a := &heldAnswer{Archive: memory.New(), stored: make(chan struct{}), free: make(chan struct{})}
	history := tidyLoop(1)
	other := costRig(t, tidyConfig(a.Archive))
	if _, err := other.Preflight(t.Context(), "s", history[:2]); err != nil { // opens the session
		t.Fatal(err)
	}
	config, later := tidyConfig(a), atomic.Int64{}
	config.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	first := costRig(t, config)
	var failed sync.WaitGroup
	failed.Go(func() {
		if res, err := first.Preflight(t.Context(), "s", history); err != nil || bytesOf(res.Messages) != bytesOf(history) {
			t.Errorf("the first process: %v", err)
		}
	})
	<-a.stored
	shown, err := other.Preflight(t.Context(), "s", history)
	close(a.free)
	if failed.Wait(); err != nil || bytesOf(shown.Messages) == bytesOf(history) {
		t.Fatalf("the second process does not reduce it: %v", err)
	}
	agrees := func(m *compact.CompactManager) bool {
		res, err := m.Preflight(t.Context(), "s", history)
		return err == nil && bytesOf(res.Messages) == bytesOf(shown.Messages)
	}
	for end := time.Now().Add(10 * time.Second); !agrees(first); time.Sleep(time.Millisecond) {
		later.Add(int64(10 * time.Second)) // a process reads the edits of others every few seconds
		if time.Now().After(end) {
			t.Fatal("the first process keeps a different view")
		}
	}
	if err := first.Close(t.Context()); err != nil { // stores the line that voids the edit
		t.Fatal(err)
	}
	if !agrees(other) || !agrees(costRig(t, tidyConfig(a.Archive))) {
		t.Error("the second process or a new one makes a different view")
	}
	verified(t, a.Archive)
}

// A result that the model has answered stays whole, even in a process that never saw the
// call that sent it.
func TestSentResultIsNotReducedLater(t *testing.T) {
	a := memory.New()
	off := tidyConfig(a)
	off.Tidy.ExcludeTools = []string{"Read"}
	off.Overrides = []compact.Override{{Agent: "x", Set: map[string]any{"tidy.exclude_tools": []string{}}}}
	m := costRig(t, off)
	history := tidyLoop(1)
	if res, err := m.Preflight(t.Context(), "s", history); err != nil || res.Triggered {
		t.Fatalf("an excluded tool is reduced (%v)", err)
	}
	m2 := costRig(t, tidyConfig(a))
	old := append(history[:len(history):len(history)], message.Assistant("It reads well."), message.User("Go on."))
	if res, err := m2.Preflight(t.Context(), "s", old); err != nil || !message.Identical(res.Messages[3], history[3]) {
		t.Errorf("a result that was answered is reduced (%v)", err)
	}
}

// After a call that fails, the caller has only the history: its results count as sent whole.
func TestResultsOfAFailedCallStayWhole(t *testing.T) {
	for _, fails := range []bool{false, true} {
		m := costRig(t, tidyConfig(memory.New()))
		history := tidyLoop(1)
		if fails {
			if _, err := m.Preflight(t.Context(), "s", history, compact.WithFixed(200_000)); !errors.Is(err, compact.ErrInsufficientBudget) {
				t.Fatalf("the first call: %v, want ErrInsufficientBudget", err)
			}
		}
		res, err := m.Preflight(t.Context(), "s", history)
		if err != nil {
			t.Fatal(err)
		}
		if whole := message.Identical(res.Messages[3], history[3]); whole != fails {
			t.Errorf("after a failed call (%v) the result is whole: %v", fails, whole)
		}
	}
}

func TestRereadReducedFileStaysWholeAndIsCounted(t *testing.T) {
	m := costRig(t, tidyConfig(memory.New()))
	history := tidyLoop(1)
	eachCall(t, m, history, nil)
	again := tidyRound(0)
	again[0].Parts[1].CallID, again[1].Parts[0].CallID = "call_9", "call_9"
	history = append(history, again...)
	res, err := m.Preflight(t.Context(), "s", history)
	if err != nil || !message.Identical(res.Messages[5], history[5]) {
		t.Errorf("the file is reduced again (%v)", err)
	}
	if len(res.Tidied) != 1 || res.Tidied[0].ReadAgain != 1 || res.Tidied[0].Reducer != "code" {
		t.Errorf("the second read is counted as %+v", res.Tidied)
	}
	if res, err = m.Preflight(t.Context(), "s", history); err != nil || len(res.Tidied) != 0 {
		t.Errorf("the second read is counted twice: %+v (%v)", res.Tidied, err)
	}
}

// Tests that run again after an edit have another result, which is reduced like the
// first one. Tests that run again at once count as requested again.
func TestCommandCountsAsRepeatedOnlyIfNothingChanged(t *testing.T) {
	m := costRig(t, tidyConfig(memory.New()))
	history := []message.Message{message.System("You fix bugs."), message.User("Make the tests pass.")}
	for n, tc := range []struct {
		call, args string
		result     string
		reduced    bool
		again      int
	}{
		{"bash", `{"command":"go test ./..."}`, strings.Repeat("=== RUN   TestOne\n--- PASS: TestOne (0.00s)\n", 300) + "--- FAIL: TestTwo\nFAIL\n", true, 0},
		{"edit", `{"path":"a.go"}`, "done", false, 0},
		{"bash", `{"command":"go test ./..."}`, strings.Repeat("=== RUN   TestOne\n--- PASS: TestOne (0.00s)\n", 301) + "ok\n", true, 0},
		{"bash", `{"command": "go test ./..."}`, strings.Repeat("=== RUN   TestOne\n--- PASS: TestOne (0.00s)\n", 302) + "ok\n", false, 1},
		{"edit", `{"path":"b.go"}`, "done", false, 0},
		{"bash", `{"command":"go test ./..."}`, strings.Repeat("=== RUN   TestOne\n--- PASS: TestOne (0.00s)\n", 301) + "ok\n", false, 0},
		{"bash", `{"command":"go test ./a"}`, strings.Repeat("=== RUN   TestOne\n--- PASS: TestOne (0.00s)\n", 305) + "ok\n", true, 0},
		{"Read", `{"file_path":"/src/a.go"}`, sourceFile(1, 60), true, 0},
		{"Read", `{"file_path":"/src/a.go"}`, sourceFile(1, 60), false, 1},
		{"bash", `{"command":"cat /src/a.go"}`, sourceFile(1, 60), false, 0},
	} {
		id := fmt.Sprintf("call_%d", n)
		history = append(history, message.Assistant("", message.Call(id, tc.call, tc.args)), message.ToolResult(id, tc.result))
		res, err := m.Preflight(t.Context(), "s", history)
		if err != nil {
			t.Fatal(err)
		}
		again := 0
		for _, x := range res.Tidied {
			again += x.ReadAgain
		}
		last := len(history) - 1
		if reduced := !message.Identical(res.Messages[last], history[last]); reduced != tc.reduced || again != tc.again {
			t.Errorf("call %d, %s: reduced %v, %d asked for again, want %v and %d", n, tc.args, reduced, again, tc.reduced, tc.again)
		}
	}
}

// Equal results of several calls in a row are distinguished from one result that is
// sent again because its call got no answer.
func TestEqualResultOfALaterCallBecomesANote(t *testing.T) {
	m := costRig(t, tidyConfig(memory.New()))
	text := strings.Repeat("=== RUN   TestOne\n--- PASS: TestOne (0.00s)\n", 60)
	history := []message.Message{message.System("You fix bugs."), message.User("Make the tests pass.")}
	for i, dir := range []string{"./a", "./b", "./c"} {
		id := fmt.Sprintf("call_%d", i)
		history = append(history, message.Assistant("", message.Call(id, "bash", `{"command":"go test `+dir+`"}`)), message.ToolResult(id, text))
		for range 2 { // the first call gets no answer
			res, err := m.Preflight(t.Context(), "s", history)
			if err != nil {
				t.Fatal(err)
			}
			got := res.Messages[len(history)-1].ResultText()
			if note := strings.Contains(got, "[the same 120 lines as an earlier result"); note != (i > 0) || !note && got != text {
				t.Errorf("%s: the model reads %.200s", dir, got)
			}
		}
	}
}

func TestReducersAreSwitchedOffByName(t *testing.T) {
	c := tidyConfig(memory.New())
	c.Tidy.Off = tidy.Names()
	if res, err := costRig(t, c).Preflight(t.Context(), "s", tidyLoop(1)); err != nil || res.Triggered {
		t.Errorf("reduced although all are off (%v)", err)
	}
	c.Tidy.Off = []string{"codes"}
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "tidy.off") {
		t.Errorf("an unknown reducer: %v, want an error with %q", err, "tidy.off")
	}
}

// At the trigger the other stages work on the results that tidy leaves, and a
// compaction works as before.
func TestCompactionWorksOnResultsThatTidyLeaves(t *testing.T) {
	a := memory.New()
	c := tidyConfig(a, "truncate", "mask", "summarize", "shrink", "squeeze")
	c.MaxContextTokens = 32_000
	m := costRig(t, c)
	history := tidyLoop(60)
	steps := 0
	last := eachCall(t, m, history, func(_ int, res *compact.Result) {
		if res.Step > 0 {
			steps++
		}
		paired(t, res.Messages)
	})
	if steps == 0 || steps > 20 || len(decided(last, policy.Summarized))+len(decided(last, policy.Masked)) == 0 {
		t.Errorf("%d compactions, want at most 20", steps)
	}
	elsewhere, err := costRig(t, c).Preflight(t.Context(), "s", history)
	if err != nil || bytesOf(last.Messages) != bytesOf(elsewhere.Messages) {
		t.Errorf("another process makes a different view (%v)", err)
	}
	text := history[3].Parts[0].Text
	if got, err := m.Recall(t.Context(), "s", testkey.Ref(history[3].Parts[0])); err != nil || got != text {
		t.Errorf("%.60q, %v; want %q and no error", got, err, text)
	}
	if err := m.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	verified(t, a)
}

// lineHolder is an archive that stores the first edits when first is closed, and later
// edits when second is closed.
type lineHolder struct {
	storage.Archive
	first, second chan struct{}
	n             int
}

func (a *lineHolder) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if strings.HasSuffix(k.String(), "edits.jsonl") {
		if a.n++; a.n == 1 {
			<-a.first
		} else {
			<-a.second
		}
	}
	return a.Archive.Append(ctx, k, seq, b)
}

// Between the late line and the line that voids it, the waiting process does not use
// the edit.
func TestLateLineIsIgnoredByTheWaitingProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		a := &lineHolder{Archive: memory.New(), first: make(chan struct{}), second: make(chan struct{})}
		c := tidyConfig(a)
		c.Tidy.Wait = 20 * time.Millisecond
		m, err := compact.New(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		history := tidyLoop(1)
		if res, err := m.Preflight(ctx, "s", history); err != nil || res.Triggered {
			t.Fatalf("the archive answered in time (%v)", err)
		}
		close(a.first)
		synctest.Wait()
		for range 3 {
			time.Sleep(time.Minute) // the process reads the log
			res, err := m.Preflight(ctx, "s", append(history[:len(history):len(history)], message.Assistant("I see."), message.User("Go on.")))
			if err != nil || !message.Identical(res.Messages[3], history[3]) {
				t.Errorf("a result that was sent whole is reduced (%v)", err)
			}
			synctest.Wait()
		}
		close(a.second)
		if err := m.Close(ctx); err != nil {
			t.Fatal(err)
		}
	})
}

// Flush waits until a reduction that its call did not wait for is void for others.
func TestFlushWaitsForLateReductions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		a := &lineHolder{Archive: memory.New(), first: make(chan struct{}), second: make(chan struct{})}
		c := tidyConfig(a)
		c.Tidy.Wait = 20 * time.Millisecond
		m, err := compact.New(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		history := tidyLoop(1)
		if res, err := m.Preflight(ctx, "s", history); err != nil || res.Triggered {
			t.Fatalf("the archive answered in time (%v)", err)
		}
		hurried, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if err := m.Flush(hurried); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Flush with a deadline ends with %v, want DeadlineExceeded", err)
		}
		flushed := make(chan error, 1)
		go func() { flushed <- m.Flush(ctx) }()
		synctest.Wait()
		if len(flushed) > 0 {
			t.Fatal("Flush did not wait")
		}
		close(a.first)
		synctest.Wait()
		if len(flushed) > 0 {
			t.Fatal("Flush did not wait for the void line")
		}
		close(a.second)
		if err := <-flushed; err != nil {
			t.Fatal(err)
		}
		other, err := compact.New(ctx, tidyConfig(a.Archive))
		if err != nil {
			t.Fatal(err)
		}
		if there, err := other.Preflight(ctx, "s", history); err != nil || !message.Identical(there.Messages[3], history[3]) {
			t.Errorf("another process reduces a result that was sent whole (%v)", err)
		}
		if err := errors.Join(other.Close(ctx), m.Close(ctx)); err != nil {
			t.Fatal(err)
		}
	})
}
