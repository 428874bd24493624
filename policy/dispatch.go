package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// dispatchTools are the names of tools that may return dispatch blocks, which survive
// masking. Case is ignored, and * stands for any characters.
// Blocks in results of other tools are masked: otherwise a web page that contains
// the marker could stay in the prompt for the whole session.
type dispatchTools []string

// has reports whether tool matches one of the names. The unknown tool, "",
// matches only "*".
func (d dispatchTools) has(tool string) bool {
	tool = strings.ReplaceAll(strings.ToLower(tool), "/", ".") // path.Match does not match "/" with *
	return slices.ContainsFunc(d, func(pattern string) bool {
		ok, err := path.Match(strings.ReplaceAll(strings.ToLower(pattern), "/", "."), tool)
		return ok && err == nil
	})
}

// CheckDispatchTools reports an entry of DispatchTools that is neither a name nor a
// pattern, as a [*ConfigError] of mask.dispatch_tools.
func (c *MaskConfig) CheckDispatchTools() error {
	for i, pattern := range c.DispatchTools {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" || strings.TrimSpace(pattern) != pattern {
			return &ConfigError{Path: fmt.Sprintf("mask.dispatch_tools[%d]", i), Value: pattern,
				Reason: "must be the name of a tool, in which * may stand for any letters", Err: err}
		}
	}
	return nil
}

// dispatches reports whether part p of message i is the result of a tool whose
// dispatch blocks survive.
func (v *View) dispatches(i, p int) bool {
	return dispatchTools(v.run.Dispatch).has(v.tools().Name(i, &v.Messages[i].Parts[p]))
}

// blocks returns the dispatch blocks of part p of message i that survive
// masking.
func (v *View) blocks(i, p int, text string) []Segment {
	if !strings.Contains(text, dispatchBegin) || !v.dispatches(i, p) {
		return nil
	}
	return dispatchBlocks(text)
}

// The markers that dispatching programs put around the answers of other agents.
// A block survives masking together with its markers.
const (
	dispatchBegin  = "BEGIN_DISPATCH_RESULT"
	dispatchEnd    = "END_DISPATCH_RESULT"
	blockSeparator = "\n" // between the remaining blocks
)

// dispatchBlocks finds the blocks that a mask keeps. A block without an end
// marker extends to the end of the text.
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

// parseDispatch recognizes the whole text of a masked result with dispatch blocks: the
// placeholder and the blocks.
func parseDispatch(text string) (Mark, bool) {
	if !strings.HasPrefix(text, "[dispatch") {
		return Mark{}, false
	}
	line := strings.IndexByte(text, '\n') + 1
	k, ok := parseForm(formDispatch, builtinForms[formDispatch], text[:line])
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
