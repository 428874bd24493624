package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"github.com/agentcompact/compact/message/formats"
)

// form is a set of the possible forms of a line.
type form uint8

const (
	formOpenAI form = 1 << iota
	formAnthropic
	formResponses
	formGemini
	formClaudeCode
	formPi
	anyForm = 1<<iota - 1
)

var formNames = []string{"openai", "anthropic", "responses", "gemini", "claude-code", "pi"}

func (f form) String() string {
	var out []string
	for i, name := range formNames {
		if f&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return strings.Join(out, " or ")
}

// formProbe holds the parts of a line that reveal its form.
type formProbe struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Calls   json.RawMessage `json:"tool_calls"`
	Parts   json.RawMessage `json:"parts"`
	CallID  string          `json:"call_id"`
	Message struct {
		Role string `json:"role"`
	} `json:"message"`
}

// formOf returns the possible forms of a line. A line that is not a message can have
// any form.
func formOf(l *formProbe) form {
	switch {
	case l.Message.Role != "" && (l.Type == "user" || l.Type == "assistant"):
		return formClaudeCode
	case l.Message.Role != "" && l.Type == "message":
		return formPi
	case l.CallID != "" && l.Type != "", l.Type == "message" && l.Role != "":
		return formResponses
	case l.Type != "" || l.Role == "":
		return anyForm
	case len(l.Parts) > 0 && len(l.Content) == 0:
		return formGemini
	case len(l.Calls) > 0, l.Role == "tool":
		return formOpenAI
	case len(l.Content) > 0:
		return formOfContent(l.Content)
	}
	return anyForm
}

func formOfContent(content json.RawMessage) form {
	var blocks []struct {
		Type string `json:"type"`
	}
	if content[0] == '[' && json.Unmarshal(content, &blocks) == nil {
		for _, b := range blocks {
			switch b.Type {
			case "tool_use", "tool_result", "thinking":
				return formAnthropic
			}
		}
	}
	return formOpenAI | formAnthropic | formResponses
}

var errCutOff = errors.New("the last line is cut off and was skipped")

// oneForm checks that all lines of a file have one form. Lines of several forms
// are an error, because a reader would skip all but one form. A last line that
// is cut off is a flaw.
func oneForm(data []byte) (flaw, err error) {
	can, n := form(anyForm), 0
	for line := range bytes.Lines(data) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] != '{' {
			continue
		}
		var l formProbe
		if json.Unmarshal(line, &l) != nil {
			flaw = &formats.InputError{Line: n, Index: -1, Err: errCutOff}
			continue
		}
		flaw = nil
		is := formOf(&l)
		if can&is == 0 {
			return nil, &formats.InputError{Line: n, Index: -1, Err: fmt.Errorf("this line has the format %s, and earlier lines have %s: a file must have one format", is, can)}
		}
		can &= is
	}
	if n < 2 || bits.OnesCount8(uint8(can)) == len(formNames) {
		flaw = nil // there are no lines of messages
	}
	return flaw, nil
}
