package transport

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message/wire"
)

// A Transport compacts the requests of model calls and sends them on. It serves any
// number of sessions and is safe for concurrent use. One Transport is enough for a
// program, and its sessions share a cache of parsed messages.
type Transport struct {
	m        *compact.CompactManager
	base     http.RoundTripper
	strict   bool
	voice    *voice
	onResult func(context.Context, *compact.Result)
	onRecall func(context.Context, int)
	unbills  func(context.Context, *compact.Result)
	headers  []string
	maxBody  int64
	codings  map[string]func(io.Reader) (io.Reader, error) // decoders besides the built-in ones
	models   func(string) string
	routes   []route
	call     []compact.Option
	cache    *wire.Cache
	key      []byte // key for the names of unnamed sessions
	windows  windows
	limits   windows             // limits of bodies, in bytes
	rounds   *rounds             // rounds of the recall tool; nil = calls are not answered
	caches   *recent[cache, int] // sizes of named caches, in tokens
	watch    *watch              // nil = requests are compacted
	sent     *sentRequests       // last requests, to which the instruction for a summary is appended; nil = not used
	asked    atomic.Int64        // number of requests for such summaries
	answers  atomic.Int64        // answers with a usage that are being read
	marks    bool                // cache marks are added
	pause    func(context.Context, time.Duration) error
}

var _ http.RoundTripper = (*Transport)(nil)

// New returns a transport that compacts with m. If m is nil, because the error of
// compact.New was not checked, requests are sent unchanged, and the log says so.
func New(m *compact.CompactManager, opts ...Option) *Transport {
	t := &Transport{
		m: m, base: http.DefaultTransport, headers: []string{sessionHeader}, maxBody: 256 << 20,
		routes: routes(), key: processKey(), windows: newWindows(), limits: newWindows(), caches: newRecent[cache, int](maxCaches), voice: newVoice(m), pause: pause,
	}
	for _, o := range opts {
		if o != nil { // an option that the caller chose not to set
			o(t)
		}
	}
	if t.base == nil {
		t.base = http.DefaultTransport
	}
	if m.Observes() {
		Observe()(t)
	}
	t.marks = m.MarksCache()
	if m.AsksAgent() {
		t.sent = newSentRequests(maxSent)
	}
	if t.watch != nil {
		t.rounds, t.sent = nil, nil // these two would change requests or send additional ones
	}
	if t.cache == nil {
		t.cache = wire.NewCache(0)
	}
	return t
}

// Middleware returns a [Transport] in the form that option.WithMiddleware of openai-go
// and anthropic-sdk-go accepts. The SDKs call it once per attempt; later attempts
// reuse the view.
func Middleware(m *compact.CompactManager, opts ...Option) func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	return New(m, opts...).do
}

// RoundTrip sends a request, and compacts the request first if it is a model call above
// the trigger. The request is not modified. The answer is passed on as it arrives; its
// usage is read on the way.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	return t.do(req, t.base.RoundTrip)
}

// CloseIdleConnections closes the idle connections of the base.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// noManager is the error for a transport without a manager.
const noManager = "the manager is nil: check the error of compact.New"

type roundTrip = func(*http.Request) (*http.Response, error)

func (t *Transport) do(req *http.Request, next roundTrip) (*http.Response, error) {
	to, why := t.target(req)
	switch {
	case to == nil && t.m != nil && !hintsOf(req.Context()).off && compacting(req):
		return t.pass(req, t.lender(req, next), &passed{"/responses/compact", "the provider compacts the history, which is sent whole"})
	case to == nil && t.m != nil && !hintsOf(req.Context()).off && foreign(req) != nil:
		return t.pass(req, next, foreign(req))
	case to == nil && t.m != nil && !hintsOf(req.Context()).off:
		return t.lender(req, next)(stripped(req))
	case to == nil || hintsOf(req.Context()).off || to.counts && t.watch != nil:
		return next(stripped(req))
	case t.m == nil:
		return t.unmanaged(req, next)
	case why != nil:
		return t.pass(req, next, why)
	}
	if t.watch != nil {
		return t.observe(req, next, to.format)
	}
	x := &exchange{t: t, req: req, next: next, format: to.format}
	body, rest, err := t.readBody(req)
	switch {
	case err != nil:
		return nil, x.fault(opRead, err)
	case rest != nil:
		return x.huge(rest)
	}
	x.body = body
	if err := x.unpack(); err != nil {
		return x.rawly(err)
	}
	x.unbind()
	if to.counts {
		return x.count()
	}
	return x.answer()
}

// unmanaged sends a model call unchanged, because the transport has no manager. A [Strict]
// transport returns an error instead.
func (t *Transport) unmanaged(req *http.Request, next roundTrip) (*http.Response, error) {
	if !t.strict {
		t.voice.log(req.Context(), noManager, outcome(opPass), slog.String("path", req.URL.Path), slog.String("error", noManager))
		return next(stripped(req))
	}
	err := errors.New("transport: " + noManager)
	if req.Body != nil {
		err = errors.Join(err, req.Body.Close())
	}
	return nil, err
}

// huge sends a body that is too large to be read; a [Strict] transport refuses the call instead.
func (x *exchange) huge(rest io.ReadCloser) (*http.Response, error) {
	x.who = x.t.told(x.req)
	err := x.fault(opRead, ErrTooLarge)
	if x.t.strict {
		_ = rest.Close()
		return x.refuse(err), nil
	}
	x.t.voice.once(x.req.Context(), x.t.unread(x.req, x.who, &passed{}), err)
	return x.next(withRest(x.req, rest))
}

// warn reports an error.
func (x *exchange) warn(err *Error) { x.t.voice.tell(x.req.Context(), err) }

func (x *exchange) fault(op string, err error) *Error {
	if known := (*Error)(nil); errors.As(err, &known) {
		err = known.Err
		if op != opOverflow {
			op = known.Op
		}
	}
	return &Error{Op: op, Path: x.req.URL.Path, Session: x.who.session, Err: err}
}

// stripped returns the request without the headers of this package.
func stripped(req *http.Request) *http.Request {
	for name := range req.Header {
		if isOurs(name) {
			out := req.Clone(req.Context())
			strip(out.Header)
			return out
		}
	}
	return req
}

func strip(h http.Header) {
	for name := range h {
		if isOurs(name) {
			delete(h, name)
		}
	}
}

func isOurs(header string) bool {
	return len(header) >= len(ourHeaders) && strings.EqualFold(header[:len(ourHeaders)], ourHeaders)
}
