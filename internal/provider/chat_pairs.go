package provider

import (
	"fmt"
	"slices"
	"strings"
)

// chatPairs checks calls and results: an assistant message with calls must be
// directly followed by one tool message for each call, and tool messages may be
// nowhere else.
func chatPairs(r *report, msgs []object) {
	for i := 0; i < len(msgs); {
		m := msgs[i]
		if str(m, "role") == "tool" {
			r.add("tool_without_call", str(m, "tool_call_id"), fmt.Sprintf("messages.[%d].role", i),
				"Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
			i++
			continue
		}
		calls := callIDs(m)
		i++
		if len(calls) > 0 {
			i = chatAnswers(r, msgs, i, calls)
		}
	}
}

func callIDs(m object) []string {
	if str(m, "role") != "assistant" {
		return nil
	}
	var ids []string
	for _, c := range objects(m["tool_calls"]) {
		ids = append(ids, str(c, "id"))
	}
	return ids
}

// chatAnswers reads the tool messages that follow a message with calls, and
// returns the index after them.
func chatAnswers(r *report, msgs []object, i int, calls []string) int {
	open := slices.Clone(calls)
	answered := map[string]bool{}
	start := i
	for ; i < len(msgs) && str(msgs[i], "role") == "tool"; i++ {
		id := str(msgs[i], "tool_call_id")
		at := fmt.Sprintf("messages.[%d].tool_call_id", i)
		switch k := slices.Index(open, id); {
		case k >= 0:
			open = slices.Delete(open, k, k+1)
			answered[id] = true
		case slices.Contains(calls, id):
			r.add("result_twice", id, at, fmt.Sprintf("Invalid parameter: Duplicate value for 'tool_call_id' of '%s'.", id))
		default:
			r.add("tool_without_call", id, at, fmt.Sprintf("Invalid parameter: 'tool_call_id' of '%s' not found in 'tool_calls' of previous message.", id))
		}
	}
	open = slices.DeleteFunc(open, func(id string) bool { return answered[id] }) // one answer is enough for two calls with one id
	for _, id := range open {
		r.add("call_without_result", id, fmt.Sprintf("messages.[%d].role", start),
			"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: "+strings.Join(open, ", "))
	}
	return i
}

// issueChat records the reasoning that thinking modes require with the calls
// that it led to, and the signatures of Gemini on this wire.
func issueChat(j *Judge, body object) {
	for _, m := range objects(body["messages"]) {
		for _, c := range objects(m["tool_calls"]) {
			j.lead(str(c, "id"), chatSeals(m, c))
		}
	}
}

func chatSeals(m, call object) []string {
	seals := []string{"", ""}
	if s := str(m, "reasoning_content"); s != "" {
		seals[0] = s
	}
	if e, ok := call["extra_content"]; ok {
		seals[1] = canonical(e)
	}
	return seals
}

func chatDialects(j *Judge, r *report, msgs []object) {
	for i, m := range msgs {
		path := fmt.Sprintf("messages[%d]", i)
		if id := str(m, "tool_call_id"); str(m, "role") == "tool" && chatEmpty(m["content"]) {
			r.add("empty_result", id, path+".content", "Invalid parameter: 'content' of a message with role 'tool' must not be empty.")
		}
		for _, c := range objects(m["tool_calls"]) {
			chatLead(j, r, m, c, path)
		}
	}
	if n := len(msgs); n > 0 && str(msgs[n-1], "role") == "assistant" {
		r.add("ends_with_model", "", "messages", "The last message must not have the role 'assistant'.")
	}
}

func chatEmpty(content any) bool {
	switch c := content.(type) {
	case string:
		return c == ""
	case []any:
		for _, p := range objects(c) {
			if str(p, "type") != "text" || str(p, "text") != "" {
				return false
			}
		}
	}
	return true
}

// chatLead checks that a call comes with the reasoning and the signature that the model
// issued with it.
func chatLead(j *Judge, r *report, m, c object, path string) {
	id := str(c, "id")
	want, got := j.ledBy(id), chatSeals(m, c)
	if want == nil {
		return
	}
	if want[0] != got[0] {
		r.add("reasoning_lost", id, path, "The `reasoning_content` in the thinking mode must be passed back to the API.")
	}
	if want[1] != got[1] {
		r.add("signature_lost", id, path, "Function call is missing a thought_signature in functionCall parts.")
	}
}
