package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
)

// early is the body of a stream that may yet turn out to be a refusal: a
// provider that has said 200 can only say in the stream that the context is
// too long. It holds back the events that only announce an answer until the
// next one says which it is. If it is the refusal, the caller reads the stream
// of a smaller request in its place.
type early struct {
	again func(overflow) io.ReadCloser // the other stream; nil = there is none

	coding  coding
	held    []byte // what was read and not handed on
	text    []byte // what it stands for
	line    int    // where in it the line begins that is not whole
	tried   int    // up to where there is no line feed in that line
	event   event  // the lines of it that are whole
	decided bool
	err     error // what ended the reading while events were held; told after them

	mu     sync.Mutex // a body may be closed while it is read
	body   io.ReadCloser
	closed bool
}

// maxHeld is about how much of a stream is held back, in bytes. An announcement
// repeats the instructions and the tools of its request.
const maxHeld = 1 << 20

func (e *early) Read(p []byte) (int, error) {
	for !e.decided {
		e.fill()
	}
	if len(e.held) > 0 {
		n := copy(p, e.held)
		e.held = e.held[n:]
		return n, nil
	}
	e.held, e.text = nil, nil
	if e.err != nil {
		return 0, e.err
	}
	return e.current().Read(p)
}

// Close closes the stream that is being read.
func (e *early) Close() error {
	e.mu.Lock()
	e.closed = true
	body := e.body
	e.mu.Unlock()
	return body.Close()
}

func (e *early) current() io.ReadCloser {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.body
}

// fill reads once more and looks at the events that are whole.
func (e *early) fill() {
	if len(e.held) == cap(e.held) {
		e.held = append(make([]byte, 0, 2*cap(e.held)+4096), e.held...)
	}
	n, err := e.current().Read(e.held[len(e.held):cap(e.held)])
	e.held, e.err = e.held[:len(e.held)+n], err
	e.text = e.coding.plain(e.held, maxHeld)
	for !e.decided && e.next() {
	}
	e.decided = e.decided || err != nil || len(e.held) > maxHeld || e.coding != "" && e.opaque()
}

// opaque reports whether nothing can be read of what is compressed, or far too
// much.
func (e *early) opaque() bool {
	const header = 10 // of gzip, in bytes
	return len(e.text) == 0 && len(e.held) > header || len(e.text) >= maxHeld
}

// next looks at the next line, if it is whole. A stream with line ends of
// another kind is none that refuses.
func (e *early) next() bool {
	n := bytes.IndexByte(e.text[e.tried:], '\n')
	if n < 0 {
		cr := bytes.IndexByte(e.text[e.tried:], '\r')
		e.decided = cr >= 0 && e.tried+cr < len(e.text)-1
		if e.tried = len(e.text); cr >= 0 {
			e.tried-- // a line feed may follow
		}
		return false
	}
	line := e.text[e.line : e.tried+n]
	e.tried += n + 1
	e.line = e.tried
	if e.event.add(line) {
		ev := e.event
		e.event = event{}
		e.look(ev)
	}
	return true
}

// look decides, unless the event only announces.
func (e *early) look(ev event) {
	if ev.announces() {
		return
	}
	e.decided = true
	if o, ok := ev.overflow(); ok {
		if body := e.again(o); body != nil {
			e.replace(body)
		}
	}
}

// replace goes on with another stream, from its beginning.
func (e *early) replace(body io.ReadCloser) {
	e.held, e.text, e.err = nil, nil, nil
	e.mu.Lock()
	old := e.body
	e.body = body
	closed := e.closed
	e.mu.Unlock()
	_ = old.Close()
	if closed {
		_ = body.Close()
	}
}

// event is one server-sent event.
type event struct {
	name string
	data []byte
}

// add takes in a line and reports whether it ends the event.
func (ev *event) add(line []byte) (done bool) {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if len(line) == 0 {
		return true
	}
	field, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.TrimPrefix(value, []byte{' '})
	switch string(field) {
	case "event":
		ev.name = string(value)
	case "data":
		ev.data = append(ev.data, value...)
	}
	return false
}

// announces reports whether an event says nothing yet.
func (ev event) announces() bool {
	if ev.name == "" && len(ev.data) > 0 {
		var typed struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(ev.data, &typed) != nil {
			return false
		}
		ev.name = typed.Type
	}
	switch ev.name {
	case "response.created", "response.in_progress", "response.queued":
		return true
	}
	return len(ev.data) == 0 // a comment that keeps the connection open
}

func (ev event) overflow() (overflow, bool) {
	if !json.Valid(ev.data) {
		return overflow{}, false
	}
	return parseFailure(ev.data).overflow()
}

// watch lets a stream be answered anew when it begins with an overflow. Its
// length is not known any more, where it was.
func (x *exchange) watch(resp *http.Response) {
	c := x.coding(resp)
	if countable(resp) != stream || c == unknown {
		return
	}
	resp.Body = &early{body: resp.Body, coding: c, again: func(o overflow) io.ReadCloser { return x.restream(o, c) }}
	resp.ContentLength = -1
	resp.Header.Del("Content-Length")
}

// restream sends a smaller request for one whose stream began with an
// overflow. nil = the caller gets what there is.
func (x *exchange) restream(o overflow, c coding) io.ReadCloser {
	if err := x.tighten(o); err != nil {
		x.warn(x.fault(opOverflow, err))
		return nil
	}
	resp, err := x.send(x.sent, again)
	if err == nil && (countable(resp) != stream || codingOf(resp) != c) { // the caller was told which
		_ = resp.Body.Close()
		err = errors.New("the smaller request was answered with " + resp.Status + " in another form")
	}
	if err != nil {
		x.warn(x.fault(opOverflow, err))
		return nil
	}
	x.keepSent(resp)
	x.meter(resp)
	return resp.Body
}
