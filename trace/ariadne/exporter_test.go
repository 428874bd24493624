package ariadne_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/ariadne"
	"github.com/agentcompact/compact/trace/tracetest"
)

// TestMain runs the tests far from Greenwich: where local time is UTC, a time
// that was not converted goes unnoticed.
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
		tracetest.TestExporter(t, func(t testing.TB) trace.Exporter {
			srv := tracetest.NewServer(t)
			srv.Lenient() // the suite sends the same spans twice
			return open(t, srv.URL, io.Discard)
		})
	})
	t.Run("dead", func(t *testing.T) {
		tracetest.TestExporter(t, func(t testing.TB) trace.Exporter {
			return open(t, tracetest.DeadURL(t), io.Discard)
		})
	})
	t.Run("slow", func(t *testing.T) {
		tracetest.TestExporter(t, func(t testing.TB) trace.Exporter {
			srv := tracetest.NewServer(t)
			srv.SetMode(tracetest.Slow)
			return ariadne.New(srv.URL, &ariadne.Options{ErrorLog: io.Discard, Timeout: 50 * time.Millisecond})
		})
	})
}

// The server judges what arrives: the test fails if the viewer would show any
// of it wrongly.
func TestExporterSendsCallThatViewerShowsWell(t *testing.T) {
	srv := tracetest.NewServer(t)
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
	tr := srv.Received()[0]
	if tr.Type != "trace" || tr.GroupID != tracetest.Session || tr.EndedAt.IsZero() {
		t.Errorf("first event = %+v, want a complete trace", tr)
	}
	if got, want := tr.Metadata["agent_name"], "session-7f3a (coding-agent)"; got != want {
		t.Errorf("label = %q, want %q", got, want)
	}
}

func TestExporterKeepsGivenLabel(t *testing.T) {
	srv := tracetest.NewServer(t)
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
	srv := tracetest.NewServer(t)
	e := open(t, srv.URL, io.Discard)
	for _, ev := range tracetest.Sample(start) {
		export(t, e, ev) // as they finish
	}
	if c := srv.Counts(); c.Posts != 7 || c.Spans != 7 || c.Traces != 1 {
		t.Errorf("counts = %+v", c)
	}
}

