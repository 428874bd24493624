package ariadne_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/ariadne"
	"github.com/agentcompact/compact/trace/ariadne/ariadnetest"
	"github.com/agentcompact/compact/trace/tracetest"
)

// The exporter searches a refused batch for the event that caused the refusal.
func TestExporterLosesOnlyTheEventThatIsRefused(t *testing.T) {
	srv := ariadnetest.NewServer(t)
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
	for i, span := range srv.Spans("") { // the order stays, though batches were halved
		if want := slices.Delete(slices.Clone(events), 101, 102)[i].SpanID; span.SpanID != want {
			t.Fatalf("span %d is %s, want %s", i, span.SpanID, want)
		}
	}
	if posts := srv.Counts().Posts; posts > 20 {
		t.Errorf("%d posts to find one event among %d", posts, len(events))
	}
	if got := log.String(); !strings.HasPrefix(got, "[Ariadne] 1 events not delivered") || !strings.Contains(got, "Invalid input") {
		t.Errorf("log = %q", got)
	}
}

// refuser answers 400 to requests that contain the marker, and passes on the others.
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

func TestExporterRetriesByTheKindOfFault(t *testing.T) {
	for _, c := range []struct {
		mode  ariadnetest.Mode
		posts int
	}{
		{ariadnetest.Dead, 2},        // a network error: once more
		{ariadnetest.Garbage, 2},     // the same
		{ariadnetest.Failing, 1},     // an answer is final
		{ariadnetest.Stranger, 1},    // the same
		{ariadnetest.Redirecting, 1}, // and is not followed
		{ariadnetest.Slow, 1},        // no time left for a second try
		{ariadnetest.Trickling, 1},
		{ariadnetest.Refusing, 15}, // 8 items, halved until single
		{ariadnetest.TooLarge, 15},
	} {
		t.Run(c.mode.String(), func(t *testing.T) {
			srv := ariadnetest.NewServer(t)
			srv.SetMode(c.mode)
			log := &bytes.Buffer{}
			e := ariadne.New(srv.URL, &ariadne.Options{ErrorLog: log, Timeout: 300 * time.Millisecond})
			events := tracetest.Sample(start)
			err := e.Export(t.Context(), events)
			var lost *trace.LostError
			if !errors.As(err, &lost) || lost.Lost != len(events) {
				t.Errorf("err = %v, want all %d lost", err, len(events))
			}
			if got := srv.Counts().Posts; got != c.posts {
				t.Errorf("%d posts, want %d", got, c.posts)
			}
			if strings.Count(log.String(), "\n") != 1 || !strings.HasPrefix(log.String(), "[Ariadne] 7 events not delivered: ") {
				t.Errorf("log = %q", log)
			}
			t.Logf("%s", log)
		})
	}
}

