package serve

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/trace/metrics"
)

// A Config configures a handler. With the zero value, it forwards to the providers'
// own servers.
type Config struct {
	// Upstreams holds base URLs by provider. "openai", "anthropic" and "gemini"
	// replace the providers' own; any other name adds an upstream, with the name
	// as the first part of its paths. A version at the end of a URL (/v1) is not
	// doubled.
	Upstreams map[string]string

	Observe   bool // every byte is sent unchanged; events describe the compactions that would have been made
	Strict    bool // a call that can't be compacted is refused and not sent unchanged
	NoRecall  bool // the model is not given the recall tool, see transport.Recall
	CountFull bool // requests for a token count get the size of the history, not of the view

	MaxCalls int   // requests at once; above, the answer is 503; 0 = 1,000
	MaxBody  int64 // bytes above which the body of a model call is sent unread; 0 = 256 MiB

	// Stall limits the time in which a client sends the next bytes of its
	// request, or receives the next bytes of its answer; 0 = 2 minutes.
	// BodyTimeout limits the time for a whole request; 0 = 10 minutes.
	Stall, BodyTimeout time.Duration

	// Notice is the time for which Serve still takes requests after its context
	// has ended, while /readyz answers that it drains. A load balancer that polls
	// /readyz can thus redirect requests before connections are refused. 0 = no
	// time.
	Notice time.Duration

	// Token is the token that requests must carry in the header X-Compact-Token or, on
	// the handler's own paths, as a bearer token or as the password of basic
	// authentication; /healthz, /readyz and /openapi.json need none. "" = no request
	// needs a token.
	Token string

	// Metrics holds counters of conversations, which /metrics shows beside the handler's
	// own. The manager must have an exporter of them. Nil = none.
	Metrics *metrics.Metrics

	Base      http.RoundTripper  // sends the requests; nil = a transport that adds no compression
	Logger    *slog.Logger       // nil = slog.Default()
	Transport []transport.Option // further options of the transport
}

const (
	defaultCalls       = 1000
	defaultStall       = 2 * time.Minute
	defaultBodyTimeout = 10 * time.Minute
	silence            = 30 * time.Second // of a provider's HTTP/2 connection, before it must answer a ping
)

// A Handler is the proxy. It is safe for concurrent use.
type Handler struct {
	m         *compact.CompactManager
	cfg       Config
	log       *slog.Logger
	upstreams upstreams
	transport *transport.Transport
	proxy     *httputil.ReverseProxy
	counters  *counters
	bill      bill
	live      *live
	draining  atomic.Bool
	began     time.Time
	now       func() time.Time
}

var _ http.Handler = (*Handler)(nil)

// New returns a handler that compacts with m. The caller closes m. An error names the
// wrong setting.
func New(m *compact.CompactManager, c Config) (*Handler, error) {
	if m == nil {
		return nil, errors.New("serve: no manager")
	}
	up, err := parseUpstreams(c.Upstreams)
	if err != nil {
		return nil, err
	}
	c.MaxCalls, c.Stall, c.BodyTimeout = cmp.Or(c.MaxCalls, defaultCalls), cmp.Or(c.Stall, defaultStall), cmp.Or(c.BodyTimeout, defaultBodyTimeout)
	h := &Handler{m: m, cfg: c, log: c.Logger, upstreams: up, counters: newCounters(), now: time.Now}
	h.began = h.now()
	h.live = newLive(m.Redact, h.began)
	if h.log == nil {
		h.log = slog.Default()
	}
	if c.Base == nil {
		c.Base = newBase()
	}
	h.transport = transport.New(m, h.options(c)...)
	h.proxy = &httputil.ReverseProxy{
		Rewrite:       rewrite,
		Transport:     h.transport,
		FlushInterval: -1, // at once
		ErrorHandler:  h.failed,
		ErrorLog:      slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug), // failed reports its errors
		BufferPool:    newBuffers(),
	}
	return h, nil
}

