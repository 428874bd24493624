package compact_test

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/trace"
)

// The event lists the removed messages, the largest first; their sum is the
// saving of the step, without the summary.
func TestRowsSumToTheRemovedTokens(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000})
	history := loop(99, 200)
	history = append(history, round(99, 900)...)
	res := r.preflight(append(history, loop(108, 100)[len(history):]...))
	p := dataOf[trace.PrunedMessages](t, last(t, r, trace.NamePrunedMessages))
	if len(p.Taken) != 20 || len(p.Rest) == 0 {
		t.Fatalf("%d rows, rest %+v, want 20", len(p.Taken), p.Rest)
	}
	messages, saved, largest := 0, 0, p.Taken[0].Tokens-p.Taken[0].Left
	for _, row := range p.Taken {
		if row.Tokens-row.Left > largest {
			t.Errorf("%+v comes after a smaller row of %d tokens", row, largest)
		}
		largest = row.Tokens - row.Left
		m := history[row.Index]
		if row.Role != string(m.Role) || row.Tool != "read_file" || row.Turn < row.Index/2 || row.Became == "summarized" && !slices.Contains(p.PrunedIDs, row.Ref) {
			t.Errorf("%+v is not message %d", row, row.Index)
		}
		messages, saved = messages+1, saved+row.Tokens-row.Left
	}
	for _, sum := range p.Rest {
		messages, saved = messages+sum.Messages, saved+sum.Tokens-sum.Left
	}
	if want := p.PrunedCount + p.MaskedCount + p.TruncatedCount; messages != want {
		t.Errorf("%d messages in rows, want %d", messages, want)
	}
	summary := 0
	if res.Summary != nil {
		summary = p.Layers.Summary.Tokens
	}
	if want := p.TokensBefore - p.TokensAfter + summary; saved != want {
		t.Errorf("rows save %d tokens, the step %d", saved, want)
	}
}

// A message that an earlier step masked costs its placeholder, and removing it
// saves no more than that.
func TestRowsOfLaterStepsAddUp(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 16_000})
	history, steps, masked := loop(20, 300), 0, false
	for range 200 {
		history = append(history, round(len(history), 300)...)
		res := r.preflight(history)
		if res.Step == 0 {
			continue
		}
		steps = res.Step
		p := dataOf[trace.PrunedMessages](t, last(t, r, trace.NamePrunedMessages))
		call := dataOf[trace.Preflight](t, last(t, r, trace.NameBeforeModelCall))
		saved := 0
		for _, row := range p.Taken {
			saved += row.Tokens - row.Left
			masked = masked || row.In > row.Tokens
			if row.Tokens > row.In {
				t.Errorf("a row has more tokens than its message: %+v", row)
			}
		}
		for _, sum := range p.Rest {
			saved += sum.Tokens - sum.Left
			masked = masked || sum.In > sum.Tokens
		}
		if want := p.TokensBefore - p.TokensAfter + call.After.Summary - call.Before.Summary; saved != want {
			t.Errorf("step %d: rows save %d tokens, the step %d", steps, saved, want)
		}
	}
	if steps < 3 || !masked {
		t.Errorf("%d steps; something masked was summarized: %v", steps, masked)
	}
}

func TestCallReportsSavingsAndLayers(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000})
	saved := 0
	for i := range 4 {
		res := r.preflight(loop(100, 200))
		if i == 1 {
			r.Failed(res, 529) // leaves all sums of the session
			continue
		}
		saved += res.TokensIn - res.After.Total
	}
	p := dataOf[trace.Preflight](t, last(t, r, trace.NameBeforeModelCall))
	if p.TokensSaved != p.TokensIn-p.TokensAfter || p.TokensSaved <= 0 || p.SessionSaved != saved {
		t.Errorf("saved %d, in the session %d, want %d", p.TokensSaved, p.SessionSaved, saved)
	}
	for _, l := range []struct {
		of    *trace.RoleLayers
		total int
	}{{p.Before, p.TokensBefore}, {p.After, p.TokensAfter}} {
		if sum := l.of.System + l.of.Developer + l.of.ToolsSchema + l.of.Summary + l.of.User + l.of.Assistant + l.of.ToolResults + l.of.Overhead; sum != l.total {
			t.Errorf("%+v add up to %d, not %d", l.of, sum, l.total)
		}
	}
}

// A person types the command in the event into a shell, so its arguments are quoted.
func TestEventNamesTheCommandThatReadsTheArchive(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "it's here")
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: mustOpen(t, dir)})
	r.preflight(loop(100, 200))
	p := dataOf[trace.Archival](t, last(t, r, trace.NameArchival))
	words, err := exec.Command("sh", "-c", `compactctl() { printf '%s\n' "$@"; }; `+p.ReadWith).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := "archive\nshow\ns\n" + filepath.Base(p.FilePath) + "\n--archive\n" + dir + "\n"
	if string(words) != want {
		t.Errorf("%s\nis read as %q, want %q", p.ReadWith, words, want)
	}
}

func TestUsageReportsTheCacheBreak(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000})
	measured := 0
	observe := func(history []message.Message) trace.CallUsage {
		res := r.preflight(history)
		measured = res.After.Total * 8 / 10
		r.Observe(res, compact.Usage{PromptTokens: measured, CacheKnown: true, CachedTokens: 10, WrittenTokens: 20, OutputTokens: 5})
		return dataOf[trace.CallUsage](t, last(t, r, trace.NameCallUsage))
	}
	if p := observe(loop(10, 100)); p.Break != nil || p.Estimated*8/10 != p.Measured || p.ErrorPct < 24 || p.ErrorPct > 26 {
		t.Errorf("the first call: %+v", p)
	}
	if p := observe(loop(12, 100)); p.Break != nil {
		t.Errorf("a call that continues: %+v, want none", p.Break)
	}
	changed := loop(14, 100)
	changed[5] = message.ToolResult("call_1", "another file")
	if p := observe(changed); p.Break == nil || p.Break.Index != 5 || p.Break.Role != "tool" || p.Break.Tokens < 500 {
		t.Errorf("message 5 differs: %+v", p.Break)
	}
}