func TestExporterRepeatsOpenTraceInEachBatchAndClosesIt(t *testing.T) {
	srv := tracetest.NewServer(t)
	e := open(t, srv.URL, io.Discard)
	info := trace.TraceInfo{Name: redact.Lit("session 7"), GroupID: "7", Start: start}
	id := trace.SessionTraceID("7")
	for i := range 3 {
		events := tracetest.Sample(start.Add(time.Duration(i) * time.Minute))
		for j := range events {
			events[j].TraceID, events[j].Session, events[j].Trace = id, "7", &info
		}
		export(t, e, events...)
	}
	closed := info
	closed.End = start.Add(3 * time.Minute)
	export(t, e, trace.Event{Name: trace.NameSession, Kind: trace.KindSession, TraceID: id, Session: "7", Trace: &closed})

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

func TestExporterSpreadsSiblingsThatStartTogether(t *testing.T) {
	srv := tracetest.NewServer(t)
	e := open(t, srv.URL, io.Discard)
	events := tracetest.Sample(start)
	for i := range events { // all at once, and no time at all
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

func TestExporterSplitsLargeBatches(t *testing.T) {
	srv := tracetest.NewServer(t)
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
		"one text":      `{"session_id":"s","n":` + bigNumber + `,"output_text":` + quote(long) + `}`,
		"just too long": `{"session_id":"s","output_text":"` + strings.Repeat("x", 110_000) + `"}`,
		"nested":        `{"session_id":"s","deep":{"er":{"text":` + quote(long) + `}},"output_text":"x"}`,
		"in an array":   `{"session_id":"s","list":[` + quote(long) + `,` + quote(long) + `],"output_text":"x"}`,
		"many strings":  `{"session_id":"s","list":[` + strings.Repeat(`"abcdefgh",`, 100_000) + `""],"output_text":"x"}`,
		"many keys":     `{"session_id":"s",` + keys(30_000) + `"output_text":"x"}`,
		"escapes":       `{"session_id":"s","output_text":"` + strings.Repeat(`\u0001`, 100_000) + `"}`,
		"no JSON":       long,
	} {
		t.Run(name, func(t *testing.T) {
			srv := tracetest.NewServer(t)
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
				if strings.Contains(data, bigNumber) && !bytes.Contains(b, []byte(bigNumber)) {
					t.Error("a number has changed")
				}
			}
		})
	}
}

// bigNumber is more than a float64 can tell apart.
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

func TestExporterSendsOddTextAsValidJSON(t *testing.T) {
	srv := tracetest.NewServer(t)
	e := open(t, srv.URL, io.Discard)
	events := tracetest.Sample(start)
	events[0].Data = plain(t, "{\"session_id\":\"s\",\"output_text\":\"\xff broken\"}")
	events[1].Data = plain(t, `[1,2]`)
	events[2].Data = redact.Text{}
	events[3].Data = plain(t, "{\n \"session_id\": \"s\",\n \"output_text\": \"pretty\"}")
	events[4].Status = "strange"
	events[5].Session = `a"b\c` + "\n\x00"
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

func TestExporterKeepsBackWhatServerWouldRefuse(t *testing.T) {
	srv := tracetest.NewServer(t)
	e := open(t, srv.URL, io.Discard)
	events := tracetest.Sample(start)
	good := len(events)
	noTime, noTrace := tracetest.Sample(start)[0], tracetest.Sample(start)[0]
	noTime.Start, noTime.End = time.Time{}, time.Time{}
	noTrace.TraceID = ""
	err := e.Export(t.Context(), append(events, noTime, noTrace))
	var lost *trace.LostError
	if !errors.As(err, &lost) || lost.Lost != 2 {
		t.Errorf("err = %v, want 2 lost", err)
	}
	if n := srv.Counts().Spans; n != good {
		t.Errorf("%d spans arrived, want %d", n, good)
	}
}

// refuser is a server that refuses any body with a marked event in it.
func TestExporterLosesOnlyTheEventThatIsRefused(t *testing.T) {
	srv := tracetest.NewServer(t)
	client := &http.Client{Transport: refuser{marker: "poison"}}
	log := &bytes.Buffer{}
	e := ariadne.New(srv.URL, &ariadne.Options{ErrorLog: log, Client: client})
	var events []trace.Event
	for i := range 40 {
		events = append(events, tracetest.Sample(start.Add(time.Duration(i)*time.Minute))...)
	}
	events[101].Data = plain(t, `{"session_id":"s","output_text":"poison"}`)
	err := e.Export(t.Context(), events)
	var lost *trace.LostError
	if !errors.As(err, &lost) || lost.Lost != 1 {
		t.Fatalf("err = %v, want 1 lost", err)
	}
	if n := srv.Counts().Spans; n != len(events)-1 {
		t.Errorf("%d spans arrived, want %d", n, len(events)-1)
	}
	if posts := srv.Counts().Posts; posts > 20 {
		t.Errorf("%d posts to find one event among %d", posts, len(events))
	}
	if got := log.String(); !strings.HasPrefix(got, "[Ariadne] 1 events not delivered") || !strings.Contains(got, "Invalid input") {
		t.Errorf("log = %q", got)
	}
}

// refuser answers 400 in place of the server where it sees the marker.
type refuser struct{ marker string }

func (r refuser) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	if bytes.Contains(body, []byte(r.marker)) {
		return &http.Response{
			StatusCode: http.StatusBadRequest, Request: req,
			Body: io.NopCloser(strings.NewReader(`{"error":"Validation failed","details":[{"path":[],"message":"Invalid input"}]}`)),
		}, nil
	}
	req = req.Clone(req.Context())
	req.Body = io.NopCloser(bytes.NewReader(body))
	return http.DefaultTransport.RoundTrip(req)
}

func TestExporterPostsAsOftenAsServersFaultDeserves(t *testing.T) {
	for _, c := range []struct {
		mode  tracetest.Mode
		posts int
	}{
		{tracetest.Dead, 2},        // a network error: once more
		{tracetest.Garbage, 2},     // the same
		{tracetest.Failing, 1},     // an answer stands
		{tracetest.Stranger, 1},    // the same
		{tracetest.Redirecting, 1}, // and is not followed
		{tracetest.Slow, 1},        // no time left for a second try
		{tracetest.Trickling, 1},
		{tracetest.Refusing, 15}, // 8 items, halved until single
		{tracetest.TooLarge, 15},
	} {
		t.Run(c.mode.String(), func(t *testing.T) {
			srv := tracetest.NewServer(t)
			srv.SetMode(c.mode)
			log := &bytes.Buffer{}
			e := ariadne.New(srv.URL, &ariadne.Options{ErrorLog: log, Timeout: 300 * time.Millisecond})
			began := time.Now()
			events := tracetest.Sample(start)
			err := e.Export(t.Context(), events)
			var lost *trace.LostError
			if !errors.As(err, &lost) || lost.Lost != len(events) {
				t.Errorf("err = %v, want all %d lost", err, len(events))
			}
			if got := srv.Counts().Posts; got != c.posts {
				t.Errorf("%d posts, want %d", got, c.posts)
			}
			if d := time.Since(began); d > 2*time.Second {
				t.Errorf("took %v", d)
			}
			if strings.Count(log.String(), "\n") != 1 || !strings.HasPrefix(log.String(), "[Ariadne] 7 events not delivered: ") {
				t.Errorf("log = %q", log)
			}
			t.Logf("%s", log)
		})
	}
}

func TestExporterSaysLittleAboutManyFailures(t *testing.T) {
	log := &bytes.Buffer{}
	e := ariadne.New(tracetest.DeadURL(t), &ariadne.Options{ErrorLog: log})
	for range 10 {
		if err := e.Export(t.Context(), tracetest.Sample(start)); err == nil {
			t.Fatal("a dead server took events")
		}
	}
	if got := strings.Count(log.String(), "\n"); got != 1 {
		t.Errorf("%d lines for ten failures in a row:\n%s", got, log)
	}
	if err := e.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "[Ariadne] 63 events not delivered") {
		t.Errorf("the rest was not reported at Shutdown:\n%s", log)
	}
}

