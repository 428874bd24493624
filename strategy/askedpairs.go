package strategy

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// maxAnswer is the maximum length of a quoted answer, in characters.
const maxAnswer = 300

// questionKeys are names of arguments with a question for the user.
var questionKeys = []string{"question", "q", "prompt", "text", "questions", "message"}

// asksUser reports whether a call asks the user a question, and its result is the answer in
// words: "mcp__human__ask".
func (c *Call) asksUser() bool {
	if askTool(strings.ToLower(c.Tool)) {
		return true
	}
	words := toolWords(c.Tool)
	return slices.Contains(words, "ask") && slices.ContainsFunc(words, func(w string) bool { return w == "human" || w == "user" || w == "person" || w == "customer" })
}

// askedAnswers returns one text for each question of a call, with the user's answer. In a
// list of answers it finds the answer by its place, in a record by its key. It returns ""
// if the result has no answer in either form.
func (c *Call) askedAnswers() string {
	var asked, ids []string
	for _, a := range c.Args {
		switch {
		case slices.Contains(questionKeys, a.Name):
			asked = append(asked, a.Value)
		case a.Name == "id":
			ids = append(ids, a.Value)
		}
	}
	if pairs := pairedAnswers(c.Result, asked); pairs != "" {
		return pairs
	}
	var result any
	if len(asked) == 0 || json.Unmarshal([]byte(strings.TrimSpace(c.Result)), &result) != nil {
		return ""
	}
	if record, ok := result.(map[string]any); ok && record["answers"] != nil {
		result = record["answers"]
	}
	var out []string
	for i, q := range asked {
		answer := cmp.Or(answerTo(i, asked, ids, result), "(no answer)")
		out = append(out, prose.Quoted(q, 120)+", the user answered: "+prose.Clip(prose.Squash(answer), maxAnswer))
	}
	if !slices.ContainsFunc(out, func(s string) bool { return !strings.HasSuffix(s, ": (no answer)") }) {
		return ""
	}
	return "asked " + strings.Join(out, "; asked ")
}

// answerTo returns the answer to a question by its place in a list of answers, or by the
// question or its id in a record.
func answerTo(i int, asked, ids []string, result any) string {
	switch r := result.(type) {
	case []any:
		if i < len(r) {
			return answerIn(r[i])
		}
	case map[string]any:
		switch {
		case r[asked[i]] != nil:
			return answerIn(r[asked[i]])
		case len(ids) == len(asked) && r[ids[i]] != nil:
			return answerIn(r[ids[i]])
		case len(asked) == 1:
			return answerIn(r)
		}
	}
	return ""
}

// pairedAnswers returns one text for each question whose answer a result states in the form
// "question"="answer", "" if it states none.
func pairedAnswers(result string, asked []string) string {
	var out []string
	for _, q := range asked {
		_, answer, ok := strings.Cut(result, `"`+q+`"="`)
		if !ok {
			continue
		}
		end := len(answer)
		for _, mark := range []string{`", "`, `" selected `, `" user notes`, "\"\n", `". You can now continue`, `".`} {
			if i := strings.Index(answer, mark); i >= 0 && (mark != `".` || i+len(mark) == len(answer)) {
				end = min(end, i)
			}
		}
		out = append(out, prose.Quoted(q, 120)+", the user answered: "+prose.Clip(prose.Squash(strings.TrimSuffix(answer[:end], `"`)), maxAnswer))
	}
	if len(out) == 0 {
		return ""
	}
	return "asked " + strings.Join(out, "; asked ")
}

// answerIn returns the text of an answer: a string, the items of a list, or the member of a
// record that holds the answer.
func answerIn(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var out []string
		for _, e := range v {
			if s := answerIn(e); s != "" {
				out = append(out, s)
			}
		}
		return strings.Join(out, ", ")
	case map[string]any:
		for _, key := range []string{"answer", "answers", "response", "reply", "selected", "value", "text", "label", "choice"} {
			if s := answerIn(v[key]); s != "" {
				return s
			}
		}
	}
	return ""
}
