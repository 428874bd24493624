// Package ariadne sends events to the Ariadne trace viewer: one POST of
// {"batch":[…]} to /ingest for each batch of the pipeline.
//
// The viewer keeps the first version of a span, so each span is sent once, when
// it is finished. On the wire, and only there, times are whole milliseconds,
// siblings start at least one millisecond apart and a parent ends after its
// children: the viewer can't draw them otherwise. The measured duration is in
// the data as duration_ms.
package ariadne

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/agentcompact/compact/trace"
)

// maxBody is the server's limit for the body of one POST, in bytes.
const maxBody = 262_144

// Options changes what an [Exporter] does. Nil, and zero fields, mean the
// defaults.
type Options struct {
	// Timeout is the limit for one POST, its retry included. Default and
	// maximum: 2 s.
	Timeout time.Duration
	// BodyBytes is the maximum size of one POST. Default 200 KiB; between 4 KiB
	// and the server's limit of 256 KiB.
	BodyBytes int
	// ErrorLog gets a line, "[Ariadne] …", when events could not be delivered:
	// the first time at once, then one at most every 10 s, and the remaining
	// failures at Shutdown. Nil: standard error. Use io.Discard for silence.
	ErrorLog io.Writer
	// Client sends the requests. Nil: one of its own, which follows no
	// redirects and drops idle connections before the server does.
	Client *http.Client
}

// Exporter is a [trace.Exporter] for Ariadne. Like every exporter, it is used from
// one goroutine at a time.
type Exporter struct {
	endpoint string
	err      error // set if the URL is invalid
	client   *http.Client
	timeout  time.Duration
	body     int
	log      reporter
	times    *spreader
	kept     map[string]interval // by span id: places of spans that will be offered again
	closed   bool
}

// interval is the time in which a span is drawn, in milliseconds since 1970.
type interval struct{ start, end int64 }

var (
	_ trace.Exporter = (*Exporter)(nil)
	_ trace.Named    = (*Exporter)(nil)
	_ trace.Logging  = (*Exporter)(nil)
)

// Name is "ariadne".
func (*Exporter) Name() string { return "ariadne" }

// Logs is true: see [Options].ErrorLog.
func (*Exporter) Logs() bool { return true }

// New returns an exporter to the Ariadne at a base URL such as
// "http://127.0.0.1:5175"; a URL that ends in "/ingest" works too. Nothing is
// sent yet. With a URL that [CheckURL] refuses, every Export fails.
func New(rawURL string, opts *Options) *Exporter {
	o := opts.withDefaults()
	e := &Exporter{
		client: o.Client, timeout: o.Timeout, times: newSpreader(),
		body: min(max(o.BodyBytes, 4<<10), maxBody), log: reporter{w: o.ErrorLog},
	}
	e.endpoint, e.err = endpoint(rawURL)
	return e
}

// withDefaults returns a copy with all settings set. o may be nil.
func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Timeout <= 0 || out.Timeout > 2*time.Second {
		out.Timeout = 2 * time.Second
	}
	if out.BodyBytes <= 0 {
		out.BodyBytes = 200 << 10
	}
	if out.ErrorLog == nil {
		out.ErrorLog = os.Stderr
	}
	if out.Client == nil {
		out.Client = newClient()
	}
	return out
}

// CheckURL returns an error if the base URL of an Ariadne is wrong.
func CheckURL(rawURL string) error {
	_, err := endpoint(rawURL)
	return err
}

func endpoint(rawURL string) (string, error) {
	u, err := url.Parse(rawURL)
	switch {
	case err != nil:
		return "", errors.New("not a URL") // the parser's error would repeat it, password included
	case u.Scheme != "http" && u.Scheme != "https":
		return "", errors.New("scheme must be http or https")
	case u.Host == "":
		return "", errors.New("host is missing")
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/ingest") + "/ingest"
	u.RawPath, u.RawQuery, u.Fragment = "", "", ""
	return u.String(), nil
}

func newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			MaxIdleConnsPerHost: 1,
			IdleConnTimeout:     4 * time.Second, // the server's keep-alive is 5 s
			DisableCompression:  true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Export posts the events. It finds and reports the events that the server
// refuses, and delivers the others. If no connection is made, it returns a
// [trace.RetryError] for the events that were not sent.
func (e *Exporter) Export(ctx context.Context, events []trace.Event) error {
	if e.closed {
		return trace.ErrShutdown
	}
	if len(events) == 0 {
		return nil
	}
	var t tally
	if e.err != nil {
		t.lose(len(events), fmt.Errorf("url: %w", e.err))
		e.log.report(t)
		return &trace.LostError{Lost: t.lost, Err: t.err}
	}
	items, spans := e.encode(events, &t)
	e.kept = nil
	for _, body := range pack(items, e.body) {
		if err := e.deliver(ctx, body, &t); err != nil {
			return e.later(events, spans, body[0].at, t, err)
		}
	}
	if t.err == nil {
		return nil
	}
	e.log.report(t)
	return &trace.LostError{Lost: t.lost, Err: t.err}
}

// later keeps the places of the spans from done on, which were not sent.
func (e *Exporter) later(events []trace.Event, spans []wireSpan, done int, t tally, cause error) error {
	e.kept = make(map[string]interval, len(spans)-done)
	for i := done; i < len(events); i++ {
		if check(&events[i]) != nil {
			t.lost-- // find counts it again
		} else if id := spans[i].spanID; id != "" {
			e.kept[id] = interval{spans[i].start, spans[i].end}
		}
	}
	t.wait, t.err = len(events)-done, cause
	e.log.report(t)
	return &trace.RetryError{Done: done, Lost: t.lost, Err: cause}
}

// Shutdown closes idle connections. There is nothing left to send.
func (e *Exporter) Shutdown(context.Context) error {
	if !e.closed {
		e.closed = true
		e.log.close()
		e.client.CloseIdleConnections()
	}
	return nil
}

// tally counts the failures of one Export.
type tally struct {
	lost int // events whose spans the viewer will not show
	wait int // events that were not sent
	err  error
}

// lose counts n lost events. The first cause is kept, because later causes are nearly
// always the same.
func (t *tally) lose(n int, cause error) {
	t.lost += n
	if t.err == nil {
		t.err = cause
	}
}
