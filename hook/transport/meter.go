package transport

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"sync"
)

// counted is the kind of an answer whose usage is read.
type counted int

const (
	notCounted counted = iota
	document
	stream
)

// countable returns the kind of an answer whose usage can be read.
func countable(resp *http.Response) counted {
	if resp.StatusCode/100 != 2 || resp.Body == nil {
		return notCounted
	}
	media, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case err != nil:
	case media == "text/event-stream":
		return stream
	case media == "application/json":
		return document
	}
	return notCounted
}

// meter is the body of an answer whose usage is read while the caller reads it.
// It delays and changes nothing.
type meter struct {
	body    io.ReadCloser
	observe func(promptTokens int)
	ended   func() // called once, after observe

	mu      sync.Mutex // a body may be closed while it is read
	done    bool
	end     sync.Once
	usage   usage // usage in the document or the current event
	bill    usage // usage of the answer so far
	scanner scanner
	lines   lines
	stream  bool

	coding coding
	packed []byte // compressed bytes so far
}

// maxPacked is the size in bytes above which the usage of a compressed answer
// is not read, because the compressed bytes are kept in memory until the end.
const maxPacked = 1 << 20

// newMeter returns a body that calls observe at most once, when the answer was
// read or closed, if the answer reported the size of the prompt.
func newMeter(body io.ReadCloser, kind counted, observe func(promptTokens int)) *meter {
	m := &meter{body: body, observe: observe, ended: func() {}, stream: kind == stream}
	m.scanner.number, m.scanner.element = m.usage.add, m.add
	m.lines.data, m.lines.end = m.scanner.feed, m.settle
	return m
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.body.Read(p)
	m.look(p[:n])
	if err != nil {
		m.finish()
	}
	return n, err
}

// Close ends reading. Usage that was reported so far counts.
func (m *meter) Close() error {
	m.finish()
	return m.body.Close()
}

func (m *meter) look(p []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.done || len(p) == 0:
	case m.coding == "":
		m.feed(p)
	case len(m.packed)+len(p) > maxPacked:
		m.done, m.packed = true, nil
	default:
		m.packed = append(m.packed, p...)
	}
}

func (m *meter) feed(p []byte) {
	if m.stream {
		m.lines.feed(p)
	} else {
		m.scanner.feed(p)
	}
}

// unpack reads the usage in the compressed bytes.
func (m *meter) unpack() {
	r, err := m.coding.reader(bytes.NewReader(m.packed))
	if err != nil {
		return
	}
	buf := make([]byte, 32<<10)
	for left := maxPlain; left > 0 && err == nil; {
		var n int
		n, err = r.Read(buf)
		m.feed(buf[:n])
		left -= n
	}
}

// settle processes the end of a document or event.
func (m *meter) settle() {
	m.add()
	m.scanner.reset()
}

// add updates the usage of the answer by that of a document, an event, or an element of a list.
// After each element, because a list can be cut off.
func (m *meter) add() {
	m.bill.then(m.usage)
	m.usage = usage{}
}

// finish processes the end of the answer, if the last event is complete.
func (m *meter) finish() {
	m.mu.Lock()
	done := m.done
	m.done = true
	if !done && m.coding != "" {
		m.unpack()
		m.packed = nil
	}
	if !done && m.scanner.depth == 0 {
		m.settle()
	}
	tokens := m.bill.tokens()
	m.mu.Unlock()
	if !done && tokens > 0 {
		m.observe(tokens)
	}
	m.end.Do(m.ended)
}

// answering counts an answer that is being read, until the returned function is called.
func (t *Transport) answering() (ended func()) {
	t.answers.Add(1)
	return func() { t.answers.Add(-1) }
}

// lines splits server-sent events that arrive in pieces of any size. It buffers
// no line: it calls data for each piece of data, and end at the end of each
// event.
type lines struct {
	data func([]byte)
	end  func()

	state lineState
	at    int // number of bytes of "data:" that have been seen
}

type lineState int

const (
	lineStart lineState = iota
	lineData
	lineOther
)

const dataField = "data:"

func (l *lines) feed(p []byte) {
	for len(p) > 0 {
		if l.state == lineStart {
			l.start(p[0])
			p = p[1:]
			continue
		}
		n := bytes.IndexByte(p, '\n')
		line := p
		if n >= 0 {
			line = p[:n]
		}
		if l.state == lineData {
			l.data(line)
		}
		p = p[len(line):]
		if n >= 0 {
			p = p[1:]
			l.state, l.at = lineStart, 0
		}
	}
}

// start processes a byte at the beginning of a line.
func (l *lines) start(c byte) {
	switch {
	case c == '\n' && l.at == 0:
		l.end()
	case c == '\n':
		l.at = 0
	case c == '\r' && l.at == 0:
	case c == dataField[l.at]:
		if l.at++; l.at == len(dataField) {
			l.state = lineData
		}
	default:
		l.state = lineOther
	}
}
