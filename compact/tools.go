package compact

import (
	"bytes"
	"encoding/json"
)

// sayTools warns of tool schemas that are no JSON array, once for each manager. A
// plan always warns. They are no error: an agent whose schemas are counted badly
// should go on.
func (c *call) sayTools() {
	tools := bytes.TrimSpace(c.q.tools)
	if len(tools) == 0 || string(tools) == "null" || tools[0] == '[' && json.Valid(tools) {
		return
	}
	if c.q.dry || c.m.sayOnce("WithTools\x00") { // no name of a model
		c.res.Warnings = append(c.res.Warnings, "the tool schemas (WithTools) are not a JSON array: they are counted as text, and a recall tool among them is not seen; pass what the request has as tools")
	}
}