func TestExporterLogsFewLinesForManyFailures(t *testing.T) {
	log := &bytes.Buffer{}
	srv := ariadnetest.NewServer(t)
	srv.SetMode(ariadnetest.Failing)
	e := ariadne.New(srv.URL, &ariadne.Options{ErrorLog: log})
	for range 10 {
		if err := e.Export(t.Context(), tracetest.Sample(start)); err == nil {
			t.Fatal("a failing server took events")
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

func TestEventsThatNeverLeftMayBeOfferedAgain(t *testing.T) {
	log := &bytes.Buffer{}
	e := ariadne.New(tracetest.DeadURL(t), &ariadne.Options{ErrorLog: log})
	events := tracetest.Sample(start)
	events[2].TraceID = "" // which no server would take
	for range 3 {
		err := e.Export(t.Context(), events)
		var retry *trace.RetryError
		if !errors.As(err, &retry) || retry.Done != 0 || retry.Lost != 0 {
			t.Fatalf("err = %#v, want a RetryError of all events", err)
		}
	}
	if want := "[Ariadne] 7 events wait: dial tcp "; !strings.HasPrefix(log.String(), want) || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("log = %q, want one line %q…", log, want)
	}
}

// After a part of a batch has arrived, the batch is not offered again: the page would show
// that part twice.
func TestAnOutageBetweenTwoPartsOfABatch(t *testing.T) {
	srv, posts := ariadnetest.NewServer(t), 0
	client := &http.Client{Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
		switch posts++; posts {
		case 1: // the server refuses the batch as a whole
			return &http.Response{StatusCode: http.StatusBadRequest, Body: http.NoBody, Request: req}, nil
		case 2:
			return http.DefaultTransport.RoundTrip(req)
		}
		return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	})}
	events := tracetest.Sample(start)
	call := events[len(events)-1] // is in the lost part
	srv.KnowSpan(call.TraceID, call.SpanID)
	err := ariadne.New(srv.URL, &ariadne.Options{ErrorLog: io.Discard, Client: client}).Export(t.Context(), events)
	var lost *trace.LostError
	if here := len(srv.Spans("")); here == 0 || !errors.As(err, &lost) || lost.Lost != len(events)-here {
		t.Errorf("%d of %d events arrived, error %#v; want a LostError of the others", here, len(events), err)
	}
	if retry := new(trace.RetryError); errors.As(err, &retry) {
		t.Errorf("the batch is offered again: %v", err)
	}
}

// If one event of a batch can't be sent and others wait for the server, the log names the loss.
func TestALossIsLoggedThoughOtherEventsWait(t *testing.T) {
	srv, posts := ariadnetest.NewServer(t), 0
	srv.Lenient() // the end of the first call and the second call do not arrive
	client := &http.Client{Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
		if posts++; posts == 1 {
			return http.DefaultTransport.RoundTrip(req)
		}
		return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	})}
	log := &bytes.Buffer{}
	events := append(tracetest.Sample(start), tracetest.Sample(start.Add(time.Minute))...)
	events[0].TraceID = "" // which no server would take
	err := ariadne.New(srv.URL, &ariadne.Options{ErrorLog: log, Client: client, BodyBytes: 4 << 10}).Export(t.Context(), events)
	var retry *trace.RetryError
	if here := len(srv.Spans("")); !errors.As(err, &retry) || retry.Lost != 1 || retry.Done != here+1 || here == 0 {
		t.Errorf("%d spans arrived, error %#v; want a RetryError of the others, and one lost", here, err)
	}
	if !strings.HasPrefix(log.String(), "[Ariadne] 1 events not delivered") {
		t.Errorf("log = %q", log)
	}
}

// An outage must not change where the page draws a span.
func TestRetriedSpansKeepTheirPlaces(t *testing.T) {
	events := tracetest.Sample(start)
	arrived := func(outages int) [][]byte {
		srv := ariadnetest.NewServer(t)
		down := true
		client := &http.Client{Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
			if down {
				return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
			}
			return http.DefaultTransport.RoundTrip(req)
		})}
		e := ariadne.New(srv.URL, &ariadne.Options{ErrorLog: io.Discard, Client: client})
		for range outages {
			if err := e.Export(t.Context(), events); err == nil {
				t.Fatal("no server took events")
			}
		}
		down = false
		export(t, e, events...)
		return srv.Bodies()
	}
	if diff := cmp.Diff(arrived(0), arrived(5)); diff != "" {
		t.Errorf("bodies (-without an outage +after five):\n%s", diff)
	}
}

func TestExporterRecoversWithItsServer(t *testing.T) {
	srv := ariadnetest.NewServer(t)
	e := open(t, srv.URL, io.Discard)
	srv.SetMode(ariadnetest.Dead)
	if err := e.Export(t.Context(), tracetest.Sample(start)); err == nil {
		t.Fatal("a dead server took events")
	}
	srv.SetMode(ariadnetest.Live)
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

func TestExporterAcceptsOnlyAriadnesAnswer(t *testing.T) {
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
	srv := ariadnetest.NewServer(t)
	srv.SetMode(ariadnetest.Refusing)
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

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls f.
func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