func TestRefusalNamesTheLimit(t *testing.T) {
	r := newRig(t, compact.Config{})
	res := r.preflight(loop(10, 100))
	r.Refused(res, compact.Refusal{Limit: 1_000, Prompt: 1_400, Window: 900, Retried: true})
	r.Refused(nil, compact.Refusal{})
	r.Refused(&compact.Result{}, compact.Refusal{})
	if n := len(r.named(trace.NameRefused)); n != 1 {
		t.Fatalf("%d refusals, want 1", n)
	}
	e := last(t, r, trace.NameRefused)
	p := dataOf[trace.Refused](t, e)
	if p.Limit != 1_000 || p.Measured != 1_400 || p.Window != 900 || !p.Retried || p.Estimated != res.After.Total || e.Severity != trace.SeverityWarning {
		t.Errorf("%s %+v, want %s", e.Severity, p, trace.SeverityWarning)
	}
}

// The metrics subtract the tokens of calls for which nothing was billed, those of the history, too.
func TestUnbilledCallsNameTheirTokens(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 4_000})
	res := r.preflight(loop(40, 200))
	r.Refused(res, compact.Refusal{})
	r.Failed(res, 529)
	refused, failed := dataOf[trace.Refused](t, last(t, r, trace.NameRefused)), dataOf[trace.ProviderError](t, last(t, r, trace.NameProviderError))
	if res.TokensIn == res.After.Total || refused.In != res.TokensIn || failed.In != res.TokensIn || failed.Estimated != res.After.Total {
		t.Errorf("a history of %d tokens, a view of %d: %+v %+v", res.TokensIn, res.After.Total, refused, failed)
	}
}

func TestRecallsAreReported(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000})
	r.preflight(loop(100, 200))
	if _, err := r.Recall(context.Background(), "s", "turn:3"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Recall(context.Background(), "s", "0123456789ab"); !errors.Is(err, compact.ErrNotFound) {
		t.Fatal(err)
	}
	if _, err := r.Search(context.Background(), "s", regexp.MustCompile("file_7.go"), 0); err != nil {
		t.Fatal(err)
	}
	events := r.named(trace.NameRecall)
	if len(events) != 3 {
		t.Fatalf("%d recalls, want 3", len(events))
	}
	one, two, three := dataOf[trace.Recalled](t, events[0]), dataOf[trace.Recalled](t, events[1]), dataOf[trace.Recalled](t, events[2])
	if !one.Found || one.Chars == 0 || one.Ref != "turn:3" || two.Found || two.ErrorType != "" || !three.Found || three.Matches == 0 {
		t.Errorf("three recalls, want the first and the third found:\n%+v\n%+v\n%+v", one, two, three)
	}
	answer, err := compact.RecallTool(r.CompactManager).Call(context.Background(), "s", json.RawMessage(`{"ref":"turn:3","head":1}`))
	events = r.named(trace.NameRecall)
	if last := dataOf[trace.Recalled](t, events[len(events)-1]); err != nil || last.Chars != utf8.RuneCountInString(answer) || last.Chars >= one.Chars {
		t.Errorf("a part: %d characters of %d, answered %d, %v", last.Chars, one.Chars, len(answer), err)
	}
	if name := events[1].Trace.Name.String(); name != "recall 0123456789ab: not found" {
		t.Errorf("the name of the trace is %q, want %q", name, "recall 0123456789ab: not found")
	}
}

// failsOnce is a model that fails once.
type failsOnce struct {
	thinking
	failed *atomic.Bool
}

func (m failsOnce) Summarize(ctx context.Context, r strategy.Request) (strategy.Draft, error) {
	if m.failed.CompareAndSwap(false, true) {
		return strategy.Draft{}, &strategy.Failure{Reason: strategy.ErrTransient}
	}
	return m.thinking.Summarize(ctx, r)
}

func TestRecoveredFailuresAndSlowSummariesAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, compact.Config{MaxContextTokens: 8_000, Summarize: failsOnce{failed: new(atomic.Bool)}, Archive: memory.New()})
		r.preflight(loop(100, 200))
		attempts := r.named(trace.NameSummaryAttempt)
		if len(attempts) != 1 || attempts[0].Severity != trace.SeverityWarning || !strings.HasPrefix(dataOf[trace.SummaryAttempt](t, attempts[0]).Action, "retry") {
			t.Errorf("attempts %+v", attempts)
		}
		if begun := r.named(trace.NameSummaryBegun); len(begun) != 1 || begun[0].End.After(last(t, r, trace.NameSummarize).End) {
			t.Errorf("begun: %+v", begun)
		}
		if e := last(t, r, trace.NameBeforeModelCall); e.Severity != "" {
			t.Errorf("the call is a %s, want none", e.Severity)
		}
	})
}

func TestFallbackIsAWarning(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Summarize: billing{err: errors.New("answer 400")}})
	r.preflight(loop(100, 200))
	for _, name := range []string{trace.NameError, trace.NameBeforeModelCall} {
		if e := last(t, r, name); e.Severity != trace.SeverityWarning {
			t.Errorf("%s has severity %q, want %q", name, e.Severity, trace.SeverityWarning)
		}
	}
}
