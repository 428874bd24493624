package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message/wire"
)

// Observe changes no request and no answer: bodies are sent byte for byte. The
// view that would have been sent is computed concurrently, from a copy of the
// body; no request waits for it. Events report it ([compact.WithObserve]), and
// [OnResult] gets each result, with the view in Projected. Nothing is archived.
//
// An observation ends after ten seconds. While 64 of them, or 256 MiB of
// bodies, are in progress, further requests are not observed, which is reported
// as an error of the operation "observe". Only this package's headers,
// X-Compact-…, are removed. [Strict], [Recall] and [Counts] have no effect; the
// field meta of a message is sent, as without this package. Reasoning that
// [Recall] has marked in an earlier part of the session is sent too; if the
// provider refuses a request with such reasoning, the request is sent once more
// without it, and the caller gets that answer. If a manager has
// [compact.Config.Observe], all its transports observe.
func Observe() Option {
	return func(t *Transport) {
		if t.watch == nil {
			t.watch = &watch{}
		}
	}
}

const (
	maxLooks     = 64
	maxLookBytes = 256 << 20
	lookTimeout  = 10 * time.Second
)

var errBusy = errors.New("too many requests are being observed: this one is not observed")

// watch counts the observations in progress.
type watch struct {
	mu    sync.Mutex
	looks int
	bytes int64
}

// enter begins an observation of a body, and reports whether it is allowed.
// leave ends it.
func (w *watch) enter(bytes int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.looks >= maxLooks || w.bytes+int64(bytes) > maxLookBytes {
		return false
	}
	w.looks++
	w.bytes += int64(bytes)
	return true
}

func (w *watch) leave(bytes int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks--
	w.bytes -= int64(bytes)
}

// Settle waits until all answers that report a usage have been read or closed, and until all
// observations have ended. Observations end at most ten seconds after the last request, but an
// answer's body that is neither read to its end nor closed keeps Settle waiting until ctx is done.
// Then it returns ctx's error. Call it before the manager is closed: a usage that comes later is in
// no bill.
func (t *Transport) Settle(ctx context.Context) error {
	if t.settled() {
		return nil
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !t.settled() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

func (t *Transport) settled() bool {
	return t.answers.Load() == 0 && (t.watch == nil || t.watch.idle())
}

func (w *watch) idle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.looks == 0
}

// observe sends a request unchanged, and observes a copy of its body.
func (t *Transport) observe(req *http.Request, next roundTrip, format wire.Format) (*http.Response, error) {
	l := &look{x: exchange{t: t, req: req.Clone(context.WithoutCancel(req.Context())), next: next, format: format}}
	l.x.req.Body, l.x.req.GetBody = nil, nil
	out := stripped(req)
	if out == req {
		out = req.WithContext(req.Context())
	}
	out.Body = l.copied(req.Body, req.ContentLength)
	if again := req.GetBody; again != nil {
		out.GetBody = func() (io.ReadCloser, error) {
			body, err := again()
			if err != nil {
				return nil, err
			}
			return l.copied(body, req.ContentLength), nil
		}
	}
	resp, err := next(out)
	if err != nil {
		if unreached(err) {
			l.failed()
		}
		return resp, err
	}
	resp = l.unmarked(req, resp)
	if isUnbilled(resp.StatusCode) {
		l.failed()
	}
	l.meter(resp)
	return resp, nil
}

// look is the observation of one request.
type look struct {
	x    exchange
	once sync.Once // starts the observation once, although the body can be sent twice

	mu     sync.Mutex
	marked []byte // the body that was sent, if it can hold a boundSeal; nil = it can't
	res    *compact.Result
	billed bool
	fails  bool // the provider bills nothing
	usage  compact.Usage
	held   int
}

// copied returns a body with a callback: after the body was read to its end, it calls
// begin with a copy of its bytes.
func (l *look) copied(body io.ReadCloser, length int64) io.ReadCloser {
	return &copied{ReadCloser: body, length: length, most: l.x.t.maxBody, whole: l.begin}
}

// copied is the body of a request, which it copies while it is sent.
type copied struct {
	io.ReadCloser
	length int64 // 0, -1 = unknown
	most   int64
	whole  func(body []byte, err error)

	mu   sync.Mutex // the body can be closed during a read
	data []byte
	told bool
}

func (c *copied) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.told || n == 0 && err == nil:
	case int64(len(c.data)+n) > c.most:
		c.tell(ErrTooLarge)
	default:
		if c.data == nil && c.length > 0 {
			c.data = make([]byte, 0, c.length)
		}
		c.data = append(c.data, p[:n]...)
		if errors.Is(err, io.EOF) || c.length > 0 && int64(len(c.data)) == c.length {
			c.tell(nil)
		}
	}
	return n, err
}

// tell passes the copy on; the caller holds mu.
func (c *copied) tell(err error) {
	data := c.data
	c.told, c.data = true, nil
	c.whole(data, err)
}

// begin starts the observation of a body, concurrently with the request.
func (l *look) begin(body []byte, err error) {
	l.once.Do(func() {
		l.keepMarked(body)
		w := l.x.t.watch
		if err == nil && !w.enter(len(body)) {
			err = errBusy
		}
		if err != nil {
			l.x.warn(l.x.fault(opObserve, err))
			return
		}
		l.x.body = body
		go func() {
			defer w.leave(len(body))
			l.run()
		}()
	})
}

// run computes the view that would have been sent.
func (l *look) run() {
	ctx, cancel := context.WithTimeout(l.x.req.Context(), lookTimeout)
	defer cancel()
	l.x.req = l.x.req.WithContext(ctx)
	if err := l.x.guard(l.view); err != nil {
		l.x.warn(l.x.fault(opObserve, err))
	}
}

func (l *look) view() error {
	x := &l.x
	if err := x.unpack(); err != nil {
		return err
	}
	x.unbind()
	if err := x.parse(); err != nil {
		return err
	}
	if about := x.parsed.About(); about.ServerSide != "" {
		x.theirs(about)
		return nil
	}
	res, err := x.t.m.Preflight(x.req.Context(), x.who.session, x.parsed.Messages(), append(x.options(0), compact.WithObserve())...)
	if err != nil {
		return x.fault(opObserve, err)
	}
	x.res = res
	x.result(x.req.Context())
	x.t.voice.warn(x.req.Context(), res)
	l.mu.Lock()
	l.res = res
	billed, fails := l.billed, l.fails
	l.mu.Unlock()
	if billed {
		l.settle()
	}
	if fails {
		x.unbilled(res)
	}
	return nil
}

// failed records that the provider bills nothing for the request.
func (l *look) failed() {
	l.mu.Lock()
	l.fails = true
	res := l.res
	l.mu.Unlock()
	l.x.unbilled(res)
}

// meter reads the usage of the answer on its way to the caller.
func (l *look) meter(resp *http.Response) {
	kind := countable(resp)
	if kind == notCounted {
		return
	}
	c := codingOf(resp)
	if c == unknown {
		return
	}
	var body *meter
	body = newMeter(resp.Body, kind, func(prompt int) {
		l.mu.Lock()
		l.billed, l.usage, l.held = true, body.bill.of(prompt), body.bill.held
		known := l.res != nil
		l.mu.Unlock()
		if known {
			l.settle()
		}
	})
	body.coding, body.ended = c, l.x.t.answering()
	resp.Body = body
}

// settle reports the usage to the manager, once result and usage are both
// known.
func (l *look) settle() {
	_ = l.x.guard(func() error {
		l.x.billed(l.res, l.usage, l.held, l.x.held)
		return nil
	})
}
