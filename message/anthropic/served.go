package anthropic

import (
	"fmt"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/splice"
)

// served checks that a call of a tool that the provider runs precedes its result, and that
// no such call has lost its result. The result can be in a later message.
func (c *checker) served() {
	var calls map[string]splice.Unit
	for _, u := range c.Units {
		for k := u.From; k < u.To; k++ {
			for i := range c.View[k].Parts {
				id, result := message.ServerCall(&c.View[k].Parts[i])
				_, known := calls[id]
				switch {
				case id == "":
				case result && !known:
					c.Report(CheckOrphan, u, id, fmt.Sprintf("messages: unexpected `tool_use_id` found in `%s` blocks: %s", c.View[k].Parts[i].Name, id))
				case result:
					delete(calls, id)
				case calls == nil:
					calls = map[string]splice.Unit{id: u}
				default:
					calls[id] = u
				}
			}
		}
	}
	for id, u := range calls {
		c.Report(CheckUnanswered, u, id, "messages: a tool use of the provider was found without its result: "+id)
	}
}
