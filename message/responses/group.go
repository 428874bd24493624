package responses

import (
	"bytes"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
)

// class is the role of an item in a group.
type class uint8

const (
	classOther     class = iota // a separate group: unknown items, and compaction items
	classInput                  // a message of anyone except the model
	classOutput                 // a tool result
	classModel                  // made by the model
	classReasoning              // made by the model, and other items follow from it
	classSummary                // our own summary: a message of the model without other items
)

// model reports whether items of the class become an assistant message.
func (c class) model() bool { return c == classModel || c == classReasoning }

// classes holds the classes of item types. Other types have the class of their
// ending: …_call is the model's, …_call_output a tool's.
var classes = map[string]class{
	"reasoning":             classReasoning,
	"function_call":         classModel,
	"custom_tool_call":      classModel,
	"mcp_list_tools":        classModel,
	"mcp_approval_request":  classModel,
	"mcp_approval_response": classOutput,
	"tool_search_output":    classModel, // the server's own, or right after its call
	"item_reference":        classModel, // the id of an item that the model made and the provider stores
	"compaction":            classOther,
}

// lasting holds the types of items that apply to all items after them, even if
// others are removed: compactions, tools, settings, and tasks from another
// agent.
var lasting = map[string]bool{"compaction": true, "additional_tools": true, "configuration_update": true, "agent_message": true}

// classOf returns the class of an item, by its type and role.
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

// bare returns the content of a JSON string, decoded only if it has escapes, and
// nothing for any other value.
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

// groups joins items to messages. Each group is a span from the start of the
// first item to the end of the last. Reasoning after another item begins a new
// message. An unknown item, or one in the form of a summary, belongs to the
// reasoning right before it.
func groups(data []byte, items []jsonscan.Element) []jsonscan.Span {
	out := make([]jsonscan.Span, 0, len(items))
	before := classOther
	for _, e := range items {
		c := classOf(data, e)
		if c == classOther && before == classReasoning && !lasting[plain(e.Type.Of(data))] {
			c = classModel
		}
		if c == classSummary && before == classReasoning {
			c = classModel // the model's own words: our texts never follow reasoning
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