func TestExporterComesBackWithItsServer(t *testing.T) {
	srv := tracetest.NewServer(t)
	e := open(t, srv.URL, io.Discard)
	srv.SetMode(tracetest.Dead)
	if err := e.Export(t.Context(), tracetest.Sample(start)); err == nil {
		t.Fatal("a dead server took events")
	}
	srv.SetMode(tracetest.Live)
	export(t, e, tracetest.Sample(start.Add(time.Hour))...)
}

func TestCheckURLNamesTheFaultAndNoPassword(t *testing.T) {
	for url, want := range map[string]string{
		"http://127.0.0.1:5175":         "",
		"https://h/base/":               "",
		"http://h/ingest":               "",
		"127.0.0.1:5175":                "not a URL",
		"ftp://h":                       "scheme must be http or https",
		"http://":                       "host is missing",
		"http://u:sesame@h:port/":       "not a URL",
		"http://u:sesame@h/\x7f":        "not a URL",
		"http://127.0.0.1:5175/ingest/": "",
	} {
		got := ""
		if err := ariadne.CheckURL(url); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("CheckURL(%q) = %q, want %q", url, got, want)
		}
	}
	err := ariadne.New("ftp://u:sesame@h", &ariadne.Options{ErrorLog: io.Discard}).Export(t.Context(), tracetest.Sample(start))
	if err == nil || strings.Contains(err.Error(), "sesame") {
		t.Errorf("err = %v", err)
	}
}

func TestExporterNeverPrintsCredentialsOfURL(t *testing.T) {
	for _, user := range []string{"u:sesame", "sesame"} {
		log := &bytes.Buffer{}
		url := strings.Replace(tracetest.DeadURL(t), "http://", "http://"+user+"@", 1)
		err := ariadne.New(url, &ariadne.Options{ErrorLog: log}).Export(t.Context(), tracetest.Sample(start))
		if err == nil || strings.Contains(err.Error()+log.String(), "sesame") {
			t.Errorf("err = %v, log = %s", err, log)
		}
	}
}

// canned is a server whose answer is always the same.
type canned string

func (c canned) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Request: req, Body: io.NopCloser(strings.NewReader(string(c)))}, nil
}

func TestExporterBelievesOnlyAriadnesAnswer(t *testing.T) {
	for answer, ok := range map[string]bool{
		`{"success":true,"count":8}`:  true, // 7 spans and their trace
		`{"success":true,"count":7}`:  false,
		`{"success":false,"count":8}`: false,
		`{"count":8}`:                 false,
		`{"success":true,"count":8`:   false,
		``:                            false,
	} {
		e := ariadne.New("http://h", &ariadne.Options{ErrorLog: io.Discard, Client: &http.Client{Transport: canned(answer)}})
		if err := e.Export(t.Context(), tracetest.Sample(start)); (err == nil) != ok {
			t.Errorf("answer %s: err = %v", answer, err)
		}
	}
}

func TestExporterGivesUpOnServerThatRefusesEverything(t *testing.T) {
	srv := tracetest.NewServer(t)
	srv.SetMode(tracetest.Refusing)
	e := open(t, srv.URL, io.Discard)
	var events []trace.Event
	for range 100 {
		events = append(events, tracetest.Sample(start)...)
	}
	var lost *trace.LostError
	if err := e.Export(t.Context(), events); !errors.As(err, &lost) || lost.Lost != len(events) {
		t.Errorf("err = %v, want all %d lost", err, len(events))
	}
	if got := srv.Counts().Posts; got > 3*256 {
		t.Errorf("%d posts", got)
	}
}
