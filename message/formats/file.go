package formats

import (
	"fmt"
	"unsafe"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/elements"
	"github.com/agentcompact/compact/message/wire"
)

// A File is a conversation in a file. It is immutable and safe for concurrent use.
type File struct {
	name string
	req  wire.Request
	log  *log // nil = the file is the body itself
}

// log is a file that holds messages among other things.
type log struct {
	composer
	file  text
	list  elements.List // list of the units
	place []place       // place of each message
	made  func(dst []byte, m message.Message) []byte
}

// place is the position of a message.
type place struct {
	start int   // offset in the body; -1 = the message is in a copy of it
	units []int // in order; empty = in the head of the file, which stays
}

// Format returns the name of the file's format.
func (f *File) Format() string { return f.name }

// Wire returns the wire of the messages.
func (f *File) Wire() wire.Format { return f.req.Format() }

// Messages returns the conversation. The slice is shared and must not be
// modified.
func (f *File) Messages() []message.Message { return f.req.Messages() }

// Request returns the conversation as a request, with the other known fields and the
// rules of its wire.
func (f *File) Request() wire.Request { return f.req }

// Write returns the file with another conversation; view and sources are as in
// [wire.Request.Write]. For a view that is equal to Messages it returns the bytes
// that were read.
func (f *File) Write(view []message.Message, sources []int) ([]byte, error) {
	if f.log == nil {
		return f.req.Write(view, sources)
	}
	if err := elements.Sources(view, sources, len(f.Messages())); err != nil {
		return nil, err
	}
	w := writer{log: f.log, msgs: f.Messages(), edits: map[int][]edit{}, done: make([]bool, len(f.log.units))}
	return w.write(view, sources)
}

// newLog reads the body that a composer wrote. list is the list of the file's units, whose elements
// newLog adds; made writes a new message as a unit.
func newLog(name string, f wire.Format, c *composer, list elements.List, made func([]byte, message.Message) []byte) (*File, error) {
	l := &log{file: newText(c.data, c.body, c.pieces), made: made}
	c.data = nil // from here on the data is in memory once
	req, err := f.ParseRequest(c.body, nil)
	if err != nil {
		return nil, c.locate(err)
	}
	for _, u := range c.units {
		list.Elems = append(list.Elems, u.at)
	}
	l.composer, l.list = *c, list
	msgs := req.Messages() // not shared yet
	for i := range msgs {
		l.place = append(l.place, l.find(&msgs[i]))
	}
	for i := range msgs {
		for _, u := range l.place[i].units {
			msgs[i].Protected = msgs[i].Protected || c.protected[u]
		}
	}
	return &File{name: name, req: req, log: l}, nil
}

// find returns the place of a message, whose raw form is a part of the body.
func (c *composer) find(m *message.Message) place {
	raw := m.Raw()
	p := place{start: offset(c.body, raw)}
	if p.start < 0 {
		return p
	}
	for _, piece := range c.within(p.start, p.start+len(raw)) {
		if n := len(p.units); n == 0 || p.units[n-1] != piece.unit {
			p.units = append(p.units, piece.unit)
		}
	}
	return p
}

// offset returns the index in whole at which the slice part begins; -1 = not a part
// of whole.
func offset(whole, part []byte) int {
	if len(part) == 0 {
		return -1
	}
	at := uintptr(unsafe.Pointer(&part[0])) - uintptr(unsafe.Pointer(&whole[0]))
	if at >= uintptr(len(whole)) {
		return -1
	}
	return int(at)
}

// edit replaces a part of a unit.
type edit struct {
	at  jsonscan.Span // in the file
	new []byte
}

// edit adds the changes in the file that an edit of message s makes.
func (l *log) edit(s int, was, is *message.Message, edits map[int][]edit) error {
	if elements.Changed(was, is) || is.Wire() != was.Wire() {
		return fmt.Errorf("formats: message %d of the view is not an edited form of message %d of the file", s, s)
	}
	for i := range was.Parts {
		if was.Parts[i].Text == is.Parts[i].Text {
			continue
		}
		at, now := was.TextSpan(i), is.TextSpan(i)
		if l.place[s].start < 0 || at.End == 0 || now.End == 0 {
			return fmt.Errorf("formats: part %d of message %d is not one string in the file", i, s)
		}
		start := l.place[s].start + at.Start
		in := l.within(start, start+at.End-at.Start)
		if len(in) != 1 {
			return fmt.Errorf("formats: part %d of message %d is not one string in the file", i, s)
		}
		from := in[0].file + start - in[0].body
		edits[in[0].unit] = append(edits[in[0].unit], edit{jsonscan.Span{Start: from, End: from + at.End - at.Start}, now.Of(is.Raw())})
	}
	return nil
}
