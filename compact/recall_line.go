package compact

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/turnindex"
	"github.com/agentcompact/compact/token"
)

// archived is a parsed line of a transcript.
type archived struct {
	msg  message.Message
	fp   string   // fingerprint of the unredacted message
	refs []string // references of its parts
}

// readLine parses a line of a transcript or of the journal.
func readLine(line []byte) (archived, error) {
	a := archived{}
	about := metaOf(line)
	a.fp, a.refs = about.fp, about.refs
	var err error
	a.msg, err = formatOf(about.wire).ParseMessage(line)
	return a, err
}

// inLine returns the text of a reference in a line of a transcript: of a part,
// or of all parts of a message.
func inLine(line []byte, ref string) (string, bool) {
	if !bytes.Contains(line, []byte(`"`+ref[:min(len(ref), 12)])) {
		return "", false
	}
	a, err := readLine(line)
	if err != nil {
		return "", false
	}
	for i, r := range a.refs {
		if i < len(a.msg.Parts) && r != "" && strings.HasPrefix(r, ref[:min(len(ref), len(r))]) {
			return partText(a.msg.Parts[i]), true
		}
	}
	if !strings.HasPrefix(a.fp, ref) {
		return "", false
	}
	texts := make([]string, len(a.msg.Parts))
	for i, p := range a.msg.Parts {
		texts[i] = partText(p)
	}
	return strings.Join(texts, "\n"), true
}

// slotText returns the text of a message in one slot of its turn.
func (a *archived) slotText(slot turnindex.Slot) string {
	var texts []string
	for i := range a.msg.Parts {
		if slotOf(a.msg.Role, &a.msg.Parts[i]) == slot {
			texts = append(texts, partText(a.msg.Parts[i]))
		}
	}
	return strings.Join(texts, "\n")
}

func partText(p message.Part) string {
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

// meta is the metadata of a line.
type meta struct {
	fp   string
	refs []string
	wire string // "" = openai
}

func metaOf(line []byte) (m meta) {
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

func (m *meta) set(line []byte, in jsonscan.Member) {
	switch value := in.Value.Of(line); {
	case in.Key == "fp":
		m.fp, _ = jsonscan.Unquote(value)
	case in.Key == "wire":
		m.wire, _ = jsonscan.Unquote(value)
	case in.Key == "refs" && value[0] == '[':
		_ = jsonscan.Array(line, in.Value, func(_ int, e jsonscan.Span) error {
			r, _ := jsonscan.Unquote(e.Of(line)) // "" is no reference
			m.refs = append(m.refs, r)
			return nil
		})
	}
}
