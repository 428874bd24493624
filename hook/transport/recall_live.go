package transport

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
)

// live is the body of a stream in a conversation that there is nothing to
// recall of yet. It is handed on event by event as it comes, up to the first
// that begins a call; a call of our tool, which the model has no reason to make,
// is taken out of the rest, and is not answered: what came before it can't be
// taken back.
type live struct {
	body    io.ReadCloser
	dialect dialect

	raw     []byte // all that was read, at most so many bytes and a few thousand
	most    int
	ready   int // so much of it may be handed on
	looked  int // so much of it holds no end of an event that is not ready
	handed  int
	holding bool
	passing bool   // it is too much to be held: nothing is kept any more
	ended   error  // what ended the reading
	rest    []byte // in place of what was held
}

// beginsCall finds events that begin a call, on any wire.
var beginsCall = regexp.MustCompile(`"tool_calls":\s*\[\s*\{|"function_call"|"tool_use"|"functionCall"`)

// live returns the answer as a stream that is handed on as it comes, where it
// is one that need not be held.
func (x *exchange) live(resp *http.Response) bool {
	if len(x.inner) > 0 || x.res == nil || x.res.Replayed > 0 || x.res.Triggered || countable(resp) != stream || codingOf(resp) != "" {
		return false
	}
	resp.Body = &live{body: resp.Body, dialect: x.dialect, most: maxAnswer}
	resp.ContentLength = -1
	return true
}

func (l *live) Read(p []byte) (int, error) {
	for l.handed == l.ready && l.ended == nil {
		l.fill()
	}
	if l.handed < l.ready {
		n := copy(p, l.raw[l.handed:l.ready])
		l.handed += n
		return n, nil
	}
	if len(l.rest) > 0 {
		n := copy(p, l.rest)
		l.rest = l.rest[n:]
		return n, nil
	}
	return 0, l.ended
}

// Close ends the reading.
func (l *live) Close() error { return l.body.Close() }

// fill reads once more, and looks at the events that are whole. All that is
// ready was handed on before.
func (l *live) fill() {
	const step = 4096
	if l.passing {
		l.raw, l.ready, l.handed = make([]byte, 0, step), 0, 0
	}
	l.raw = append(l.raw, make([]byte, step)...)
	n, err := l.body.Read(l.raw[len(l.raw)-step:])
	l.raw = l.raw[:len(l.raw)-step+n]
	if l.passing = l.passing || len(l.raw) > l.most; l.passing {
		l.ready, l.holding = len(l.raw), false
	}
	for !l.holding && l.next() {
	}
	if err != nil {
		l.ended = err
		l.rest = l.remainder(err)
	}
}

// next takes the next event, where it is whole: it may be handed on, or holds
// the rest up.
func (l *live) next() bool {
	size := eventSize(l.raw[l.ready:], l.looked-l.ready)
	if size == 0 {
		l.looked = max(len(l.raw)-len("\r\n\r"), 0) // what ends it may have begun
		return false
	}
	if l.holding = beginsCall.Match(l.raw[l.ready : l.ready+size]); !l.holding {
		l.ready += size
	}
	return true
}

// remainder is what stands in place of what was held.
func (l *live) remainder(err error) []byte {
	if err != io.EOF || !l.holding {
		return l.raw[l.ready:]
	}
	p := split(l.raw, true)
	said, ok := l.dialect.read(p)
	if !ok || len(said.ours) == 0 {
		return l.raw[l.ready:]
	}
	l.dialect.strip(p, said)
	out, at := &pieces{}, 0
	for _, e := range p.list {
		if at >= l.ready {
			out.list = append(out.list, e)
		}
		at += e.size
	}
	return out.bytes()
}

// eventSize is the length of the first event, with what ends it; 0 = it is not
// whole. It does not end in the first so many bytes.
func eventSize(raw []byte, not int) int {
	not = min(max(not, 0), len(raw))
	size := 0
	for _, sep := range []string{"\n\n", "\r\n\r\n"} {
		if i := bytes.Index(raw[not:], []byte(sep)); i >= 0 && (size == 0 || not+i+len(sep) < size) {
			size = not + i + len(sep)
		}
	}
	return size
}
