package formats

import (
	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/gemini"
)

// The session of Gemini CLI is one document with a list "messages", with
// elements of the types user and gemini. The model's text, its calls and their
// results are one element. Thoughts are not sent again and are not part of a
// message.

func isGeminiCLI(s *source) bool {
	return s.doc.by != nil && s.doc.is("messages", '[') && s.doc.has("sessionId") && s.doc.has("projectHash")
}

func readGeminiCLI(s *source) (*File, error) {
	s.elements(s.doc.by["messages"])
	c := s.composer()
	c.text(`{"contents":[`)
	for i, o := range s.at {
		switch o.text("type") {
		case "user":
			c.item(i)
			c.text(`{"role":"user","parts":[`)
			c.content(i, o)
			c.text("]}")
		case "gemini":
			c.geminiTurn(i, o)
		}
	}
	c.text("]}")
	return newLog("gemini-cli", gemini.Wire, c, s.list, madeIn(madeGeminiCLI))
}

// content writes the content of an element as parts: from a text, or from
// existing parts.
func (c *composer) content(unit int, o object) bool {
	at := o.by["content"]
	switch {
	case o.is("content", '"') && at.End-at.Start > 2:
		c.text(`{"text":`)
		c.copy(unit, at)
		c.text("}")
		return true
	case o.is("content", '['):
		parts := o.list("content")
		for k, p := range parts {
			if k > 0 {
				c.text(",")
			}
			if c.data[p.Start] == '"' {
				c.text(`{"text":`)
				c.copy(unit, p)
				c.text("}")
			} else {
				c.copy(unit, p)
			}
		}
		return len(parts) > 0
	}
	return false
}

// geminiTurn writes the text and the calls of the model, and then the results.
func (c *composer) geminiTurn(unit int, o object) {
	calls := o.list("toolCalls")
	if len(calls) == 0 && !o.is("content", '[') && o.text("content") == "" {
		return
	}
	c.item(unit)
	c.text(`{"role":"model","parts":[`)
	said := c.content(unit, o)
	var results []jsonscan.Span
	for _, at := range calls {
		if said {
			c.text(",")
		}
		said = true
		call := objectAt(c.data, at)
		c.text(`{"functionCall":{`)
		c.members(unit, call, "id", "id", "name", "name", "args", "args")
		c.text("}}")
		results = append(results, call.list("result")...)
	}
	c.text("]}")
	if len(results) == 0 {
		return
	}
	c.item(unit)
	c.text(`{"role":"user","parts":[`)
	for k, r := range results {
		c.text(opening(k, ""))
		c.copy(unit, r)
	}
	c.text("]}")
}

// madeGeminiCLI returns the element for a new message: a user's text, as the
// wire requires.
func madeGeminiCLI(message.Role) (string, string) { return `{"type":"user","content":`, "}" }
