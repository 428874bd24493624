package gemini

import (
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/splice"
)

// Error messages of the provider.
const (
	parityText   = "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
	callText     = "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
	responseText = "Please ensure that function response turn comes immediately after a function call turn."
)

// pairs checks that the content after calls has one response for each call, that no
// other content has responses, and that calls come after the user or after responses.
func (c *checker) pairs() {
	for i, u := range c.Units {
		calls := c.functions(u, message.KindToolCall, "model")
		if len(calls) > 0 {
			c.calls(i, calls)
		}
		responses := c.functions(u, message.KindToolResult, "")
		if len(responses) == 0 {
			continue
		}
		var before []*message.Part
		if i > 0 && c.role(u) == "user" {
			before = c.functions(c.Units[i-1], message.KindToolCall, "model")
		}
		check, text := CheckParity, parityText
		if len(before) == 0 {
			check, text = CheckOrphan, responseText
		}
		for _, p := range unmatched(responses, before) {
			c.Report(check, u, p.CallID, p.Name+": "+text)
		}
	}
}

// calls checks the calls of a unit against the next unit.
func (c *checker) calls(i int, calls []*message.Part) {
	u := c.Units[i]
	if i == 0 || c.role(c.Units[i-1]) != "user" {
		c.Report(CheckTurn, u, "", callText)
	}
	var responses []*message.Part
	if i+1 < len(c.Units) {
		responses = c.functions(c.Units[i+1], message.KindToolResult, "user")
	}
	check := CheckParity
	if len(responses) == 0 {
		check = CheckUnanswered
	}
	for _, p := range unmatched(calls, responses) {
		c.Report(check, u, p.CallID, p.Name+": "+parityText)
	}
}

// functions returns the calls or the responses of a unit, or nothing if the unit has
// another role.
func (c *checker) functions(u splice.Unit, kind message.Kind, role string) (found []*message.Part) {
	if role == "" || c.role(u) == role {
		c.Each(u, kind, func(parts []message.Part, i int) {
			if kind != message.KindToolResult || !inResponse(&parts[i]) {
				found = append(found, &parts[i])
			}
		})
	}
	return found
}

// inResponse reports whether a part represents media in a response, and is not
// itself a response: responses have the name of their function.
func inResponse(p *message.Part) bool {
	_, _, _, _, ok := message.ParseMediaText(p.Text)
	return ok && p.Name == ""
}

// unmatched returns the parts that no part of other matches. Two parts match by name and id, or by
// name alone if one of them has no id.
func unmatched(parts, other []*message.Part) (rest []*message.Part) {
	exact := map[[2]string]int{}
	for _, o := range other {
		exact[[2]string{o.Name, o.CallID}]++
	}
	for _, p := range parts {
		if k := [2]string{p.Name, p.CallID}; exact[k] > 0 {
			exact[k]--
		} else {
			rest = append(rest, p)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	type class struct {
		name    string
		counted bool
	}
	free := map[class]int{}
	for k, n := range exact {
		free[class{k[0], counted(k[0], k[1])}] += n
	}
	parts, rest = rest, nil
	for _, p := range parts {
		// Leftover parts with a generated id are all on one side, because both sides count from 1.
		if theirs := (class{p.Name, !counted(p.Name, p.CallID)}); free[theirs] > 0 {
			free[theirs]--
		} else {
			rest = append(rest, p)
		}
	}
	return rest
}

// counted reports whether an id was generated here, because the wire had no id.
func counted(name, id string) bool { return strings.HasPrefix(id, name+"#") }
