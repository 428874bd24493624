package ariadne_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/ariadne"
	"github.com/agentcompact/compact/trace/ariadne/ariadnetest"
	"github.com/agentcompact/compact/trace/tracetest"
)

// TestMain runs the tests in a time zone far from UTC. In UTC, a test would not notice
// a time that was not converted.
func TestMain(m *testing.M) {
	time.Local = time.FixedZone("elsewhere", 5*3600+1800)
	os.Exit(m.Run())
}

var start = time.Date(2026, 11, 21, 4, 10, 0, 123_456_789, time.FixedZone("", 2*3600))

// open returns an exporter that is shut down before the server judges.
func open(t testing.TB, url string, log io.Writer) *ariadne.Exporter {
	t.Helper()
	e := ariadne.New(url, &ariadne.Options{ErrorLog: log})
	t.Cleanup(func() {
		if err := e.Shutdown(context.Background()); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
	})
	return e
}

func plain(t testing.TB, s string) redact.Text {
	t.Helper()
	r, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		t.Fatal(err)
	}
	return r.Text(s)
}

func export(t *testing.T, e trace.Exporter, events ...trace.Event) {
	t.Helper()
	if err := e.Export(t.Context(), events); err != nil {
		t.Fatalf("Export: %v", err)
	}
}

func TestExporterKeepsContract(t *testing.T) {
	t.Run("live", func(t *testing.T) {
		tracetest.Run(t, func(t testing.TB) trace.Exporter {
			srv := ariadnetest.NewServer(t)
			srv.Lenient() // the suite sends the same spans twice
			return open(t, srv.URL, io.Discard)
		})
	})
	t.Run("dead", func(t *testing.T) {
		tracetest.Run(t, func(t testing.TB) trace.Exporter {
			return open(t, tracetest.DeadURL(t), io.Discard)
		})
	})
	t.Run("slow", func(t *testing.T) {
		tracetest.Run(t, func(t testing.TB) trace.Exporter {
			srv := ariadnetest.NewServer(t)
			srv.SetMode(ariadnetest.Slow)
			return ariadne.New(srv.URL, &ariadne.Options{ErrorLog: io.Discard, Timeout: 50 * time.Millisecond})
		})
	})
}

// The server judges what arrives: the test fails if the viewer would show any
// of it wrongly.
func TestExporterSendsCallThatViewerShowsWell(t *testing.T) {
	srv := ariadnetest.NewServer(t)
	e := open(t, srv.URL, io.Discard)
	events := tracetest.Sample(start)
	export(t, e, events...)

	if got, want := len(srv.Spans("")), len(events); got != want {
		t.Fatalf("%d spans arrived, want %d", got, want)
	}
	span := srv.Spans(trace.NameTriggerDecision)[0]
	if span.Kind != trace.KindDecision || span.ParentID != events[len(events)-1].SpanID || span.Status != "ok" {
		t.Errorf("span = %+v", span)
	}
	if span.Data["session_id"] != tracetest.Session || span.Data["t_est"] != 112345.0 {
		t.Errorf("data = %v", span.Data)
	}
	if got, want := bytes.Count(srv.Bodies()[0], []byte(`"session_id":`)), len(events)+1; got != want {
		t.Errorf("session_id occurs %d times, want once in each span and in the trace", got)
	}
	tr := srv.Received()[0]
	if tr.Type != "trace" || tr.GroupID != tracetest.Session || tr.EndedAt.IsZero() {
		t.Errorf("first event = %+v, want a complete trace", tr)
	}
	if got, want := tr.Metadata["agent_name"], "session-7f3a (coding-agent)"; got != want {
		t.Errorf("label = %q, want %q", got, want)
	}
}

func TestExporterKeepsGivenLabel(t *testing.T) {
	srv := ariadnetest.NewServer(t)
	e := open(t, srv.URL, io.Discard)
	events := tracetest.Sample(start)
	events[6].Trace.Metadata = map[string]redact.Text{"agent_name": redact.Lit("the migration"), "session_id": redact.Lit("<REDACTED>")}
	export(t, e, events...)
	m := srv.Received()[0].Metadata
	if m["agent_name"] != "the migration" || m["session_id"] != "<REDACTED>" || m["agent_id"] != "<REDACTED>" {
		t.Errorf("metadata = %v", m)
	}
}

