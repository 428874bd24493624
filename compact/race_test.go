package compact_test

import (
	"context"
	"encoding/json"
	"fmt"
	"github.com/agentcompact/compact/internal/testkey"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/crew"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/trace"
)

// overtakenArchive is an archive in which another writer is first whenever a ledger is
// about to be created: the call has already chosen its number.
type overtakenArchive struct {
	*memory.Archive
	by    func(n int) // n counts from 1
	n     int
	after error // error returned for the first ledger, although it was created
}

func (o *overtakenArchive) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if !strings.Contains(k.String(), "/ledger-") {
		return o.Archive.Create(ctx, k, b)
	}
	if o.by != nil {
		o.n++
		o.by(o.n)
	}
	err := o.Archive.Create(ctx, k, b)
	if o.after != nil && err == nil {
		err, o.after = o.after, nil
	}
	return err
}

// rival is another process that compacts the same session with other agents.
func rival(t *testing.T, a storage.Archive) func(history int, opts ...compact.Option) {
	m := crew.Manager(t, a, &counting{})
	return func(history int, opts ...compact.Option) {
		t.Helper()
		res, err := m.Preflight(t.Context(), "s", historyOf(history, 100), opts...)
		if err != nil || res.Step == 0 {
			t.Errorf("the other process: step %d, %v", res.Step, err)
		}
	}
}

// historyOf returns one of several dissimilar histories.
func historyOf(n, rounds int) []message.Message {
	history := loop(rounds, 200)
	history[1] = message.User(fmt.Sprintf("Make all tests of module_%d pass.", n))
	return history
}

func asAgent(name string) compact.Option { return compact.WithAgent(name) }

// stepsSaid returns the numbers of the steps in the events.
func stepsSaid(t *testing.T, events []trace.Event) (steps []int) {
	t.Helper()
	for _, e := range events {
		var data struct {
			Step int
			Type string `json:"error_type"`
		}
		if err := json.Unmarshal([]byte(e.Data.String()), &data); err != nil {
			t.Fatal(err)
		}
		if data.Step > 0 && data.Type != "CommitLost" && !slices.Contains(steps, data.Step) {
			steps = append(steps, data.Step)
		}
	}
	return steps
}

// A number that an agent of another process takes at the last moment costs
// another number, and nothing else.
func TestLostNumberCostsNoDecision(t *testing.T) {
	a := &overtakenArchive{Archive: memory.New()}
	other := rival(t, a.Archive)
	a.by = func(n int) {
		if n <= 2 {
			other(n, asAgent(fmt.Sprint("other-", n)))
		}
	}
	s := &counting{}
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a, Summarize: s})
	history := historyOf(0, 100)
	res := r.preflight(history)
	if res.Step != 3 || !res.Triggered || res.Summary == nil || res.After.Total > res.Target || len(res.Warnings) > 0 {
		t.Errorf("step %d, triggered %v, %d tokens, warnings %q; want 3, true and at most %d", res.Step, res.Triggered, res.After.Total, res.Warnings, res.Target)
	}
	if n := s.calls.Load(); n != 1 {
		t.Errorf("the summarizer was asked %d times, want 1", n)
	}
	var stages []string
	for _, st := range res.Stages {
		stages = append(stages, st.Stage)
	}
	if len(stages) != len(slices.Compact(slices.Sorted(slices.Values(stages)))) {
		t.Errorf("stages %q: some occur twice", stages)
	}
	if got := stepsSaid(t, everything(t, r)); !slices.Equal(got, []int{3}) {
		t.Errorf("exporters hear of steps %v, want 3 alone", got)
	}
	crew.Verify(t, a, 3)
	lostLines(t, a, []int{1, 2})
	masked := decided(res, policy.Summarized)
	text, err := r.Recall(t.Context(), "s", testkey.Ref(history[masked[len(masked)-1]].Parts[0]))
	if err != nil || text == "" {
		t.Errorf("a message that the step removed is not found: %v", err)
	}
	again := r.preflight(history)
	if again.Triggered || bytesOf(again.Messages) != bytesOf(res.Messages) {
		t.Error("the next call has a different view")
	}
}

// logLine holds the fields that tell a reader of the audit log whether the line
// counts.
type logLine struct {
	Name string
	Span string `json:"span_id"`
	Call string `json:"parent_id"`
	Data struct {
		Type  string `json:"error_type"`
		Step  int
		Saved int `json:"tokens_saved"`
		Voids []string
	}
}

