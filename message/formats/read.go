package formats

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/message/gemini"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/message/responses"
)

// format is a file format for conversations.
type format struct {
	name string
	is   func(*source) bool // reports whether a file has this format, and can have no other
	read func(*source) (*File, error)
}

// known lists the formats in the order in which they are tried: first the formats of
// agents, which are easy to recognize.
func known() []format {
	return []format{
		{"claude-code", isClaudeCode, readClaudeCode},
		{"codex", isCodex, readCodex},
		{"gemini-cli", isGeminiCLI, readGeminiCLI},
		{"copilot", isCopilot, readCopilot},
		{"pi", isPi, readPi},
		{"opencode", isOpenCode, readOpenCode},
		{"swe-agent", isSWEAgent, readSWEAgent},
		{"mini-swe-agent", isMiniSWEAgent, readChatAt("mini-swe-agent", "messages")},
		{"openhands", isOpenHands, readOpenHands},
		{"langgraph", isLangGraph, readLangGraph},
		{"tau2-bench", isTau2Bench, readTau2Bench},
		{"tau-bench", isTauBench, readChatAt("tau-bench", "traj")},
		{"gemini", isGemini, wireFile(gemini.Wire, "contents")},
		{"responses", isResponses, wireFile(responses.Wire, "input")},
		{"anthropic", isAnthropic, wireFile(anthropic.Wire, "messages")},
		{"openai", isOpenAI, wireFile(openai.Wire, "messages")},
	}
}

// Names returns the names of the file formats that [Read] knows. The names of wires
// come first.
func Names() []string {
	var wires, logs []string
	for _, f := range known() {
		if _, ok := Lookup(f.name); ok {
			wires = append([]string{f.name}, wires...)
		} else {
			logs = append(logs, f.name)
		}
	}
	return append(wires, logs...)
}

// Read reads a file in the format of this name; "auto" or "" detects the format. An
// error of a message or of a line is an *[InputError]; if the format is unknown, or
// can't be detected, the error wraps [ErrUnknown]. It is an error if the file has
// another format than the named one. The data is kept and must not be modified
// afterwards.
//
// The last line of a log may be cut off, because it is still being written: it
// stays unchanged and holds no message. A line of a log may hold two values. In
// a list of messages both are errors.
//
// A file is recognized as the log of an agent by marks that only this agent
// writes. A body is detected as in [Detect]. A list of messages (JSONL, or one
// JSON array) is gemini, responses or anthropic if any element of it can have
// no other format, and openai otherwise.
func Read(name string, data []byte) (*File, error) {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return nil, &InputError{Line: 1, Index: -1, Err: errors.New("the text is UTF-16, as PowerShell writes it: convert it to UTF-8")}
	}
	s, err := cut(data)
	if err != nil {
		return nil, err
	}
	if name == "" || name == "auto" {
		return s.detect()
	}
	for _, f := range known() {
		if f.name != name {
			continue
		}
		if _, wire := Lookup(name); wire {
			err = s.fits(name)
		} else if !f.is(s) {
			err = &InputError{Line: 1, Index: -1, Err: fmt.Errorf("nothing in the input has the format %s", name)}
		}
		if err != nil {
			return nil, err
		}
		return f.read(s)
	}
	return nil, fmt.Errorf("%w: unknown format %q; known formats are %s", ErrUnknown, name, strings.Join(Names(), ", "))
}

func (s *source) detect() (*File, error) {
	for _, f := range known() {
		if _, wire := Lookup(f.name); !wire && f.is(s) {
			return f.read(s)
		}
	}
	name := "openai"
	if s.isBody() {
		w, err := Detect(s.top.Of(s.data))
		if err != nil {
			return nil, err
		}
		name = w.Name()
	}
	for _, f := range known() {
		if _, wire := Lookup(f.name); wire && (s.isBody() && f.name == name || !s.isBody() && f.is(s)) {
			return f.read(s)
		}
	}
	return nil, fmt.Errorf("%w: it is neither a request body, nor a list of messages, nor the log of an agent", ErrUnknown)
}

// any reports whether is returns true for any line or element of the file.
func (s *source) any(is func(object) bool) bool {
	for _, o := range s.at {
		if is(o) {
			return true
		}
	}
	return false
}

func isGemini(s *source) bool {
	return s.any(func(o object) bool { return o.is("parts", '[') || o.text("role") == "model" })
}

func isResponses(s *source) bool {
	return s.any(func(o object) bool { return o.has("type") && (o.has("call_id") || responsesTypes[o.text("type")]) })
}

var responsesTypes = map[string]bool{"message": true, "reasoning": true, "compaction": true, "item_reference": true, "web_search_call": true}

func isAnthropic(s *source) bool {
	var e evidence
	for i, o := range s.at {
		e.message(o, i)
	}
	return e.anthropic > 0 && e.openai == 0
}

// isOpenAI accepts any list of objects with roles, even an invalid one, so that its
// error names the line.
func isOpenAI(s *source) bool { return s.top.End == 0 || s.doc.has("role") }
