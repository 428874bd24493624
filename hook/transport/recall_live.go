package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// live is the body of a stream that is passed on event by event, up to an event
// that can contain a recall call. From there on the answer is held until it
// ends. If the answer has no calls other than recall calls, the model is called
// again, and its next answer continues the stream.
type live struct {
	a    *asking
	d    dialect
	flow flow
	have joint // state of the earlier answers in the caller's stream
	most int

	array bool // the stream is an array; its elements are the events
	elems elementScan
	begun bool // the caller has received the beginning of the array

	raw     []byte // bytes of this answer that were read so far; the last read can go beyond the limit, most
	scanned int    // bytes of raw that were scanned
	looked  int    // bytes of raw that were searched for the end of the next event
	ready   int    // bytes of raw that may be passed on
	out     []byte // bytes that the caller reads next
	passing bool   // the answer exceeds most: it is passed on without holding anything
	ended   error  // the error that ended reading, if any

	cancel context.CancelFunc // cancels the follow-up requests
	mu     sync.Mutex         // a body may be closed while it is read
	body   io.ReadCloser
	closed bool
}

// flow holds the facts known so far about the calls in a stream.
type flow struct {
	names map[int]string
	bound bool // the last block is reasoning, so a recall call may follow
	whole bool // the answer has ended
	last  bool // the stream has ended: no event follows
}

// call records a part of the name of a call.
func (f *flow) call(at int, name string) {
	if f.names == nil {
		f.names = map[int]string{}
	}
	if had, known := f.names[at]; !known || had != name { // a call is also known if no part of its name has arrived
		f.names[at] = had + name
	}
}

// ours reports whether one of the calls is a recall call, or can still become
// one.
func (f *flow) ours() bool {
	for _, name := range f.names {
		if strings.HasPrefix(recallTool, name) {
			return true
		}
	}
	return false
}

