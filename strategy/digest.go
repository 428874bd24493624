package strategy

import (
	"strings"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// Limits on the digest of a result in JSON.
const (
	mostDigested  = 64 << 10 // bytes; a longer result has no digest
	digestPieces  = 40
	digestScalar  = 160 // characters of one string
	digestElement = 200 // bytes; a longer list gets one piece per element
)

// A digester writes JSON as words, without punctuation and empty values. Each
// member is a piece, so that the best pieces can be chosen.
type digester struct {
	data   []byte
	pieces []digestPiece
	short  string // scalars collected for one piece
}

// A digestPiece is a part of a result.
type digestPiece struct {
	text string
	of   string // name of the list that has the part, "" if the text has the name
}

// digest returns each member of a result in JSON as words. It returns nil for other
// results. Each piece ends with pieceEnd.
func digest(result string) []digestPiece {
	text := strings.TrimSpace(result)
	if len(text) == 0 || text[0] != '{' && text[0] != '[' || len(text) > mostDigested {
		return nil
	}
	d := &digester{data: []byte(text)}
	if jsonscan.Check(d.data) != nil {
		return nil
	}
	at, err := jsonscan.Value(d.data, 0)
	if err != nil {
		return nil
	}
	d.members("", at, 0)
	d.flush()
	return d.pieces
}

// pieceEnd ends a piece of a digest.
const pieceEnd = ";"

// leastStated is the minimum length of a list for which a summary states the number of
// items.
const leastStated = 3

// listSize returns the number of elements of a result in JSON that is a list. It returns 0
// for a short list and other results.
func listSize(result string) int {
	data := []byte(strings.TrimSpace(result))
	at, err := jsonscan.Value(data, 0)
	if err != nil || len(data) == 0 || data[0] != '[' {
		return 0
	}
	n := 0
	if err := jsonscan.Array(data, at, func(int, jsonscan.Span) error { n++; return nil }); err != nil || n < leastStated {
		return 0
	}
	return n
}

// members adds a piece for each member of a value.
func (d *digester) members(key string, at jsonscan.Span, depth int) {
	raw := at.Of(d.data)
	if len(raw) == 0 || len(d.pieces) >= digestPieces {
		return
	}
	switch {
	case raw[0] == '{' && depth == 0:
		_ = jsonscan.Object(d.data, at, func(m jsonscan.Member) error {
			d.members(m.Key, m.Value, depth+1)
			return nil
		})
	case raw[0] == '[' && len(raw) > digestElement:
		_ = jsonscan.Array(d.data, at, func(i int, elem jsonscan.Span) error {
			if n := len(d.pieces); i == 0 {
				d.piece(key, elem)
			} else if d.piece("", elem); len(d.pieces) > n {
				d.pieces[len(d.pieces)-1].of = key
			}
			return nil
		})
	default:
		d.piece(key, at)
	}
}

// digestTogether is the maximum length of a piece with several short members.
const digestTogether = 180

func (d *digester) piece(key string, at jsonscan.Span) {
	text := d.words(at, 0)
	if text == "" || len(d.pieces) >= digestPieces {
		return
	}
	if raw := at.Of(d.data)[0]; raw != '{' && raw != '[' && key != "" && len(text) < digestTogether/3 {
		if text = key + ": " + text; len(d.short)+len(text) > digestTogether {
			d.flush()
		}
		if d.short != "" {
			text = d.short + ", " + text
		}
		d.short = text
		return
	}
	d.flush()
	if key != "" {
		text = key + ": " + text
	}
	d.pieces = append(d.pieces, digestPiece{text: prose.Clip(text, maxPassage) + pieceEnd})
}

// flush turns the collected short members into a piece.
func (d *digester) flush() {
	if d.short != "" {
		d.pieces = append(d.pieces, digestPiece{text: d.short + pieceEnd})
		d.short = ""
	}
}

// words returns a value on one line, "" if it is empty.
func (d *digester) words(at jsonscan.Span, depth int) string {
	raw := at.Of(d.data)
	if len(raw) == 0 || depth > maxArgDepth {
		return ""
	}
	switch raw[0] {
	case '"':
		s, _ := jsonscan.Unquote(raw)
		return prose.CutText(prose.Squash(s), digestScalar)
	case '{':
		return d.object(at, depth)
	case '[':
		return d.array(at, depth)
	case 'n':
		return ""
	}
	return string(raw)
}

func (d *digester) object(at jsonscan.Span, depth int) string {
	var parts []string
	_ = jsonscan.Object(d.data, at, func(m jsonscan.Member) error {
		text := d.words(m.Value, depth+1)
		switch raw := m.Value.Of(d.data); {
		case text == "":
		case raw[0] == '{' || raw[0] == '[':
			parts = append(parts, m.Key+": ("+text+")")
		default:
			parts = append(parts, m.Key+": "+text)
		}
		return nil
	})
	return strings.Join(parts, ", ")
}

func (d *digester) array(at jsonscan.Span, depth int) string {
	var parts []string
	_ = jsonscan.Array(d.data, at, func(_ int, elem jsonscan.Span) error {
		if text := d.words(elem, depth+1); text != "" {
			parts = append(parts, text)
		}
		return nil
	})
	return strings.Join(parts, "; ")
}
