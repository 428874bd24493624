package gemini

import (
	"fmt"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/splice"
	"github.com/agentcompact/compact/message/wire"
)

// The rules of the API, with their names in [wire.Violation.Check].
const (
	CheckView       = splice.CheckView                 // the view does not belong to this request
	CheckFirst      = "first_content_not_user"         //
	CheckRole       = "unknown_role"                   //
	CheckEmpty      = "empty_content"                  //
	CheckEmptyText  = "empty_text"                     //
	CheckSealed     = "sealed_part_changed"            // thoughts and signed parts go back unchanged
	CheckUnanswered = "function_call_without_response" // the response must be in the next content
	CheckParity     = "function_response_parity"       // as many responses as calls, of the same functions
	CheckOrphan     = "function_response_without_call" // the call must be in the previous content
	CheckTurn       = "function_call_after_model"      // calls come after the user or after responses
	CheckSignature  = "thought_signature_missing"      // the first call of each step of the current turn needs one
	CheckTrailing   = "trailing_model"                 //
)

// checker checks one view against the rules.
type checker struct{ splice.Checker }

// Check checks the body that Write would return against the rules of the API.
func (r *request) Check(view []message.Message, sources []int) []wire.Violation {
	held, ok := splice.NewChecker(r.List, view, sources)
	if !ok {
		return held.Found
	}
	c := checker{held}
	c.ends()
	for i := range c.Units {
		c.content(i)
	}
	c.pairs()
	c.signatures()
	return c.Found
}

// role returns the role of a unit on the wire; roles that are treated as user become
// user.
func (c *checker) role(u splice.Unit) string {
	if u.Made() {
		return madeRole(c.View[u.From])
	}
	switch role := c.Role(u.Item); role {
	case "", "function":
		return "user"
	default:
		return role
	}
}

// ends checks the first content and the last.
func (c *checker) ends() {
	if len(c.Units) == 0 {
		c.Whole(CheckEmpty, -1, "GenerateContentRequest.contents: contents is not specified")
		return
	}
	if first := c.Units[0]; c.role(first) != "user" {
		c.Whole(CheckFirst, first.From, "the first content must have the role user")
	}
	if last := c.Units[len(c.Units)-1]; c.role(last) == "model" {
		c.Whole(CheckTrailing, last.From, "the last content is of the model; there is nothing to answer")
	}
}

// content checks one content by itself.
func (c *checker) content(i int) {
	u := c.Units[i]
	if role := c.role(u); role != "user" && role != "model" {
		c.Report(CheckRole, u, "", fmt.Sprintf("Please use a valid role: user, model (got %q)", role))
	}
	parts := 0
	for k := u.From; k < u.To; k++ {
		m := &c.View[k]
		parts += len(m.Parts)
		for n := range m.Parts {
			if p := &m.Parts[n]; p.Kind == message.KindText && p.Text == "" && !p.Sealed {
				c.Report(CheckEmptyText, u, fmt.Sprintf("%d.%d", k-u.From, n), "a text part must not be empty")
			}
		}
		if s := c.Sources[k]; s >= 0 && c.Changed(m, s) {
			c.Report(CheckSealed, u, "", "a part with a thought signature must be sent back as it was received")
		}
	}
	if parts == 0 {
		c.Report(CheckEmpty, u, "", "GenerateContentRequest.contents.parts: contents.parts must not be empty")
	}
}

// signatures checks the calls of the current turn: those after the last content with
// a text of the user.
func (c *checker) signatures() {
	turn := len(c.Units)
	for turn > 0 && !c.says(c.Units[turn-1]) {
		turn--
	}
	for _, u := range c.Units[turn:] {
		first := true
		c.Each(u, message.KindToolCall, func(parts []message.Part, i int) {
			if p := &parts[i]; first && !p.Sealed {
				c.Report(CheckSignature, u, p.Name, "Function call is missing a thought_signature in functionCall parts: "+p.Name)
			}
			first = false
		})
	}
}

func (c *checker) says(u splice.Unit) bool {
	if c.role(u) != "user" {
		return false
	}
	for k := u.From; k < u.To; k++ {
		if m := &c.View[k]; m.Role != message.RoleTool && len(m.Parts) > 0 {
			return true
		}
	}
	return false
}
