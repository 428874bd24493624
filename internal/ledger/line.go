package ledger

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/turnindex"
	"github.com/agentcompact/compact/token"
)

// A Line is a parsed line of a transcript.
type Line struct {
	Message message.Message
	Meta
}

// Meta is the metadata of a line.
type Meta struct {
	FP   string   // fingerprint of the unredacted message
	Refs []string // references of its parts
	Wire string   // "" = openai
}

// ParseLine parses a line of a transcript or of the journal.
func ParseLine(line []byte) (Line, error) {
	l := Line{Meta: MetaOf(line)}
	var err error
	l.Message, err = FormatOf(l.Wire).ParseMessage(line)
	return l, err
}

// InLine returns the text of a reference in a line of a transcript: of a part,
// or of all parts of a message.
func InLine(line []byte, ref string) (string, bool) {
	if !bytes.Contains(line, []byte(`"`+ref[:min(len(ref), 12)])) {
		return "", false
	}
	l, err := ParseLine(line)
	if err != nil {
		return "", false
	}
	for i, r := range l.Refs {
		if i < len(l.Message.Parts) && r != "" && strings.HasPrefix(r, ref[:min(len(ref), len(r))]) {
			return PartText(l.Message.Parts[i]), true
		}
	}
	if !strings.HasPrefix(l.FP, ref) {
		return "", false
	}
	return l.Text(), true
}

// Text returns the texts of all parts of the message.
func (l *Line) Text() string {
	texts := make([]string, len(l.Message.Parts))
	for i, p := range l.Message.Parts {
		texts[i] = PartText(p)
	}
	return strings.Join(texts, "\n")
}

// SlotText returns the text of the message in one slot of its turn.
func (l *Line) SlotText(slot turnindex.Slot) string {
	var texts []string
	for i := range l.Message.Parts {
		if SlotOf(l.Message.Role, &l.Message.Parts[i]) == slot {
			texts = append(texts, PartText(l.Message.Parts[i]))
		}
	}
	return strings.Join(texts, "\n")
}

// PartText returns the text of a part as a recall shows it.
func PartText(p message.Part) string {
	switch {
	case p.Kind == message.KindToolCall:
		return p.Name + " " + string(p.Args)
	case p.Kind.IsMedia() && p.Text == "":
		return mediaText(&p)
	}
	return p.Text
}

// mediaText describes an image, audio or file, and how to get it, because a recall
// returns only text.
func mediaText(p *message.Part) string {
	s := "[" + p.Kind.String()
	if m := p.Media; m != nil {
		if m.MIME != "" {
			s += ", " + m.MIME
		}
		if w, h := token.PictureSize(m); w > 0 {
			s += fmt.Sprintf(", %d by %d pixels", w, h)
		}
		if m.Name != "" {
			s += fmt.Sprintf(", %q", m.Name)
		}
		s += fmt.Sprintf(", %d bytes", m.Bytes)
	}
	return s + "; it can't be returned as text: the archive has it, see compactctl archive export]"
}

// MetaOf returns the metadata of a line; it is empty if the line has no metadata.
func MetaOf(line []byte) (m Meta) {
	whole, err := jsonscan.Value(line, 0)
	if err != nil {
		return m
	}
	_ = jsonscan.Object(line, whole, func(mem jsonscan.Member) error {
		if mem.Key != "meta" || line[mem.Value.Start] != '{' {
			return nil
		}
		return jsonscan.Object(line, mem.Value, func(in jsonscan.Member) error {
			m.set(line, in)
			return nil
		})
	})
	return m
}

func (m *Meta) set(line []byte, in jsonscan.Member) {
	switch value := in.Value.Of(line); {
	case in.Key == "fp":
		m.FP, _ = jsonscan.Unquote(value)
	case in.Key == "wire":
		m.Wire, _ = jsonscan.Unquote(value)
	case in.Key == "refs" && value[0] == '[':
		_ = jsonscan.Array(line, in.Value, func(_ int, e jsonscan.Span) error {
			r, _ := jsonscan.Unquote(e.Of(line)) // "" is not a reference
			m.Refs = append(m.Refs, r)
			return nil
		})
	}
}

// RawRefs returns the references of the parts as a turn index has them.
func (m *Meta) RawRefs() [][6]byte {
	out := make([][6]byte, len(m.Refs))
	for i, r := range m.Refs {
		q := []byte(r + "000000000000")[:12]
		for k := range out[i] {
			out[i][k] = hexByte(q[2*k])<<4 | hexByte(q[2*k+1])
		}
	}
	return out
}

func hexByte(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	}
	return 0
}
