package anthropic

import (
	"slices"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
)

// farBlocks is the number of blocks that must follow the end of the previous request before a mark
// is set there. It is below [wire.Lookback], because the provider may count blocks that it adds
// itself.
const farBlocks = 15

// markPrevious marks the message with which the previous request ended, if many blocks follow it.
// From a mark at the last message the provider would not look back far enough to find the prefix
// that it cached with that request: an answer with 11 calls has 22 blocks with its results.
func (s *settling) markPrevious(view []message.Message) bool {
	end := endOfPrevious(len(s.draft.Units), func(i int) bool {
		return view[s.draft.Units[i].From].Role == message.RoleAssistant
	})
	blocks := 0
	for i := end + 1; i < len(s.draft.Units); i++ {
		blocks += len(blocksOf(s.draft.Raw(i)))
	}
	return end >= 0 && blocks >= farBlocks && s.markUnit(end)
}

// endOfPrevious returns the index of the item with which the previous request ended: the
// last one before the newest answer. It returns -1 if there is no answer.
func endOfPrevious(n int, answers func(i int) bool) int {
	i := n - 1
	for ; i >= 0 && answers(i); i-- { // an assistant message at the end begins the next answer
	}
	for ; i >= 0 && !answers(i); i-- {
	}
	for ; i >= 0 && answers(i); i-- {
	}
	return i
}

// blocksOf reports, for each block of an item's content, whether the block has a mark. A
// content that is a string is one block.
func blocksOf(item []byte) (marked []bool) {
	h, err := readHead(item)
	if err != nil || h.Content.End == 0 {
		return nil
	}
	content := h.Content.Of(item)
	if content[0] != '[' {
		return []bool{false}
	}
	_ = jsonscan.Array(content, jsonscan.Span{End: len(content)}, func(_ int, at jsonscan.Span) error { // valid JSON
		marked = append(marked, len(marksOf(slices.Concat([]byte("["), at.Of(content), []byte("]")))) > 0)
		return nil
	})
	return marked
}

// Reaches is [wire.Marker.Reaches].
func (r *request) Reaches() bool {
	end := endOfPrevious(r.Items(), func(i int) bool { return r.Role(i) == string(message.RoleAssistant) })
	if end < 0 {
		return true
	}
	if blocks := blocksOf(r.Item(end)); len(blocks) > 0 && blocks[len(blocks)-1] {
		return true
	}
	after := 0
	for i := end + 1; i < r.Items(); i++ {
		for _, marked := range blocksOf(r.Item(i)) {
			if after++; marked {
				return after < wire.Lookback
			}
		}
	}
	return len(r.marks) == 0 || after < wire.Lookback // r.marks stand for a mark at the end
}
