package console_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/console"
	"github.com/agentcompact/compact/trace/tracetest"
)

var start = time.Date(2026, 11, 21, 4, 10, 0, 0, time.UTC)

func write(t *testing.T, opts console.Options, events ...trace.Event) string {
	t.Helper()
	var b bytes.Buffer
	opts.Location = time.UTC
	if err := console.New(&b, &opts).Export(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestExporterKeepsContract(t *testing.T) {
	tracetest.Run(t, func(testing.TB) trace.Exporter { return console.New(io.Discard, nil) })
}

func TestConsoleWritesAlignedLines(t *testing.T) {
	const want = `04:10:00.000  session-7f3a      token_estimate           90µs  ok     112345 / 128000 tokens (87.8%)
04:10:00.000  session-7f3a      trigger_decision         20µs  ok     triggered: usage_pct >= trigger_pct (112345 tokens, 87.8% o…
04:10:00.000  session-7f3a      archival               46.0ms  ok     archived 60 messages to .compact/archive/session-7f3a/trans…
04:10:00.046  session-7f3a      summarize               2.00s  ok     Goals: move src/auth from cookies to tokens.
04:10:02.046  session-7f3a      summary_created           1µs  ok     Goals: move src/auth from cookies to tokens.
04:10:02.046  session-7f3a      pruned_messages         8.0ms  ok     pruned 47 of 60 messages; 112345 -> 30350 tokens (-73.0%)
04:10:00.000  session-7f3a      before_model_call       2.05s  ok     compacted 112345 -> 30350 tokens (-73.0%): 47 pruned, 0 mas…
`
	got := write(t, console.Options{Width: 60}, tracetest.Sample(start)...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestConsoleShowsErrorsAndSeverity(t *testing.T) {
	got := write(t, console.Options{},
		trace.Event{Name: trace.NameError, Start: start, End: start.Add(2 * time.Minute), Status: trace.StatusError, Data: redact.Lit(`{"message":"no room"}`)},
		trace.Event{Name: trace.NameRedactionDisabled, Start: start, End: start, Severity: trace.SeverityHigh, Data: redact.Lit(`not JSON`)},
		trace.Event{Name: trace.NameSession, End: start},
		trace.Event{Name: trace.NameRefused, Start: start, End: start, Status: trace.StatusError, Severity: trace.SeverityWarning, Data: redact.Lit(`{"output_text":"sent again"}`)},
	)
	const want = `04:10:00.000                    error                    2.0m  error  no room
04:10:00.000                    redaction_disabled        0µs  high   not JSON
04:10:00.000                    session                   0µs  ok   
04:10:00.000                    refused                   0µs  warn   sent again
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestConsoleRemovesTerminalControlCharacters(t *testing.T) {
	got := write(t, console.Options{Width: -1}, trace.Event{
		Name: trace.NameError, Start: start, Session: redact.Lit("a\x1b[2Jb\r\nc"),
		Data: redact.Lit(`{"output_text":"red \u001b[31m\u0007\n\n\tnext\u202eline` + "\xff" + `"}`),
	})
	if strings.ContainsAny(got, "\x1b\r\a\t\u202e") || strings.Count(got, "\n") != 1 {
		t.Errorf("line = %q", got)
	}
	if !strings.Contains(got, "red [31m next line") {
		t.Errorf("line = %q: the words must stay", got)
	}
}

func TestConsoleShowsAsManyCharactersAsItsWidth(t *testing.T) {
	got := write(t, console.Options{Width: 5},
		trace.Event{Name: trace.NameError, Start: start, Data: redact.Lit(`{"output_text":"fünf!"}`)},
		trace.Event{Name: trace.NameError, Start: start, Data: redact.Lit(`{"output_text":"sechs!"}`)})
	if !strings.Contains(got, "fünf!\n") || !strings.HasSuffix(got, " sech…\n") {
		t.Errorf("lines:\n%s", got)
	}
}

func TestConsoleUsesColorOnlyOnRequest(t *testing.T) {
	events := tracetest.Sample(start)
	t.Setenv("NO_COLOR", "")
	if got := write(t, console.Options{}, events...); strings.Contains(got, "\x1b") {
		t.Errorf("colors in a buffer: %q", got)
	}
	colored := write(t, console.Options{Color: console.ColorAlways}, events...)
	if !strings.Contains(colored, "\x1b[36mtrigger_decision") {
		t.Errorf("no colors: %q", colored)
	}
	bare := colored
	for _, c := range []string{"\x1b[0m", "\x1b[2m", "\x1b[31m", "\x1b[33m", "\x1b[36m"} {
		bare = strings.ReplaceAll(bare, c, "")
	}
	if diff := cmp.Diff(write(t, console.Options{Color: console.ColorNever}, events...), bare); diff != "" {
		t.Errorf("colors change the text:\n%s", diff)
	}
}

func TestConsoleUsesNoColorInFiles(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if err := console.New(f, nil).Export(t.Context(), tracetest.Sample(start)); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(f.Name())
	if err != nil || len(got) == 0 || bytes.Contains(got, []byte("\x1b")) {
		t.Errorf("file = %q, %v", got, err)
	}
}

func TestConsoleJSONWritesAuditLines(t *testing.T) {
	events := tracetest.Sample(start)
	got := write(t, console.Options{JSON: true, Color: console.ColorAlways}, events...)
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if len(lines) != len(events) {
		t.Fatalf("%d lines for %d events", len(lines), len(events))
	}
	for i, l := range lines {
		if l != string(events[i].AppendJSON(nil)) || !json.Valid([]byte(l)) {
			t.Errorf("line %d = %s", i, l)
		}
	}
}

func TestConsoleReturnsWritersError(t *testing.T) {
	full := errors.New("disk full")
	err := console.New(failing{full}, nil).Export(t.Context(), tracetest.Sample(start))
	if !errors.Is(err, full) {
		t.Errorf("err = %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
