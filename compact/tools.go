package compact

import (
	"bytes"
	"encoding/json"
)

// sayTools warns about tool schemas that are not a JSON array, once for each
// manager. A plan always warns. This is not an error: an agent should continue
// even if its schemas are counted inaccurately.
func (c *call) sayTools() {
	tools := bytes.TrimSpace(c.q.tools)
	if len(tools) == 0 || string(tools) == "null" || tools[0] == '[' && json.Valid(tools) {
		return
	}
	if c.q.dry || c.m.sayOnce("WithTools\x00") { // this key is not the name of a model
		c.res.Warnings = append(c.res.Warnings, "the tool schemas (WithTools) are not a JSON array: they are counted as text, and a recall tool among them is not recognized; pass the field tools of the request")
	}
}
