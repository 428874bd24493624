package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// DispatchTools are the tools whose results may hold dispatch blocks, which
// survive masking: names, in any case, in which * stands for any letters. What
// another tool returns is masked with whatever stands in it: a page that can
// keep itself in the prompt by a marker would do so for the whole session.
type DispatchTools []string

// DefaultDispatchTools are the names under which tools hand work to other
// agents.
func DefaultDispatchTools() DispatchTools {
	return DispatchTools{"dispatch", "delegate", "task", "agent", "subagent", "*_agent"}
}

// Has reports whether a tool is one of them. The tool that nobody knows, "", is
// one only for "*".
func (d DispatchTools) Has(tool string) bool {
	tool = strings.ReplaceAll(strings.ToLower(tool), "/", ".") // which * would not match
	return slices.ContainsFunc(d, func(pattern string) bool {
		ok, err := path.Match(strings.ReplaceAll(strings.ToLower(pattern), "/", "."), tool)
		return ok && err == nil
	})
}

// Check reports what is no name and no pattern, as a [*ConfigError] of
// mask.dispatch_tools.
func (d DispatchTools) Check() error {
	for i, pattern := range d {
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
	return len(v.dispatch) > 0 && v.dispatch.Has(v.tools().of(i, &v.Messages[i].Parts[p]))
}

// blocks are the dispatch blocks of part p of message i that survive.
func (v *View) blocks(i, p int, text string) []Segment {
	if !strings.Contains(text, dispatchBegin) || !v.dispatches(i, p) {
		return nil
	}
	return dispatchBlocks(text)
}

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

// parseDispatch recognizes a text that is, as a whole, what masking leaves of
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
