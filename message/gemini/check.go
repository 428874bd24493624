package gemini

import (
	"fmt"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/splice"
	"github.com/agentcompact/compact/message/wire"
)

// The rules of the API, as [wire.Violation.Check] names them.
const (
	CheckView       = "view"                           // the view is none of this request
	CheckFirst      = "first_content_not_user"         //
	CheckRole       = "unknown_role"                   //
	CheckEmpty      = "empty_content"                  //
	CheckEmptyText  = "empty_text"                     //
	CheckSealed     = "sealed_part_changed"            // thoughts and what is signed go back as they came
	CheckUnanswered = "function_call_without_response" // in the next content
	CheckParity     = "function_response_parity"       // as many as there are calls, of the same functions
	CheckOrphan     = "function_response_without_call" // in the content before
	CheckTurn       = "function_call_after_model"      // calls come behind the user, or behind responses
	CheckSignature  = "thought_signature_missing"      // of the first call of each step of the current turn
	CheckTrailing   = "trailing_model"                 //
)

// checker holds one view against the rules.
type checker struct {
	*request
	view    []message.Message
	sources []int
	units   []splice.Unit
	found   []wire.Violation
}

// Check holds what Write would write against the rules of the API.
func (r *request) Check(view []message.Message, sources []int) []wire.Violation {
	units, err := r.Plan(view, sources)
	if err != nil {
		return []wire.Violation{{Check: CheckView, Index: -1, Detail: err.Error()}}
	}
	c := checker{request: r, view: view, sources: sources, units: units}
	c.ends()
	for i := range c.units {
		c.content(i)
	}
	c.pairs()
	c.signatures()
	return c.found
}

// report adds a violation in a unit; about tells it from others of the check.
func (c *checker) report(check string, u splice.Unit, about, detail string) {
	c.found = append(c.found, wire.Violation{Check: check, ID: splice.ID(c.sources[u.From], about), Index: u.From, Detail: detail})
}

// whole adds a violation of which there is one at most.
func (c *checker) whole(check string, index int, detail string) {
	c.found = append(c.found, wire.Violation{Check: check, Index: index, Detail: detail})
}

// role is the role of a unit on the wire, with user for what counts as user.
func (c *checker) role(u splice.Unit) string {
	if u.Made() {
		return madeRole(c.view[u.From])
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
	if len(c.units) == 0 {
		c.whole(CheckEmpty, -1, "GenerateContentRequest.contents: contents is not specified")
		return
	}
	if first := c.units[0]; c.role(first) != "user" {
		c.whole(CheckFirst, first.From, "the first content must have the role user")
	}
	if last := c.units[len(c.units)-1]; c.role(last) == "model" {
		c.whole(CheckTrailing, last.From, "the last content is of the model; there is nothing to answer")
	}
}

// content checks one content for itself.
func (c *checker) content(i int) {
	u := c.units[i]
	if role := c.role(u); role != "user" && role != "model" {
		c.report(CheckRole, u, "", fmt.Sprintf("Please use a valid role: user, model (got %q)", role))
	}
	parts := 0
	for k := u.From; k < u.To; k++ {
		m := &c.view[k]
		parts += len(m.Parts)
		for n := range m.Parts {
			if p := &m.Parts[n]; p.Kind == message.KindText && p.Text == "" && !p.Sealed {
				c.report(CheckEmptyText, u, fmt.Sprintf("%d.%d", k-u.From, n), "a text part must not be empty")
			}
		}
		if s := c.sources[k]; s >= 0 && c.Changed(m, s) {
			c.report(CheckSealed, u, "", "a part with a thought signature must be sent back as it was received")
		}
	}
	if parts == 0 {
		c.report(CheckEmpty, u, "", "GenerateContentRequest.contents.parts: contents.parts must not be empty")
	}
}

// each calls f for the part of each call, or of each response, of a unit.
func (c *checker) each(u splice.Unit, kind message.Kind, f func(p *message.Part)) {
	for k := u.From; k < u.To; k++ {
		for i := range c.view[k].Parts {
			if p := &c.view[k].Parts[i]; p.Kind == kind {
				f(p)
			}
		}
	}
}

// signatures checks the calls of the current turn: those behind the last
// content in which the user says something.
func (c *checker) signatures() {
	turn := len(c.units)
	for turn > 0 && !c.says(c.units[turn-1]) {
		turn--
	}
	for _, u := range c.units[turn:] {
		first := true
		c.each(u, message.KindToolCall, func(p *message.Part) {
			if first && !p.Sealed {
				c.report(CheckSignature, u, p.Name, "Function call is missing a thought_signature in functionCall parts: "+p.Name)
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
		if m := &c.view[k]; m.Role != message.RoleTool && len(m.Parts) > 0 {
			return true
		}
	}
	return false
}