func TestExporterSendsOneEventPerPostAndTraceLast(t *testing.T) {
	srv := ariadnetest.NewServer(t)
	e := open(t, srv.URL, io.Discard)
	for _, ev := range tracetest.Sample(start) {
		export(t, e, ev) // as they finish
	}
	if c := srv.Counts(); c.Posts != 7 || c.Spans != 7 || c.Traces != 1 {
		t.Errorf("counts = %+v", c)
	}
}

func TestExporterRepeatsOpenTraceInEachBatchAndClosesIt(t *testing.T) {
	srv := ariadnetest.NewServer(t)
	e := open(t, srv.URL, io.Discard)
	info := trace.TraceInfo{Name: redact.Lit("session 7"), GroupID: redact.Lit("7"), Start: start}
	id := trace.SessionTraceID("7")
	for i := range 3 {
		events := tracetest.Sample(start.Add(time.Duration(i) * time.Minute))
		for j := range events {
			events[j].TraceID, events[j].Session, events[j].Trace = id, redact.Lit("7"), &info
		}
		export(t, e, events...)
	}
	closed := info
	closed.End = start.Add(3 * time.Minute)
	export(t, e, trace.Event{Name: trace.NameSession, Kind: trace.KindSession, TraceID: id, Session: redact.Lit("7"), Trace: &closed})

	var ended []bool
	for _, ev := range srv.Received() {
		if ev.Type == "trace" {
			ended = append(ended, !ev.EndedAt.IsZero())
		}
	}
	if want := []bool{false, false, false, true}; !slices.Equal(ended, want) {
		t.Errorf("trace events ended: %v, want %v", ended, want)
	}
}

// The clock may be set back while a session runs. The page can't draw a trace that ends before
// it begins.
func TestATraceNeverEndsBeforeItBegins(t *testing.T) {
	srv := ariadnetest.NewServer(t)
	info := trace.TraceInfo{Name: redact.Lit("session 7"), GroupID: redact.Lit("7"), Start: start, End: start.Add(-time.Hour)}
	export(t, open(t, srv.URL, io.Discard), trace.Event{Name: trace.NameSession, Kind: trace.KindSession, TraceID: trace.SessionTraceID("7"), Trace: &info})
	if tr := srv.Received()[0]; tr.EndedAt.IsZero() || tr.EndedAt.Before(tr.StartedAt) {
		t.Errorf("from %v to %v", tr.StartedAt, tr.EndedAt)
	}
}

// A batch can hold the beginning and the end of a trace. The page reads only the first
// element of a trace, so that one must be complete.
func TestATraceThatEndsInItsBatchIsSentComplete(t *testing.T) {
	srv := ariadnetest.NewServer(t)
	events := tracetest.Sample(start)
	begun := *events[len(events)-1].Trace
	begun.End = time.Time{}
	events[0].Trace = &begun
	export(t, open(t, srv.URL, io.Discard), events...)
	if tr := srv.Received()[0]; tr.Type != "trace" || tr.EndedAt.IsZero() || srv.Counts().Traces != 1 {
		t.Errorf("first element %+v, %d traces", tr, srv.Counts().Traces)
	}
}

func TestExporterSpreadsSiblingsThatStartTogether(t *testing.T) {
	srv := ariadnetest.NewServer(t)
	e := open(t, srv.URL, io.Discard)
	events := tracetest.Sample(start)
	for i := range events { // all at one time, with no duration
		events[i].Start, events[i].End = start, start
	}
	export(t, e, events...)
	first := srv.Spans(trace.NameTokenEstimate)[0]
	if want := start.UTC().Truncate(time.Millisecond); !first.StartedAt.Equal(want) {
		t.Errorf("first child starts at %v, want its own %v", first.StartedAt, want)
	}
	if got := first.Data["duration_ms"]; got != 0.0 {
		t.Errorf("duration_ms = %v, want the measured 0", got)
	}
	parent := srv.Spans(trace.NameBeforeModelCall)[0]
	if parent.EndedAt.Sub(parent.StartedAt) < 7*time.Millisecond {
		t.Errorf("parent takes %v, shorter than its six children", parent.EndedAt.Sub(parent.StartedAt))
	}
}

