package anthropic

import (
	"bytes"
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/jsonscan"
)

// A mark is a cache mark in a prompt: the provider caches the prompt up to the mark.
type mark struct {
	value []byte // value of cache_control, verbatim
	hour  bool   // the mark lasts an hour: such marks must come before shorter ones
}

// The marks that this package sets: a mark with the provider's default lifetime, and a
// mark for an hour.
var (
	plainMark = mark{value: []byte(`{"type":"ephemeral"}`)}
	hourMark  = mark{value: []byte(`{"type":"ephemeral","ttl":"1h"}`), hour: true}
)

func newMark(value []byte) mark {
	m := mark{value: value}
	_ = jsonscan.Object(value, jsonscan.Span{End: len(value)}, func(f jsonscan.Member) error { // value is valid JSON
		m.hour = m.hour || f.Key == "ttl" && string(f.Value.Of(value)) == `"1h"`
		return nil
	})
	return m
}

// marksOf returns the marks of a list of blocks, in order, including marks within
// results and documents.
func marksOf(content []byte) (out []mark) {
	if len(content) == 0 || content[0] != '[' || !bytes.Contains(content, markKey) {
		return nil
	}
	eachMark(content, "content", func(at jsonscan.Member) { out = append(out, newMark(at.Value.Of(content))) })
	return out
}

// eachMark calls f for each mark of the blocks in an array. It also visits the
// blocks that such a block holds in its member inner, or in the member inner of
// its source; inner "" = none.
func eachMark(raw []byte, inner string, f func(at jsonscan.Member)) {
	if len(raw) > 0 && raw[0] == '[' {
		marksWithin(raw, jsonscan.Span{End: len(raw)}, inner, f)
	}
}

func marksWithin(raw []byte, list jsonscan.Span, inner string, f func(at jsonscan.Member)) {
	_ = jsonscan.Array(raw, list, func(_ int, at jsonscan.Span) error { // valid JSON, and f returns no error
		if raw[at.Start] != '{' {
			return nil
		}
		var own []jsonscan.Member
		err := jsonscan.Object(raw, at, func(m jsonscan.Member) error {
			switch {
			case m.Key == "cache_control" && raw[m.Value.Start] == '{':
				own = append(own, m)
			case m.Key == inner && inner != "" && raw[m.Value.Start] == '[':
				marksWithin(raw, m.Value, inner, f)
			case m.Key == "source" && inner != "" && raw[m.Value.Start] == '{': // of a document that is made of blocks
				return jsonscan.Object(raw, m.Value, func(m jsonscan.Member) error {
					if m.Key == inner && raw[m.Value.Start] == '[' {
						marksWithin(raw, m.Value, inner, f)
					}
					return nil
				})
			}
			return nil
		})
		for _, m := range own {
			f(m)
		}
		return err
	})
}

// withMark returns the content of a message, or of the system prompt, with a
// mark at the last block that can carry one. A text becomes a block. It returns
// false if nothing can carry a mark, or if that block or a later one already has one.
func withMark(content []byte, m mark) ([]byte, bool) {
	switch {
	case len(content) == 0:
		return nil, false
	case content[0] == '"':
		if s, err := jsonscan.Unquote(content); err != nil || strings.TrimSpace(s) == "" {
			return nil, false
		}
		return slices.Concat([]byte(`[{"type":"text","text":`), content, []byte(`,"cache_control":`), m.value, []byte(`}]`)), true
	case content[0] != '[':
		return nil, false
	}
	b, ok := lastMarkable(content)
	switch {
	case !ok || marksBehind(content, b.at.End):
		return nil, false
	case b.marker.End == 0:
		return slices.Concat(content[:b.at.End-1], []byte(`,"cache_control":`), m.value, content[b.at.End-1:]), true
	case content[b.marker.End-1] == '}':
		return nil, false
	}
	return slices.Concat(content[:b.marker.Start], []byte(`"cache_control":`), m.value, content[b.marker.End:]), true // the mark was null
}

// lastMarkable returns the last block that can carry a mark: not thinking, not
// an empty text, and not a block of an unknown type.
func lastMarkable(content []byte) (last block, ok bool) {
	_ = jsonscan.Array(content, jsonscan.Span{End: len(content)}, func(_ int, at jsonscan.Span) error { // valid JSON
		b := block{data: content}
		if err := b.read(at); err != nil {
			return err
		}
		if b.markable() {
			last, ok = b, true
		}
		return nil
	})
	return last, ok
}

// marksBehind reports whether a block of a content from a position on has a mark. The
// caller can mark blocks that get no mark here.
func marksBehind(content []byte, from int) (found bool) {
	if bytes.Contains(content[from:], markKey) {
		eachMark(content, "content", func(at jsonscan.Member) { found = found || at.Whole.Start >= from })
	}
	return found
}

func (b *block) markable() bool {
	switch b.kind {
	case "text":
		return strings.TrimSpace(b.decoded(b.text)) != ""
	case "image", "document", "tool_use", "tool_result":
		return true
	}
	return false
}

// markedItem returns an item of the list with a mark at its end.
func markedItem(item []byte, m mark) ([]byte, bool) {
	h, err := readHead(item)
	if err != nil || h.Content.End == 0 {
		return nil, false
	}
	content, ok := withMark(h.Content.Of(item), m)
	if !ok {
		return nil, false
	}
	return slices.Concat(item[:h.Content.Start], content, item[h.Content.End:]), true
}

// itemMarks returns the marks of an item.
func itemMarks(item []byte) []mark {
	if !bytes.Contains(item, markKey) {
		return nil
	}
	h, err := readHead(item)
	if err != nil {
		return nil
	}
	return marksOf(h.Content.Of(item))
}

// withoutShort returns an item without its marks that last less than an hour.
func withoutShort(item []byte) []byte {
	h, err := readHead(item)
	if err != nil {
		return item
	}
	content := h.Content.Of(item)
	var gone []jsonscan.Span
	eachMark(content, "content", func(at jsonscan.Member) {
		if !newMark(at.Value.Of(content)).hour {
			gone = append(gone, withComma(content, at.Whole))
		}
	})
	out := append([]byte(nil), item[:h.Content.Start]...)
	from := 0
	for _, at := range gone {
		out = append(out, content[from:at.Start]...)
		from = at.End
	}
	return append(append(out, content[from:]...), item[h.Content.End:]...)
}

// withComma returns the span of a member with the comma that belongs to it. A
// block always has other members.
func withComma(data []byte, at jsonscan.Span) jsonscan.Span {
	if next := jsonscan.Space(data, at.End); next < len(data) && data[next] == ',' {
		return jsonscan.Span{Start: at.Start, End: jsonscan.Space(data, next+1)}
	}
	for i := at.Start - 1; i >= 0; i-- {
		if data[i] == ',' {
			return jsonscan.Span{Start: i, End: at.End}
		}
	}
	return at
}
