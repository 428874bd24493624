package splice

import (
	"errors"

	"github.com/agentcompact/compact/message"
)

// A Block is one element of an item's content.
type Block struct {
	At     message.Span
	Result bool // the result of a tool
}

// only returns a copy of an item with only its results, or only its other
// blocks. Every byte outside of the list of blocks stays the same.
func only(item []byte, blocks []Block, results bool) []byte {
	out := make([]byte, 0, len(item))
	out = append(out, item[:blocks[0].At.Start]...)
	kept := 0
	for i, b := range blocks {
		if b.Result != results {
			continue
		}
		if kept++; kept > 1 {
			out = append(out, item[blocks[i-1].At.End:b.At.Start]...) // the comma, as the client wrote it
		}
		out = append(out, b.At.Of(item)...)
	}
	return append(out, item[blocks[len(blocks)-1].At.End:]...)
}

var errBlocks = errors.New("the message has other blocks than the one that was read")

// join returns an item with the blocks that its two messages now have.
func (l *List) join(item, results, rest []byte) ([]byte, error) {
	queue := map[bool][]Block{true: l.grammar.Blocks(results), false: l.grammar.Blocks(rest)}
	text := map[bool][]byte{true: results, false: rest}
	dst, at := make([]byte, 0, len(results)+len(rest)), 0
	for _, b := range l.grammar.Blocks(item) {
		q := queue[b.Result]
		if len(q) == 0 || q[0].Result != b.Result {
			return nil, errBlocks
		}
		queue[b.Result] = q[1:]
		dst = append(dst, item[at:b.At.Start]...)
		dst = append(dst, q[0].At.Of(text[b.Result])...)
		at = b.At.End
	}
	if len(queue[true])+len(queue[false]) > 0 {
		return nil, errBlocks
	}
	return append(dst, item[at:]...), nil
}
