package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/trace"
)

func result() *compact.Result {
	return &compact.Result{
		Session: "s1", Model: "gpt-4", Step: 2, Triggered: true, Reason: trace.ReasonUsage, Note: "why", CountingUnit: "cl100k_base",
		TokensIn: 120_000, MaxTokens: 128_000, Trigger: 108_800,
		Before:         compact.Layers{System: 100, User: 900, Assistant: 19_000, ToolResults: 100_000, Total: 120_000, Messages: 400},
		After:          compact.Layers{System: 100, Summary: 1_400, User: 500, Assistant: 6_000, ToolResults: 22_000, Total: 30_000, Messages: 90},
		ReductionStage: compact.ReductionSummarization, InvariantStatus: compact.InvariantsOK,
		KeptCount: 60, TruncatedCount: 1, MaskedCount: 29, MaskedChars: 81_234, SummarizedCount: 310,
		Summary: &policy.SummaryInfo{Version: 2, Strategy: "task_state", Backend: "openai", Model: "gpt-4o-mini", Tokens: 1_396, InputSize: 40_000},
		Stages: []compact.StageReport{
			{Stage: "truncate", Before: 120_000, After: 120_000},
			{Stage: "mask", Edits: 120, Before: 120_000, After: 69_000},
			{Stage: "summarize", Edits: 1, Before: 69_000, After: 30_000},
			{Stage: "squeeze", Edits: 3, Before: 30_000, After: 30_000, Err: "thrown away"},
		},
		Archived: &compact.Archived{Adapter: "fs", Location: ".compact/archive/s1", Files: []string{"transcript-pre-compact-002.jsonl", "ledger-002.json"}},
		Timing:   compact.Timing{Count: 8 * time.Millisecond, Summarize: 2100 * time.Millisecond, Total: 2250 * time.Millisecond},
	}
}

func TestReport(t *testing.T) {
	const want = `Cut 1 tool result, masked 29 tool results and summarized 310 messages.
120,000 → 30,000 tokens (-75 %), 23 % of gpt-4's window of 128,000
gone: 1 cut, 29 masked, 310 summarized; stays: 60 messages and a summary; back: compactctl archive show s1

                  before     after
system               100       100  █
summary                -     1,400  █
user                 900       500  █
assistant         19,000     6,000  ██░░░░
tool results     100,000    22,000  ███████░░░░░░░░░░░░░░░░░░░░░░░░░░
total            120,000    30,000  ██████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░
messages             400        90

outcome       kept 60 · truncated 1 · masked 29 · summarized 310 · dropped 0
              81,234 characters masked
stages        mask       120,000 →  69,000  120 tool results
              summarize   69,000 →  30,000
summary       v2, task_state by openai (gpt-4o-mini): 1,396 tokens for 40,000
note          why
session       s1, step 2
archive       .compact/archive/s1
              transcript-pre-compact-002.jsonl
              ledger-002.json
written       small.jsonl
time          2.2 s (count 8 ms, summary 2.1 s)
`
	var b strings.Builder
	if err := printReport(&b, style{}, result(), circumstances{}, "small.jsonl"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var painted strings.Builder
	if err := printReport(&painted, style{on: true}, result(), circumstances{}, "small.jsonl"); err != nil {
		t.Fatal(err)
	}
	if plain := unpainted(painted.String()); plain != b.String() {
		t.Errorf("colors change the text:\n%s", cmp.Diff(b.String(), plain))
	}
	for line := range strings.Lines(b.String()) {
		// a command is not wrapped
		if n := columnsOf(strings.TrimSuffix(line, "\n")); n > reportColumns && !strings.HasPrefix(line, "gone: ") {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// unpainted takes the colors out.
func unpainted(s string) string {
	for _, code := range []string{"0", "1", "2", "31", "32", "33", "36"} {
		s = strings.ReplaceAll(s, "\x1b["+code+"m", "")
	}
	return s
}

func TestSentenceNamesTheReasonForDoingNothing(t *testing.T) {
	for reason, want := range map[string]string{
		trace.ReasonBelow:      "Nothing to do: the next compaction is due at 108,800 tokens.",
		trace.ReasonNothingOld: "Nothing to remove: all remaining messages are pinned or recent.",
		trace.ReasonFloor:      "Above the target, but nothing to remove: all remaining messages are pinned or recent.",
		trace.ReasonWaiting:    "Nothing to do yet: the last compaction ended above the target, and the next is due at 108,800 tokens.",
		"other":                "Nothing was changed (other).",
	} {
		res := &compact.Result{Reason: reason, Trigger: 108_800}
		if got := (circumstances{}).sentence(res); got != want {
			t.Errorf("%s: %q, want %q", reason, got, want)
		}
	}
	res := &compact.Result{Reason: trace.ReasonBelow, Trigger: 10, CountingUnit: "utf-16", Replayed: 2, DroppedCount: 1, MaskedCount: 2}
	want := "Nothing to do: the next compaction is due at 10 characters.\nEdits of earlier compactions, applied again: masked 2 tool results and dropped 1 message."
	if got := (circumstances{}).sentence(res); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestUndoIsAValidShellCommand(t *testing.T) {
	for _, c := range []struct{ session, location, want string }{
		{"s1", ".compact/archive/s1", "compactctl archive show s1"},
		{"a b's\x1b[2J", "/var/my archive/a%20b", `compactctl archive show 'a b'\''s\x1b[2J' --archive '/var/my archive'`},
		{"s", "s", "compactctl archive show s --archive ."},
		{"s", "s3://bucket/prefix/s", "compactctl archive show s --archive s3://bucket/prefix"},
	} {
		res := result()
		res.Session, res.Archived.Location = c.session, c.location
		if got := account(res); !strings.HasSuffix(got, "; back: "+c.want) || strings.ContainsAny(got, "\n\x1b") {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestNothingComesBackFromMemory(t *testing.T) {
	res := result()
	res.Archived.Adapter, res.Archived.Location = "memory", "s"
	if got := account(res); !strings.HasSuffix(got, "; back: nothing, because the archive was in memory (storage.adapter)") {
		t.Error(got)
	}
}

// The headline describes this call. Earlier calls have separate lines.
func TestHeadlineDescribesTheCall(t *testing.T) {
	res := result()
	first := &trace.PrunedMessages{TruncatedCount: 1, MaskedCount: 29, SummarizedCount: 310}
	later := &trace.PrunedMessages{SummarizedCount: 2}
	const all = "cut 1 tool result, masked 29 tool results and summarized 310 messages."
	for _, c := range []struct {
		did      *trace.PrunedMessages
		replayed int
		want     string
	}{
		{nil, 0, capital(all)},
		{nil, 3, "Including earlier compactions: " + all},
		{first, 0, capital(all)},
		{later, 3, "Summarized 2 messages.\nIncluding earlier compactions: " + all},
	} {
		res.Replayed = c.replayed
		if got := (circumstances{did: c.did}).sentence(res); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	res = &compact.Result{Reason: trace.ReasonBelow, Trigger: 108_800}
	if got, want := (circumstances{economic: true}).sentence(res), "Nothing to do: the next compaction is due at 108,800 tokens, or earlier where it pays."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestWarningsAreOneLineEach(t *testing.T) {
	var b strings.Builder
	a := &app{err: &b}
	a.sayWarnings(&compact.Result{Warnings: []string{"no summary (the server rejects the request (status 401): no)", "other \x1b[2J"}})
	want := "compactctl: warning: no summary (the server rejects the request (status 401): no)\n" +
		"compactctl: warning: other \\x1b[2J\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}
