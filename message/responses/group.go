package responses

import (
	"bytes"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
)

// class says what an item is to its neighbors.
type class uint8

const (
	classOther     class = iota // stands alone: what is not known, and compaction items
	classInput                  // a message of anybody but the model
	classOutput                 // what a tool said
	classModel                  // of the model's making
	classReasoning              // likewise, and something follows from it
	classSummary                // a summary of ours: a message of the model that stands alone
)

// model reports whether items of the class become an assistant message.
func (c class) model() bool { return c == classModel || c == classReasoning }

// classes are those of the item types. Types that are not here are told by
// their endings: …_call is the model's, …_call_output a tool's.
var classes = map[string]class{
	"reasoning":             classReasoning,
	"function_call":         classModel,
	"custom_tool_call":      classModel,
	"mcp_list_tools":        classModel,
	"mcp_approval_request":  classModel,
	"mcp_approval_response": classOutput,
	"tool_search_output":    classModel, // the server's own, or right behind its call
	"item_reference":        classModel, // the id of what the model made and the provider keeps
	"compaction":            classOther,
}

// lasting are items that hold for what comes after them, whatever becomes of the
// rest: what stands for everything before it, tools, settings, and tasks that
// another agent gave.
var lasting = map[string]bool{"compaction": true, "additional_tools": true, "configuration_update": true, "agent_message": true}

// classOf tells what an item is by its type and role.
func classOf(data []byte, e jsonscan.Element) class {
	kind := bare(e.Type.Of(data))
	if string(kind) == "message" || len(kind) == 0 {
		switch string(bare(e.Role.Of(data))) {
		case "assistant":
			if isSummary(e.Of(data)) {
				return classSummary
			}
			return classModel
		case "":
			return classOther
		}
		return classInput
	}
	if c, ok := classes[string(kind)]; ok {
		return c
	}
	switch {
	case bytes.HasSuffix(kind, []byte("_call_output")):
		return classOutput
	case bytes.HasSuffix(kind, []byte("_call")):
		return classModel
	}
	return classOther
}

// bare returns what stands between the quotes of a JSON string, decoded only
// if it must be; anything else is empty.
func bare(quoted []byte) []byte {
	n := len(quoted)
	if n < 2 || quoted[0] != '"' {
		return nil
	}
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : n-1]
	}
	return []byte(plain(quoted))
}

// plain decodes a short JSON string; anything else is "".
func plain(quoted []byte) string {
	s, err := jsonscan.Unquote(quoted)
	if err != nil {
		return ""
	}
	return s
}

var summaryMark = []byte("<COMPACT-SUMMARY v")

func isSummary(item []byte) bool {
	if !bytes.Contains(item, summaryMark) {
		return false
	}
	m, err := parseGroup(item)
	if err != nil || len(m.Parts) != 1 {
		return false
	}
	_, _, ok := message.ParseSummaryText(m.Parts[0].Text)
	return ok
}

// groups joins items to messages: spans of the first item's start to the last
// one's end. Reasoning behind anything else begins a new one; what is not known,
// or has the form of a summary, belongs to the reasoning right before it.
func groups(data []byte, items []jsonscan.Element) []jsonscan.Span {
	out := make([]jsonscan.Span, 0, len(items))
	before := classOther
	for _, e := range items {
		c := classOf(data, e)
		if c == classOther && before == classReasoning && !lasting[plain(e.Type.Of(data))] {
			c = classModel
		}
		if c == classSummary && before == classReasoning {
			c = classModel // the model's own words: ours never follow reasoning
		}
		if c.model() && before.model() && (c != classReasoning || before == classReasoning) {
			out[len(out)-1].End = e.End
		} else {
			out = append(out, e.Span)
		}
		before = c
	}
	return out
}
