package transport

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// A program that Anthropic's model runs (code_execution) can wait while the model calls the
// recall tool. The next request must name the container of that program, and the next
// answer has the result of the program, whose call is in the hidden answer.

// containerOf returns the id of the container in an answer or in an event of a stream.
func containerOf(o rawObject) string {
	for _, name := range []string{"message", "delta"} {
		if id := text(obj(obj(o[name])["container"])["id"]); id != "" {
			return id
		}
	}
	return text(obj(o["container"])["id"])
}

// withContainer returns the body with the container of the last answer; "" = the body as it
// is.
func withContainer(body []byte, id string) []byte {
	if id == "" {
		return body
	}
	at, err := fields(body, "container")
	if err != nil {
		return body
	}
	span, there := at["container"]
	if !there {
		return withField(body, "container", enc(id))
	}
	value := enc(id)
	if o := obj(span.Of(body)); o != nil { // with the skills that it loads
		o["id"] = value
		value = enc(o)
	}
	return slices.Concat(body[:span.Start], value, body[span.End:])
}

// isWaiting reports whether an answer has a call of a tool that the provider runs, and not
// its result.
func isWaiting(answer []json.RawMessage) bool {
	open := map[string]bool{}
	for _, e := range answer {
		for _, raw := range list(obj(e)["content"]) {
			block := obj(raw)
			switch kind := text(block["type"]); {
			case kind == "server_tool_use":
				open[text(block["id"])] = true
			case strings.HasSuffix(kind, "_tool_result"):
				delete(open, text(block["tool_use_id"]))
			}
		}
	}
	return len(open) > 0
}

// show makes a hidden answer, and the hidden answers after it, a part of the answer that the
// caller gets, if a program waits in it. Otherwise the caller would get a result without its
// call. (Of a stream the caller gets all answers in any case.)
func (a *asking) show(d dialect, h *held, s *said) {
	if len(a.prior) == 0 && !isWaiting(s.whole) {
		return
	}
	d.strip(h.pieces, s)
	if o := h.pieces.list[0].read(); len(list(o["content"])) > 0 {
		a.prior = d.merge(a.prior, []json.RawMessage{enc(map[string]any{"role": "assistant", "content": o["content"]})})
	}
}

// complete returns the last answer, with the shown parts of the answers before it. Without such
// parts it returns the result of the function last.
func (a *asking) complete(h *held, last func() *http.Response) *http.Response {
	if len(a.prior) == 0 {
		return last()
	}
	e := h.pieces.list[0]
	o := e.read()
	o["content"] = enc(slices.Concat(list(obj(a.prior[0])["content"]), list(o["content"])))
	e.write(o)
	return h.changed()
}