// tells matches events that can hold a call or the end of reasoning, on any
// wire.
var tells = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"tool_calls":\s*\[\s*\{|"function_call"|"tool_use"|"functionCall"|"signature_delta"|"redacted_thinking"|"reasoning"`)
})

// live replaces the body of a streamed answer by a live one, and returns false
// for any other answer.
func (a *asking) live(resp *http.Response) bool {
	array := isArray(resp, a.x.req.URL.Path, a.x.dialect)
	if !array && countable(resp) != stream || codingOf(resp) != "" {
		return false
	}
	l := &live{a: a, d: a.x.dialect, body: resp.Body, most: maxAnswer, array: array}
	a.array = array
	a.ctx, l.cancel = context.WithCancel(a.x.req.Context())
	resp.Body = l
	resp.ContentLength = -1
	resp.Header.Del("Content-Length")
	return true
}

func (l *live) Read(p []byte) (int, error) {
	for len(l.out) == 0 && l.ended == nil {
		l.fill()
	}
	if len(l.out) > 0 {
		l.begun = true
		n := copy(p, l.out)
		l.out = l.out[n:]
		return n, nil
	}
	l.cancel()
	return 0, l.ended
}

// Close ends reading, and the follow-up requests.
func (l *live) Close() error {
	defer l.cancel()
	l.mu.Lock()
	l.closed = true
	body := l.body
	l.mu.Unlock()
	return body.Close()
}

func (l *live) current() io.ReadCloser {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.body
}

// fill reads once more, after the caller has read everything that was ready.
func (l *live) fill() {
	const step = 4096
	if l.passing {
		l.raw, l.ready = make([]byte, 0, step), 0
	}
	l.raw = append(l.raw, make([]byte, step)...)
	n, err := l.current().Read(l.raw[len(l.raw)-step:])
	l.raw = l.raw[:len(l.raw)-step+n]
	if l.passing = l.passing || len(l.raw) > l.most; l.passing {
		l.out, l.ready, l.ended = l.raw[l.ready:], len(l.raw), err
		return
	}
	if bad := l.a.x.guard(func() error { return l.look(err) }); bad != nil {
		l.out, l.ended = nil, bad
	}
}

// look processes the complete events, and the error that ended reading, if any.
func (l *live) look(err error) error {
	from := l.ready
	for l.next() {
	}
	l.release(from)
	switch {
	case errors.Is(err, io.EOF), err == nil && l.flow.last: // some servers keep the connection open
		l.end()
	case err != nil:
		switch {
		case l.flow.ours():
		case l.have.answers == 0:
			l.out = append(l.out, l.raw[l.ready:]...)
		default:
			l.out = append(l.out, l.follow(l.split(l.raw).from(l.ready))...)
		}
		l.ended = err
	}
	return nil
}

// next processes the next event if it is complete. Either everything up to the
// end of the event becomes ready, or it is held.
func (l *live) next() bool {
	size := l.size()
	if size == 0 {
		return false
	}
	raw := l.raw[l.scanned : l.scanned+size]
	l.scanned += size
	if l.a.n > 0 || l.flow.bound || tells().Match(raw) {
		l.scan(raw)
	}
	if l.flow.ours() {
		l.flow.last = l.flow.last || l.piece(raw).isLast()
	}
	if !l.flow.bound && !l.flow.ours() {
		l.ready = l.scanned
	}
	return true
}

// scan parses an event. The rounds that led to a complete answer are remembered
// before the caller receives its end and can send the next request.
func (l *live) scan(raw []byte) {
	o := l.piece(raw).read()
	if o == nil {
		return
	}
	was := l.flow.whole
	l.d.scan(&l.flow, o)
	if l.flow.whole && !was && !l.flow.ours() {
		if said, ok := l.d.read(l.split(l.raw[:l.scanned])); ok {
			l.a.link(said, nil)
			l.a.keep(said, nil)
		}
	}
}

// release passes on the bytes that are ready.
func (l *live) release(from int) {
	if l.have.answers == 0 {
		l.out = l.raw[from:l.ready:l.ready]
		return
	}
	l.out = l.follow(l.split(l.raw[from:l.ready]))
}

// follow returns the bytes of events as part of the answer that the caller
// receives.
func (l *live) follow(p *pieces) []byte {
	if l.have.answers > 0 {
		for _, e := range p.list {
			l.d.follow(&l.have, e)
		}
	}
	if l.array {
		return l.joined(p)
	}
	return p.bytes()
}

// end processes the end of an answer, and its recall calls if any.
func (l *live) end() {
	l.ended = io.EOF
	p := l.split(l.raw)
	held := p.from(l.ready)
	if l.flow.ours() {
		said, ok := l.d.read(p)
		switch {
		case ok && len(said.ours) > 0:
			l.recall(p, said)
			return
		case !ok && !l.ends(held):
			l.withoutCalls(held)
		}
	}
	l.out = append(l.out, l.follow(held)...)
}

// ends reports whether events hold the end of an answer.
func (l *live) ends(held *pieces) bool {
	f := flow{}
	for _, e := range held.list {
		if o := e.read(); o != nil {
			l.d.scan(&f, o)
		}
	}
	return f.whole
}

// withoutCalls drops the held events of an answer without an end, because the caller must
// not get a part of a recall call. An error stays.
func (l *live) withoutCalls(held *pieces) {
	for _, e := range held.list {
		e.dropped = e.dropped || e.read()["error"] == nil
	}
}

// passOn passes on held events, without the end of the answer.
func (l *live) passOn(held *pieces) {
	for _, e := range held.list {
		l.d.unend(e)
		e.dropped = e.dropped || l.array && e.read() == nil
	}
	l.out = append(l.out, l.follow(held)...)
}

// recall answers the recall calls and passes on the other held events. If there are no
// other calls, it continues with the next answer.
func (l *live) recall(p *pieces, s *said) {
	more := l.a.take(s)
	l.d.bind(p, s) // before strip, which changes positions
	l.a.forget(s)
	l.d.strip(p, s)
	if !more {
		l.out = append(l.out, l.follow(p.from(l.ready))...)
		return
	}
	have := l.have
	l.d.note(&have, p)
	have.answers++
	l.passOn(p.from(l.ready))
	have.sequence = max(have.sequence, l.have.sequence)
	l.have = have
	l.a.prior = l.d.merge(l.a.prior, s.shown)
	l.goOn()
}

// goOn calls the model again, and continues the stream with its answer. An
// error becomes an event of the stream.
func (l *live) goOn() {
	resp, failed := l.a.ask()
	if failed != nil {
		if err := l.a.x.req.Context().Err(); err != nil {
			l.ended = err // the caller has given up, which is no error of the provider
			return
		}
		l.out = append(l.out, l.failure(failed)...)
		return
	}
	l.mu.Lock()
	old := l.body
	l.body = resp.Body
	closed := l.closed
	l.mu.Unlock()
	_ = old.Close()
	if closed {
		_ = resp.Body.Close()
	}
	l.raw, l.scanned, l.looked, l.ready, l.flow, l.ended = nil, 0, 0, 0, flow{}, nil
	l.elems = elementScan{}
}