// countingLines returns the lines of the audit log that count by the documentation,
// and the number of all lines.
func countingLines(t *testing.T, a storage.Archive) (lines []logLine, all int) {
	t.Helper()
	s, err := record.OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	void, last := map[string]bool{}, map[string]int{}
	var read []logLine
	for line, err := range s.EventLines(t.Context()) {
		var e logLine
		if err != nil || json.Unmarshal(line, &e) != nil {
			t.Fatal(err)
		}
		for _, span := range e.Data.Voids {
			void[span] = true
		}
		last[e.Span] = len(read)
		read = append(read, e)
	}
	for i, e := range read {
		if !void[e.Span] && last[e.Span] == i {
			lines = append(lines, e)
		}
	}
	return lines, len(read)
}

// once checks that each call has at most one counted line of each kind.
func once(t *testing.T, a storage.Archive) {
	t.Helper()
	lines, _ := countingLines(t, a)
	seen := map[[2]string]int{}
	for _, e := range lines {
		switch e.Name {
		case trace.NameBeforeModelCall:
			seen[[2]string{e.Span, e.Name}]++
		case trace.NameTriggerDecision, trace.NameArchival, trace.NameSummaryCreated, trace.NamePrunedMessages, trace.NameMaskedObservations:
			seen[[2]string{e.Call, e.Name}]++
		}
		if e.Name == trace.NameArchival && e.Data.Step == 0 {
			t.Errorf("an archival of no step counts")
		}
	}
	for of, n := range seen {
		if n > 1 {
			t.Errorf("the call %s has %d × %s, want at most 1", of[0], n, of[1])
		}
	}
}

// A reader of the log can distinguish each copy of the events of a step that lost
// its number from the valid one, and exporters get an event about the race.
func TestLostRaceVoidsItsLines(t *testing.T) {
	for name, other := range map[string]func(n int) []compact.Option{
		"another agent":  func(n int) []compact.Option { return []compact.Option{asAgent(fmt.Sprint("other-", n))} },
		"the same agent": func(int) []compact.Option { return nil },
	} {
		a := &overtakenArchive{Archive: memory.New()}
		rivals := rival(t, a.Archive)
		a.by = func(n int) {
			if n <= 2 {
				rivals(n, other(n)...)
			}
		}
		r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a, Summarize: &counting{}})
		res := r.preflight(historyOf(0, 100))
		events := everything(t, r)
		once(t, a)
		lines, all := countingLines(t, a)
		saved, lost := 0, 0
		for _, e := range lines {
			if e.Name == trace.NameBeforeModelCall && e.Data.Step == res.Step {
				saved += e.Data.Saved
			}
		}
		for _, e := range events {
			if strings.Contains(e.Data.String(), `"CommitLost"`) {
				lost++
			}
		}
		if want := res.TokensIn - res.After.Total; saved != want || lost < 2 || len(lines) == all {
			t.Errorf("%s: step %d saves %d in the log, want %d; exporters hear of %d lost races; %d of %d lines count", name, res.Step, saved, want, lost, len(lines), all)
		}
	}
}

// The lines of a step with a failed commit are void, too.
func TestFailedCommitVoidsItsLines(t *testing.T) {
	a := &failing{Archive: memory.New(), word: "ledger"}
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a})
	if _, err := r.Preflight(t.Context(), "s", loop(100, 200)); err == nil {
		t.Fatal("the step is committed")
	}
	a.word = ""
	everything(t, r)
	lines, _ := countingLines(t, a)
	for _, e := range lines {
		if e.Name == trace.NamePrunedMessages || e.Name == trace.NameSummaryCreated || e.Data.Step > 0 {
			t.Errorf("%s of a missing step %d", e.Name, e.Data.Step)
		}
	}
}

// lostLines compares the audit log with the numbers that were lost.
func lostLines(t *testing.T, a storage.Archive, want []int) {
	t.Helper()
	s, err := record.OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	var lost []int
	for line, err := range s.EventLines(t.Context()) {
		var e struct {
			Data struct {
				Type string `json:"error_type"`
				Step int
			}
		}
		if err != nil || json.Unmarshal(line, &e) != nil {
			t.Fatal(err)
		}
		if e.Data.Type == "CommitLost" {
			lost = append(lost, e.Data.Step)
		}
	}
	if !slices.Equal(lost, want) {
		t.Errorf("the lost numbers in the audit log are %v, want %v", lost, want)
	}
}