// options returns the options of the transport.
func (h *Handler) options(c Config) []transport.Option {
	opts := []transport.Option{
		transport.Base(&countingTransport{base: c.Base, h: h}), transport.Logger(h.log),
		transport.Coding("zstd", unzstd), transport.OnError(h.wrong), transport.OnResult(h.result), transport.OnUnbilled(h.unbilled), transport.OnRecall(h.counters.recalled),
	}
	if !c.NoRecall {
		opts = append(opts, transport.Recall())
	}
	if c.MaxBody > 0 {
		opts = append(opts, transport.MaxBody(c.MaxBody))
	}
	if !c.CountFull {
		opts = append(opts, transport.Counts())
	}
	if c.Strict {
		opts = append(opts, transport.Strict())
	}
	if c.Observe {
		opts = append(opts, transport.Observe())
	}
	return append(opts, c.Transport...)
}

// result counts a request whose prompt was compared with the budget.
func (h *Handler) result(_ context.Context, res *compact.Result) {
	of := res
	if res.Projected != nil {
		of = res.Projected
	}
	h.live.result(h.now(), of)
	h.bill.add(of.Bill, of != res)
	h.counters.result(of)
}

// unbilled takes a request for which the provider bills nothing out of the sums of tokens
// and money.
func (h *Handler) unbilled(_ context.Context, res *compact.Result) {
	of := res
	if res.Projected != nil {
		of = res.Projected
	}
	h.live.unbilled(of)
	h.bill.take(of.Bill, of != res)
	h.counters.unbilled(of)
}

// wrong counts an error of the transport.
func (h *Handler) wrong(ctx context.Context, err error) {
	h.counters.wrong(ctx, err)
	h.live.wrong(h.now(), err)
}

// newBase returns a transport that does not change requests and answers. It pings a silent
// HTTP/2 connection. All requests to a provider share one connection, and without pings
// they would wait a quarter of an hour after the network has changed or the machine has
// slept.
func newBase() *http.Transport {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment}
	if d, ok := http.DefaultTransport.(*http.Transport); ok {
		t = d.Clone()
	}
	t.DisableCompression = true
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, 256
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: silence, PingTimeout: silence / 2}
	return t
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if own := h.own(r); own != nil {
		h.cfg.bound(w, r)
		own(w, r)
		return
	}
	c, status, why := h.admit(r)
	if why != "" {
		h.cfg.bound(w, r)
		h.counters.refused(status)
		refuse(w, r.URL.Path, status, why)
		return
	}
	defer h.leave(c)
	c.w = newPatient(w, r, h.cfg)
	defer c.w.end()
	r = r.WithContext(context.WithValue(r.Context(), callKey{}, c))
	r.Body = c.w.body(r.Body)
	if len(r.Trailer) > 0 {
		dropOurs(r.Header) // otherwise a later step copies the request, and its trailers with it
	}
	defer h.broke()
	h.proxy.ServeHTTP(c.w, r)
}

// broke counts an answer that broke off.
func (h *Handler) broke() {
	if v := recover(); v != nil {
		h.counters.ended("broke_off")
		panic(v)
	}
}

// admit finds the upstream of a request. If it refuses the request, why is the
// reason.
func (h *Handler) admit(r *http.Request) (c *call, status int, why string) {
	if !h.allowed(r, false) {
		return nil, http.StatusUnauthorized, "this proxy requires its token in the header X-Compact-Token"
	}
	to, status, why := h.upstreams.find(r)
	if why != "" {
		return nil, status, why
	}
	if fallsBack(r) && !h.cfg.Observe && !h.m.Observes() {
		return nil, http.StatusUpgradeRequired, "messages on a WebSocket can't be compacted; call over HTTP"
	}
	if !h.counters.enter(h.cfg.MaxCalls) {
		return nil, http.StatusServiceUnavailable, "too many requests at once; try again"
	}
	return &call{upstream: to, began: h.now()}, 0, ""
}

// leave ends a request.
func (h *Handler) leave(c *call) {
	h.counters.leave(c.upstream.name, c.w.status)
	if h.log.Enabled(context.Background(), slog.LevelDebug) {
		h.log.Debug("compact: a request", "provider", c.upstream.name, "path", h.m.Redact(c.upstream.rest), "status", c.w.status, "took", h.now().Sub(c.began))
	}
}

// call is a request in flight.
type call struct {
	upstream target
	began    time.Time
	sent     sync.Once // each round of recall sends the request again
	w        *patientExchange
}

type callKey struct{}

func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}
