package policy

import (
	"strings"
)

// What a program that dispatches work to other agents puts around their
// answers. A block survives masking, markers included.
const (
	dispatchBegin  = "BEGIN_DISPATCH_RESULT"
	dispatchEnd    = "END_DISPATCH_RESULT"
	blockSeparator = "\n" // between the blocks that are left
)

// dispatchBlocks finds the blocks that survive masking. One that is not ended
// runs to the end of the text.
func dispatchBlocks(text string) []Segment {
	var blocks []Segment
	for at := 0; ; {
		begin := strings.Index(text[at:], dispatchBegin)
		if begin < 0 {
			return blocks
		}
		begin += at
		at = begin + len(dispatchBegin)
		if end := strings.Index(text[at:], dispatchEnd); end >= 0 {
			at += end + len(dispatchEnd)
		} else {
			at = len(text)
		}
		blocks = append(blocks, Segment{From: begin, To: at})
	}
}

// parseDispatch recognises a text that is, as a whole, what masking leaves of
// a result with dispatch blocks.
func parseDispatch(text string) (Mark, bool) {
	if !strings.HasPrefix(text, "[dispatch") {
		return Mark{}, false
	}
	line := strings.IndexByte(text, '\n') + 1
	k, ok := parseForm(FormDispatch, builtinForms[FormDispatch], text[:line])
	if !ok || line == len(text) {
		return k, false
	}
	rest := text[line:]
	at := 0
	for i, b := range dispatchBlocks(rest) {
		if i > 0 {
			if !strings.HasPrefix(rest[at:], blockSeparator) {
				return k, false
			}
			at += len(blockSeparator)
		}
		if b.From != at {
			return k, false
		}
		at = b.To
	}
	return k, at == len(rest)
}
