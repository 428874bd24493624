package anthropic

import (
	"github.com/agentcompact/compact/internal/jsonscan"
)

// Loose reports whether an item is a system message in mid-conversation with
// only a role and a content: if two of them are neighbors, the API refuses the
// second.
func (grammar) Loose(item []byte) bool {
	members, system := 0, false
	err := jsonscan.Object(item, jsonscan.Span{End: len(item)}, func(m jsonscan.Member) error {
		members++
		system = system || m.Key == "role" && string(m.Value.Of(item)) == `"system"`
		return nil
	})
	h, bad := readHead(item)
	if err != nil || bad != nil || !system || members != 2 || h.Content.End == 0 {
		return false
	}
	return item[h.Content.Start] == '"' || len(content(item)) > 0
}

// AppendJoined writes several system messages as one message. It has the unchanged
// blocks of all of them; a text becomes a block.
func (grammar) AppendJoined(dst []byte, items [][]byte) []byte {
	dst = append(dst, `{"role":"system","content":[`...)
	for i, item := range items {
		h, err := readHead(item)
		if err != nil {
			continue // Loose has already read it
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		switch blocks := content(item); {
		case len(blocks) == 0:
			dst = append(append(append(dst, `{"type":"text","text":`...), h.Content.Of(item)...), '}')
		default:
			dst = append(dst, item[blocks[0].At.Start:blocks[len(blocks)-1].At.End]...)
		}
	}
	return append(dst, "]}"...)
}
