package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
)

// early is the body of a stream that can still be a refusal: after status 200,
// a provider reports a too long context in the stream. early holds back events
// that only announce an answer, until the next event decides. If that event is
// an error because of the length, the caller reads the stream of a smaller
// request instead.
type early struct {
	again func(overflow) io.ReadCloser // returns the other stream; nil = there is no other stream
	fails func(failure)                // is called for a stream that begins with another error

	coding  coding
	held    []byte // bytes that were read and not passed on
	text    []byte // the decompressed body
	line    int    // start of the incomplete line in text
	tried   int    // end of the part of that line that was searched for a line feed
	event   event  // complete lines of the current event
	decided bool
	err     error // error of reading while events were held; returned after them

	mu     sync.Mutex // a body may be closed while it is read
	body   io.ReadCloser
	closed bool
}

// maxHeld limits the bytes that are held back, approximately. An announcement
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

// Close closes the current stream.
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

// fill reads once more and processes the complete events.
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

// opaque reports whether the compressed bytes can't be decompressed, or
// decompress to too many bytes.
func (e *early) opaque() bool {
	const header = 10 // size of a gzip header in bytes
	return len(e.text) == 0 && len(e.held) > header || len(e.text) >= maxHeld
}

// next processes the next line if it is complete. A stream with bare carriage
// returns is treated as an answer.
func (e *early) next() bool {
	n := bytes.IndexByte(e.text[e.tried:], '\n')
	if n < 0 {
		cr := bytes.IndexByte(e.text[e.tried:], '\r')
		e.decided = cr >= 0 && e.tried+cr < len(e.text)-1
		if e.tried = len(e.text); cr >= 0 {
			e.tried-- // a line feed can follow
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

// look determines the kind of the stream by an event, unless the event only announces
// an answer.
func (e *early) look(ev event) {
	if ev.announces() {
		return
	}
	e.decided = true
	if o, ok := ev.overflow(); ok {
		if body := e.again(o); body != nil {
			e.replace(body)
		}
	} else if ev.isError() {
		e.fails(parseFailure(ev.data))
	}
}

// replace switches to another stream, from its beginning.
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

// add adds a line, and reports whether it ends the event.
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

// announces reports whether an event only announces an answer.
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

// isError reports whether an event is an error in place of an answer.
func (ev event) isError() bool {
	var o struct {
		Type  string          `json:"type"`
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(ev.data, &o) != nil {
		return false
	}
	return o.Type == "error" || o.Type == "response.failed" || o.Type == "" && len(o.Error) > 0 && string(o.Error) != "null"
}

// watch checks whether a stream begins with an overflow, and then replaces it
// by the stream of a smaller request. The Content-Length of the answer becomes
// unknown. A stream that begins with another error counts like an answer with that
// error.
func (x *exchange) watch(resp *http.Response) {
	c := x.coding(resp)
	if countable(resp) != stream || c == unknown {
		return
	}
	resp.Body = &early{body: resp.Body, coding: c, again: func(o overflow) io.ReadCloser { return x.restream(o, c) },
		fails: func(f failure) { x.failed(f.status(), nil) }}
	resp.ContentLength = -1
	resp.Header.Del("Content-Length")
}

// restream sends a smaller request in place of a request whose stream began with an
// overflow. It returns nil if the caller must get the original stream.
func (x *exchange) restream(o overflow, c coding) io.ReadCloser {
	if err := x.tighten(o); err != nil {
		return x.unstreamed(err)
	}
	resp, err := x.send(x.sent, again)
	if err == nil {
		x.failed(resp.StatusCode, nil)
	} else {
		x.failed(0, err)
	}
	if err == nil && (countable(resp) != stream || codingOf(resp) != c) { // the caller has already seen the headers of the first answer
		_ = resp.Body.Close()
		err = errors.New("the smaller request was answered with " + resp.Status + " in another format")
	}
	if err != nil {
		return x.unstreamed(err)
	}
	x.keepSent(resp)
	x.meter(resp)
	return resp.Body
}

// unstreamed returns the caller's stream after an overflow for which no smaller
// request was sent: nil for the original stream, or a stream that fails with the
// context's error.
func (x *exchange) unstreamed(err error) io.ReadCloser {
	if err := x.unanswered(err); err != nil {
		return io.NopCloser(failed{err})
	}
	return nil
}
