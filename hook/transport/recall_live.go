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

// live is the body of a stream that is handed on event by event as it comes,
// except what may be a call of our tool: from there on it is held until it has
// ended. Where it calls nothing else the model is asked again, and its next
// answer goes on where this one was left.
type live struct {
	a    *asking
	d    dialect
	flow flow
	have joint // what the caller has of the answers before
	most int

	array bool // it is an array, and what is said of events is of its elements
	elems elementScan
	begun bool // the caller has the beginning of the array

	raw     []byte // all that was read of this answer, at most so many bytes and a few thousand
	scanned int    // so much of it was looked at
	looked  int    // so much of it holds no end of an event that was not looked at
	ready   int    // so much of it may be handed on
	out     []byte // what was not handed on of that
	passing bool   // it is too much to be held: nothing is kept any more
	ended   error  // what ended the reading

	cancel context.CancelFunc // of the requests that are made meanwhile
	mu     sync.Mutex         // a body may be closed while it is read
	body   io.ReadCloser
	closed bool
}

// flow is what is known of the calls of a stream by now.
type flow struct {
	names map[int]string
	bound bool // what ended last is reasoning: a call of ours may follow
	whole bool // the answer has ended
}

// call notes a part of the name of a call.
func (f *flow) call(at int, name string) {
	if f.names == nil {
		f.names = map[int]string{}
	}
	if f.names[at] != name {
		f.names[at] += name
	}
}

// ours reports whether one of the calls is of our tool, or may yet be.
func (f *flow) ours() bool {
	for _, name := range f.names {
		if strings.HasPrefix(recallTool, name) {
			return true
		}
	}
	return false
}

// tells finds events that may tell of calls, or of reasoning that has ended, on
// any wire.
var tells = regexp.MustCompile(`"tool_calls":\s*\[\s*\{|"function_call"|"tool_use"|"functionCall"|"signature_delta"|"redacted_thinking"|"reasoning"`)

// live makes an answer one that is handed on as it comes, where it is a stream.
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

// Close ends the reading, and what was asked meanwhile.
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

// fill reads once more. All that is ready was handed on before.
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

// look looks at the events that are whole, and at what ended the reading.
func (l *live) look(err error) error {
	from := l.ready
	for l.next() {
	}
	l.release(from)
	switch {
	case errors.Is(err, io.EOF):
		l.end()
	case err != nil:
		if !l.flow.ours() {
			l.out = append(l.out, l.raw[l.ready:]...)
		}
		l.ended = err
	}
	return nil
}

// next looks at the next event, where it is whole: with it all may be handed on
// that came before, or it is held.
func (l *live) next() bool {
	size := l.size()
	if size == 0 {
		return false
	}
	raw := l.raw[l.scanned : l.scanned+size]
	l.scanned += size
	if l.a.n > 0 || l.flow.bound || tells.Match(raw) {
		l.scan(raw)
	}
	if !l.flow.bound && !l.flow.ours() {
		l.ready = l.scanned
	}
	return true
}

// scan looks into an event. What led to a whole answer is remembered before the
// caller has it, and may ask the next thing.
func (l *live) scan(raw []byte) {
	o := l.piece(raw).read()
	if o == nil {
		return
	}
	was := l.flow.whole
	l.d.scan(&l.flow, o)
	if l.flow.whole && !was && !l.flow.ours() {
		if said, ok := l.d.read(l.split(l.raw[:l.scanned])); ok {
			l.a.keep(said, nil)
		}
	}
}

// release hands on what is ready.
func (l *live) release(from int) {
	if l.have.answers == 0 {
		l.out = l.raw[from:l.ready:l.ready]
		return
	}
	l.out = l.follow(l.split(l.raw[from:l.ready]))
}

// follow returns events as those of the answer that the caller has.
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

// end looks at an answer that has ended: at its calls, if what was held are ours.
func (l *live) end() {
	l.ended = io.EOF
	p := l.split(l.raw)
	if l.flow.ours() {
		if said, ok := l.d.read(p); ok && len(said.ours) > 0 {
			l.recall(p, said)
			return
		}
	}
	l.out = append(l.out, l.follow(p.from(l.ready))...)
}

// recall answers our calls, hands on what else was held, and goes on with the
// next answer if they were all.
func (l *live) recall(p *pieces, s *said) {
	more := l.a.take(s)
	l.d.strip(p, s)
	if !more {
		l.out = append(l.out, l.follow(p.from(l.ready))...)
		return
	}
	l.d.bind(p, s)
	have := l.have
	l.d.note(&have, p)
	have.answers++
	held := p.from(l.ready)
	for _, e := range held.list {
		l.d.unend(e)
		e.dropped = e.dropped || l.array && e.read() == nil
	}
	l.out = append(l.out, l.follow(held)...)
	have.sequence = max(have.sequence, l.have.sequence)
	l.have = have
	l.a.prior = l.d.merge(l.a.prior, s.shown)
	l.goOn()
}

// goOn asks the model again, and puts its answer in the place of the one that
// has ended. The caller reads in the stream what went wrong.
func (l *live) goOn() {
	resp, failed := l.a.ask()
	if failed != nil {
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