// A session has more calls than the exporter remembers the starts of. The latest still start apart.
func TestSiblingsStartApartAfterHundredsOfOthers(t *testing.T) {
	srv := ariadnetest.NewServer(t)
	srv.Lenient() // the spans have no trace element
	e := open(t, srv.URL, io.Discard)
	var events []trace.Event
	for i := range 300 {
		ev := tracetest.Sample(start.Add(time.Duration(i) * time.Second))[0]
		ev.ParentID = "a0a0a0a0a0a0a0a0"
		events = append(events, ev)
	}
	last := start.Add(time.Hour)
	for i := range 3 {
		events[297+i].Start, events[297+i].End = last, last
	}
	for i := range events {
		events[i].TraceID = events[0].TraceID
	}
	export(t, e, events...)
	starts := map[time.Time]bool{}
	for _, s := range srv.Spans("") {
		starts[s.StartedAt] = true
	}
	if len(starts) != len(events) {
		t.Errorf("%d spans start at %d times", len(events), len(starts))
	}
}

// The page draws a parent over all its children, also if the last one that is sent is not the
// one that ends last.
func TestParentEndsAfterItsLongestChild(t *testing.T) {
	srv := ariadnetest.NewServer(t)
	e := open(t, srv.URL, io.Discard)
	events := tracetest.Sample(start)
	for i := range events {
		events[i].Start, events[i].End = start, start.Add(time.Millisecond)
	}
	long := start.Add(90 * time.Millisecond)
	events[1].End = long
	export(t, e, events...)
	if parent := srv.Spans(trace.NameBeforeModelCall)[0]; !parent.EndedAt.After(long.Truncate(time.Millisecond)) {
		t.Errorf("the parent ends at %v, its longest child at %v", parent.EndedAt, long)
	}
	if tr := srv.Received()[0]; !tr.EndedAt.After(long.Truncate(time.Millisecond)) {
		t.Errorf("the trace ends at %v, a child at %v", tr.EndedAt, long)
	}
}

func TestExporterSplitsLargeBatches(t *testing.T) {
	srv := ariadnetest.NewServer(t)
	e := open(t, srv.URL, io.Discard)
	var events []trace.Event
	for i := range 200 {
		call := tracetest.Sample(start.Add(time.Duration(i) * time.Minute))
		call[4].Data = plain(t, `{"session_id":"s","output_text":"`+strings.Repeat("x", 5_000)+`"}`)
		events = append(events, call...)
	}
	export(t, e, events...)
	if c := srv.Counts(); c.Spans != len(events) || c.Posts < 5 {
		t.Errorf("counts = %+v, want %d spans in several posts", c, len(events))
	}
	for _, b := range srv.Bodies() {
		if len(b) > 200<<10 {
			t.Errorf("a body of %d bytes", len(b))
		}
	}
}

func TestExporterCutsLongTextsOnBoundaries(t *testing.T) {
	long := strings.Repeat("日本語😀", 50_000)
	for name, data := range map[string]string{
		"one text":      `{"session_id":"s","n":` + bigNumber + `,"others":[true,false,null],"output_text":` + quote(long) + `}`,
		"just too long": `{"session_id":"s","output_text":"` + strings.Repeat("x", 110_000) + `"}`,
		"nested":        `{"session_id":"s","deep":{"er":{"text":` + quote(long) + `}},"output_text":"x"}`,
		"in an array":   `{"session_id":"s","list":[` + quote(long) + `,` + quote(long) + `],"output_text":"x"}`,
		"many strings":  `{"session_id":"s","list":[` + strings.Repeat(`"abcdefgh",`, 100_000) + `""],"output_text":"x"}`,
		"many keys":     `{"session_id":"s",` + keys(30_000) + `"output_text":"x"}`,
		"escapes":       `{"session_id":"s","output_text":"` + strings.Repeat(`\u0001`, 100_000) + `"}`,
		"no JSON":       long,
	} {
		t.Run(name, func(t *testing.T) {
			srv := ariadnetest.NewServer(t)
			e := open(t, srv.URL, io.Discard)
			events := tracetest.Sample(start)
			events[3].Data = plain(t, data)
			export(t, e, events...)
			span := srv.Spans(trace.NameSummarize)[0]
			text, _ := span.Data["output_text"].(string)
			if text == "" || !utf8.ValidString(text) || strings.Contains(text, "\uFFFD") {
				t.Errorf("output_text = %.40q…", text)
			}
			for _, b := range srv.Bodies() {
				if len(b) > 200<<10 {
					t.Errorf("a body of %d bytes", len(b))
				}
				for _, short := range []string{bigNumber, "[true,false,null]"} {
					if strings.Contains(data, short) && !bytes.Contains(b, []byte(short)) {
						t.Errorf("%s has changed", short)
					}
				}
			}
		})
	}
}

// bigNumber has more digits than a float64 can represent.
const bigNumber = "12345678901234567890"