// A step of the same agent requires a new decision, because it changes the
// history.
func TestStepOfTheSameAgentCausesANewDecision(t *testing.T) {
	a := &overtakenArchive{Archive: memory.New()}
	other := crew.Manager(t, a.Archive, &counting{})
	history := historyOf(0, 100)
	var theirs *compact.Result
	a.by = func(n int) {
		if n == 1 {
			theirs, _ = other.Preflight(t.Context(), "s", history)
		}
	}
	mine := &counting{}
	mine.calls.Store(7) // so that its summaries have other texts
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a, Summarize: mine})
	res := r.preflight(history)
	if theirs.Step != 1 || bytesOf(res.Messages) != bytesOf(theirs.Messages) {
		t.Errorf("the view differs from the view of step %d", theirs.Step)
	}
	if res.Triggered || res.Step != 0 || res.Archived != nil || len(res.Stages) > 0 || res.Reason != trace.ReasonBelow || res.Replayed == 0 {
		t.Errorf("the result reports a compaction that was given up: triggered %v, step %d, stages %v, reason %s, %d edits made again", res.Triggered, res.Step, res.Stages, res.Reason, res.Replayed)
	}
	if res.ReductionStage != theirs.ReductionStage || res.Keep != r.preflight(history).Keep {
		t.Errorf("reduction %s, kept %+v, want %s", res.ReductionStage, res.Keep, theirs.ReductionStage)
	}
	if res.Summary == nil || res.Summary.Text != theirs.Summary.Text {
		t.Errorf("the result reports a summary that is not in the view: %+v", res.Summary)
	}
	crew.Verify(t, a, 1)
}

// Two processes can write the same summary. Only the process that stored the step
// reports it, and the other process reports no step: otherwise the audit log would
// count the step twice.
func TestEqualStepOfTheSameAgentIsForeign(t *testing.T) {
	a := &overtakenArchive{Archive: memory.New()}
	other := crew.Manager(t, a.Archive, &counting{})
	history := historyOf(0, 100)
	a.by = func(n int) {
		if n == 1 {
			if res, err := other.Preflight(t.Context(), "s", history); err != nil || res.Step != 1 {
				t.Errorf("the other process: step %d, %v; want 1 and no error", res.Step, err)
			}
		}
	}
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a, Summarize: &counting{}})
	if res := r.preflight(history); res.Triggered || res.Step != 0 || res.Archived != nil || res.Replayed == 0 {
		t.Errorf("triggered %v, step %d, archived %+v, %d edits made again", res.Triggered, res.Step, res.Archived, res.Replayed)
	}
	if got := stepsSaid(t, everything(t, r)); len(got) > 0 {
		t.Errorf("exporters get steps %v of another process", got)
	}
	crew.Verify(t, a, 1)
}

// If steps of the same agent keep coming, the computed view is sent, not the raw
// history.
func TestViewWithoutALedgerIsSent(t *testing.T) {
	a := &overtakenArchive{Archive: memory.New()}
	other := rival(t, a.Archive)
	a.by = func(n int) { other(n) } // the same agent, with a new history each time
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a, Summarize: &counting{}})
	history := historyOf(0, 100)
	res := r.preflight(history)
	if !res.Triggered || res.Step != 0 || res.After.Total > res.Target || len(decided(res, policy.Summarized)) == 0 {
		t.Errorf("triggered %v, step %d, a view of %d tokens", res.Triggered, res.Step, res.After.Total)
	}
	if res.Archived == nil || len(res.Archived.Files) != 1 || len(res.Warnings) != 1 {
		t.Errorf("archived %+v, warnings %q", res.Archived, res.Warnings)
	}
	conflict := false
	for _, e := range r.named(trace.NameError) {
		conflict = conflict || strings.Contains(e.Data.String(), `"error_type":"Conflict"`)
	}
	if got := stepsSaid(t, r.events.Events()); !conflict || len(got) > 0 {
		t.Errorf("an event reports the race: %v; exporters get steps %v", conflict, got)
	}
	a.by = nil
	if next := r.preflight(history); next.Step != a.n+1 {
		t.Errorf("the next call makes step %d, want %d", next.Step, a.n+1)
	}
	crew.Verify(t, a, a.n+1)
}

// An archive may report that a ledger exists although this call created it: the
// answer to its request was lost.
func TestCommitWithALostAnswerCountsOnce(t *testing.T) {
	a := &overtakenArchive{Archive: memory.New()}
	a.after = storage.ErrExists
	s := &counting{}
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a, Summarize: s})
	res := r.preflight(historyOf(0, 100))
	if res.Step != 1 || !res.Triggered || res.Archived == nil || s.calls.Load() != 1 {
		t.Errorf("step %d, triggered %v, archived %v, %d summaries; want 1, true and 1", res.Step, res.Triggered, res.Archived, s.calls.Load())
	}
	if got := stepsSaid(t, everything(t, r)); !slices.Equal(got, []int{1}) {
		t.Errorf("exporters hear of steps %v, want %v", got, []int{1})
	}
	for _, e := range everything(t, r) {
		if strings.Contains(e.Data.String(), `"CommitLost"`) {
			t.Errorf("a lost race is reported: %s", e.Data)
		}
	}
	crew.Verify(t, a, 1)
}
