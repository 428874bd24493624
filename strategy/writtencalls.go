package strategy

import (
	"encoding/json"
	"strings"

	"github.com/agentcompact/compact/message"
)

// writtenCalls returns the calls that a model wrote into its text in one of the two common forms,
// and the text without them: <tool_call>{"name": …, "arguments": …}</tool_call>, and <invoke
// name="…"> with <parameter name="…"> in it.
func writtenCalls(text string) (calls []Call, rest string) {
	for {
		before, form, ok := strings.Cut(text, "<tool_call>")
		if !ok {
			break
		}
		data, after, closed := strings.Cut(form, "</tool_call>")
		c, read := jsonCall(data)
		if !closed || !read {
			break
		}
		calls, text = append(calls, c), before+after
	}
	for {
		before, form, ok := strings.Cut(text, `<invoke name="`)
		if !ok {
			break
		}
		inner, after, closed := strings.Cut(form, "</invoke>")
		name, params, named := strings.Cut(inner, `">`)
		if !closed || !named {
			break
		}
		calls, text = append(calls, Call{Tool: name, Exit: -1, Args: parameters(params)}), before+after
	}
	if len(calls) == 0 {
		return nil, text
	}
	return calls, strings.TrimSpace(strings.NewReplacer("<function_calls>", "", "</function_calls>", "").Replace(text))
}

// jsonCall reads a call in JSON.
func jsonCall(data string) (Call, bool) {
	var one struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if json.Unmarshal([]byte(data), &one) != nil || one.Name == "" {
		return Call{}, false
	}
	return readCall(&message.Part{Kind: message.KindToolCall, Name: one.Name, Args: one.Arguments}), true
}

// parameters reads the parameters of an <invoke>.
func parameters(text string) (out []Arg) {
	for {
		_, rest, ok := strings.Cut(text, `<parameter name="`)
		name, rest, named := strings.Cut(rest, `">`)
		value, after, closed := strings.Cut(rest, "</parameter>")
		if !ok || !named || !closed {
			return out
		}
		out, text = append(out, Arg{name, strings.Trim(value, "\r\n")}), after
	}
}

// resultTags are elements with one result each, in the message that answers written calls.
var resultTags = []string{"tool_response", "function_result", "tool_result", "result"}

// answering adds a result that a loop sends in the user's role to the message before: to the
// calls that it wrote into its text, or to its command.
func (b *reader) answering(text, acted string, wrote []Call) {
	n := len(b.h.Steps)
	text = withoutResultLabel(text)
	switch {
	case len(wrote) > 0:
		b.answerWritten(wrote, text)
	case acted != "" && n > 0:
		last := &b.h.Steps[n-1]
		b.h.index.call = at{n - 1, len(last.Calls)}
		last.Calls = append(last.Calls, Call{Tool: "shell", Args: []Arg{{"command", acted}}, Exit: -1, Result: withoutOurs(text), Answered: true})
	case n > 0:
		b.answerEmpty(&b.h.Steps[n-1], text)
	}
}

// answerEmpty gives a result to the last call of a message, if its own result is empty.
func (b *reader) answerEmpty(s *Step, text string) {
	if k := len(s.Calls); k > 0 && s.Role == message.RoleAssistant && strings.TrimSpace(s.Calls[k-1].Result) == "" {
		s.Calls[k-1].Result, s.Calls[k-1].Answered = withoutOurs(text), true
	}
}

// Labels of the result of an action in a browser.
const (
	actionDone   = "Action result:"
	actionFailed = "Action error:"
)

// resultLabels begin a result that a loop sends in the user's role.
var resultLabels = []string{"Observation:", "OBSERVATION:", "Tool result:", "TOOL RESULT:", actionDone}

// withoutResultLabel returns a result without its label. The name of the tool can be in the label:
// "EXECUTION RESULT of [bash]:".
func withoutResultLabel(text string) string {
	text = strings.TrimSpace(text)
	for _, label := range resultLabels {
		if rest, ok := strings.CutPrefix(text, label); ok {
			return strings.TrimSpace(rest)
		}
	}
	if rest, ok := strings.CutPrefix(text, actionFailed); ok {
		return "Error:" + rest
	}
	if rest, ok := strings.CutPrefix(text, "EXECUTION RESULT of ["); ok {
		if _, result, ok := strings.Cut(rest, "]:"); ok {
			return strings.TrimSpace(result)
		}
	}
	return text
}

// answerWritten gives written calls their results, and adds them to the last message. If the
// results cannot be told apart, the last call has all of them.
func (b *reader) answerWritten(calls []Call, text string) {
	n := len(b.h.Steps)
	if n == 0 || b.h.Steps[n-1].Role != message.RoleAssistant {
		return
	}
	last := &b.h.Steps[n-1]
	results := resultsIn(text)
	for i := range calls {
		c := &calls[i]
		switch {
		case len(results) == len(calls):
			c.Result, c.Answered = results[i], true
		case i == len(calls)-1:
			c.Result, c.Answered = strings.TrimSpace(text), true
		}
		b.h.index.call = at{n - 1, len(last.Calls)}
		b.args(c, last.ID)
		last.Calls = append(last.Calls, *c)
	}
}

// resultsIn returns the results in a message, without the elements around them.
func resultsIn(text string) (out []string) {
	for _, tag := range resultTags {
		for rest := text; ; {
			_, in, ok := strings.Cut(rest, "<"+tag+">")
			one, after, closed := strings.Cut(in, "</"+tag+">")
			if !ok || !closed {
				break
			}
			out, rest = append(out, plainResult(one)), after
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// plainResult returns a result without the name of its tool and the marks of its streams.
func plainResult(text string) string {
	if name := between(text, "<tool_name>", "</tool_name>"); name != "" {
		text = strings.Replace(text, "<tool_name>"+name+"</tool_name>", "", 1)
	}
	return strings.TrimSpace(strings.NewReplacer("<stdout>", "", "</stdout>", "", "<stderr>", "", "</stderr>", "", "<output>", "", "</output>", "").Replace(text))
}