func quote(s string) string {
	b, _ := json.Marshal(s) // a string
	return string(b)
}

func keys(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(quote("key"+strings.Repeat("k", i%7)+string(rune('a'+i%26))+strings.Repeat("0", i%5)) + `:1,`)
	}
	return b.String()
}

// A span with any field that is too long arrives.
func TestExporterSendsSpanWithOverlongIDs(t *testing.T) {
	srv := ariadnetest.NewServer(t)
	e := open(t, srv.URL, io.Discard)
	event := tracetest.Sample(start)[0]
	event.TraceID, event.ParentID = strings.Repeat("t", 300_000), strings.Repeat("p", 300_000)
	event.Session = plain(t, strings.Repeat("s", 300_000))
	srv.Lenient() // the parent and the trace event are missing
	export(t, e, event)
	if n := len(srv.Spans(trace.NameTokenEstimate)); n != 1 {
		t.Errorf("%d spans arrived, want 1", n)
	}
}

func TestExporterSendsOddTextAsValidJSON(t *testing.T) {
	srv := ariadnetest.NewServer(t)
	e := open(t, srv.URL, io.Discard)
	events := tracetest.Sample(start)
	events[0].Data = plain(t, "{\"session_id\":\"s\",\"output_text\":\"\xff broken\"}")
	events[1].Data = plain(t, `[1,2]`)
	events[2].Data = redact.Text{}
	events[3].Data = plain(t, "{\n \"session_id\": \"s\",\n \"output_text\": \"pretty\"}")
	events[4].Status = "strange"
	events[5].Session = redact.Lit(`a"b\c` + "\n\x00")
	srv.Lenient() // events[2] has no text to show
	export(t, e, events...)
	if n := len(srv.Spans("")); n != len(events) {
		t.Fatalf("%d spans arrived, want %d", n, len(events))
	}
	for _, p := range srv.Problems() {
		if !strings.Contains(p, trace.NameArchival) {
			t.Errorf("problem: %s", p)
		}
	}
}

func TestExporterDropsEventsThatTheServerWouldRefuse(t *testing.T) {
	srv := ariadnetest.NewServer(t)
	e := open(t, srv.URL, io.Discard)
	events := tracetest.Sample(start)
	good := len(events)
	noTime, noTrace, late := tracetest.Sample(start)[0], tracetest.Sample(start)[0], tracetest.Sample(start)[0]
	noTime.Start, noTime.End = time.Time{}, time.Time{}
	noTrace.TraceID = ""
	late.End = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)
	err := e.Export(t.Context(), append(events, noTime, noTrace, late))
	var lost *trace.LostError
	if !errors.As(err, &lost) || lost.Lost != 3 {
		t.Errorf("err = %v, want 3 lost", err)
	}
	if posts := srv.Counts().Posts; posts != 1 {
		t.Errorf("%d posts, want one that the server takes", posts)
	}
	if n := srv.Counts().Spans; n != good {
		t.Errorf("%d spans arrived, want %d", n, good)
	}
}

func TestLongSessionsThatBeginAlikeHaveHeadingsOfTheirOwn(t *testing.T) {
	long := redact.Lit("projects/a-company-with-a-long-name/agents/of-the-department-of-migrations/sessions/")
	headings := map[string]bool{}
	for _, id := range []redact.Text{redact.Lit("0001"), redact.Lit("0002")} {
		srv := ariadnetest.NewServer(t)
		events := tracetest.Sample(start)
		for i := range events {
			events[i].Session = redact.Join(long, id)
		}
		events[6].Trace.Metadata = nil
		export(t, open(t, srv.URL, io.Discard), events...)
		headings[srv.Received()[0].Metadata["agent_name"]] = true
	}
	if len(headings) != 2 {
		t.Errorf("headings %v", headings)
	}
}

// The page must show a warning as a warning, though its status is the status of a
// failure.
func TestThePageShowsWarningsAsWarnings(t *testing.T) {
	server := ariadnetest.NewServer(t)
	events := tracetest.Sample(time.Now())
	warned, plain := &events[0], &events[1]
	warned.Severity = trace.SeverityWarning
	export(t, open(t, server.URL, io.Discard), events...)
	if got := server.Spans(warned.Name)[0].Data["severity"]; got != "warning" {
		t.Errorf("severity = %v", got)
	}
	if got, there := server.Spans(plain.Name)[0].Data["severity"]; there {
		t.Errorf("without a severity in the data: severity = %v", got)
	}
}
