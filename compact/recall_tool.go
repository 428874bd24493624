package compact

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/agentcompact/compact/internal/lookup"
	"github.com/agentcompact/compact/internal/panics"
	"github.com/agentcompact/compact/recall"
)

// A Tool is a tool for a model. Its definition goes with the tools of every
// request ([Tool.For] writes it in the format of a provider), and is counted
// like them by [WithTools]; Call answers the model's calls.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // a JSON schema

	// Call answers a call of the tool with the model's arguments. It returns
	// the text for the model. The text also explains wrong arguments, which are
	// not an error. An error comes from the archive ([ErrArchiveFailed]), the
	// manager ([ErrClosed], [ErrSession]) or the context; the text for the
	// model is then set, too.
	//
	// The caller names the session, never the model, so the tool reads only
	// archived text of this session. It is safe for concurrent use.
	Call func(ctx context.Context, sessionID string, arguments json.RawMessage) (string, error)
}

// A ToolOption configures [RecallTool].
type ToolOption func(*recallTool)

// ToolName gives the tool another name than "recall".
func ToolName(name string) ToolOption { return func(t *recallTool) { t.name = name } }

// ToolBytes sets the maximum size of an answer; default 16 KiB, minimum 256
// bytes. A longer text is cut, and the answer says how to ask for the rest.
func ToolBytes(n int) ToolOption { return func(t *recallTool) { t.bytes = max(n, recallLeast) } }

// ToolShown restricts the tool to what the view of a result shows; see
// [CompactManager.RecallShown].
func ToolShown(res *Result) ToolOption { return func(t *recallTool) { t.shown = res } }

// ToolView gives the tool the view that the model was sent. Each agent of a session
// has numbers of its own, and with the view s12 is the message that its summary
// cites. Without it the answer has the s12 of all agents.
func ToolView(res *Result) ToolOption { return func(t *recallTool) { t.view = res } }

// RecallTool returns the tool with which a model reads text that was removed
// from its view: for a placeholder with "recall 3f9a2c1b77de" it calls the tool
// with that reference, and optionally with a range of lines.
func RecallTool(m *CompactManager, opts ...ToolOption) Tool {
	t := &recallTool{m: m, name: recallName, bytes: recallBytes}
	for _, o := range opts {
		o(t)
	}
	return Tool{
		Name: t.name,
		Description: "Returns text that was removed from this conversation to save space. " +
			"Where a message reads like [observation masked — 4200 chars · recall 3f9a2c1b77de], call this with ref \"3f9a2c1b77de\". " +
			"Where a summary says [s12], call it with ref \"s12\". A pattern without a ref searches everything that was removed, and says the ref of what it finds. " +
			"Secrets in the text are redacted. Ask for a part of a long text: head, tail, lines, or a pattern.",
		Parameters: json.RawMessage(recallSchema),
		Call:       t.call,
	}
}

const recallSchema = `{"type":"object","properties":{` +
	`"ref":{"type":"string","description":"the reference in the placeholder, such as 3f9a2c1b77de; or s12, or s12-s20, as a summary cites messages; without it, pattern searches everything"},` +
	`"head":{"type":"integer","minimum":1,"description":"only so many lines from the beginning"},` +
	`"tail":{"type":"integer","minimum":1,"description":"only so many lines from the end"},` +
	`"lines":{"type":"string","description":"only these lines, as FROM-TO, counted from 1"},` +
	`"pattern":{"type":"string","description":"only lines that match this regular expression (RE2), with their numbers"},` +
	`"context":{"type":"integer","minimum":0,"maximum":50,"description":"with pattern: so many lines around each match"}` +
	`},"additionalProperties":false}`

// For returns the definition as an element of the tools of a request: wire is
// "openai" (chat completions), "responses", "anthropic" or "gemini", the last
// being an object with its own functionDeclarations.
func (t Tool) For(wire string) (json.RawMessage, error) {
	type definition struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
		InputSchema json.RawMessage `json:"input_schema,omitempty"`
	}
	d := definition{Name: t.Name, Description: t.Description, Parameters: t.Parameters}
	switch wire {
	case "openai":
		return json.Marshal(struct {
			Type     string     `json:"type"`
			Function definition `json:"function"`
		}{"function", d})
	case "responses":
		return json.Marshal(struct {
			Type string `json:"type"`
			definition
		}{"function", d})
	case "anthropic":
		d.Parameters, d.InputSchema = nil, t.Parameters
		return json.Marshal(d)
	case "gemini":
		// Gemini's field parameters takes only a dialect of JSON schema; a full
		// JSON schema belongs in another field.
		return json.Marshal(map[string]any{"functionDeclarations": []any{map[string]any{
			"name": t.Name, "description": t.Description, "parametersJsonSchema": t.Parameters,
		}}})
	}
	return nil, fmt.Errorf("compact: the wire %q is unknown; use openai, responses, anthropic or gemini", wire)
}

type recallTool struct {
	m     *CompactManager
	name  string
	bytes int
	shown *Result // see [ToolShown]
	view  *Result // see [ToolView]
}

func (t *recallTool) call(ctx context.Context, sessionID string, arguments json.RawMessage) (answer string, err error) {
	defer t.rescue(&answer, &err)
	q, err := parseRecall(arguments)
	if err != nil {
		return t.refuse(err), nil
	}
	if q.Ref == "" {
		return t.search(ctx, sessionID, q)
	}
	text, err := t.read(ctx, sessionID, q)
	switch {
	case errors.Is(err, ErrNotFound):
		how := "; copy the reference exactly from a placeholder"
		if none := (*lookup.Missing)(nil); errors.As(err, &none) && none.There != "" {
			how = none.There
		}
		return t.refuse(fmt.Errorf("this conversation has no text with the reference %q%s", shorten(q.Ref), how)), nil
	case err != nil:
		return t.refuse(errors.New("the archive can't be read now")), err
	}
	return text, nil
}

// search answers a call with a pattern but without a reference.
func (t *recallTool) search(ctx context.Context, sessionID string, q *recallQuery) (string, error) {
	if t.shown != nil { // other conversations with the same beginning must not be searched
		return t.refuse(errors.New("ref is missing: here a pattern needs a reference, or the numbers of messages, such as s1-s50")), nil
	}
	found, err := t.m.Search(ctx, sessionID, q.pattern, 0, recall.Around(q.Context))
	switch {
	case errors.Is(err, ErrNotFound):
		return t.refuse(errors.New("nothing was removed from this conversation")), nil
	case err != nil:
		return t.refuse(errors.New("the archive can't be read now")), err
	}
	return listed(found, t.bytes), nil
}

// rescue, deferred, turns a panic into an error and an answer for the model.
func (t *recallTool) rescue(answer *string, err *error) {
	if v := recover(); v != nil {
		if t.m == nil {
			*err = panics.Error(nil, nil, t.name, v)
		} else {
			*err = panics.Error(t.m.log(), t.m.redactor, t.name, v)
		}
		*answer = t.refuse(errors.New("the archive can't be read now"))
	}
}

// read returns the part of a text that q asks for. The part is chosen before the event
// of the recall is emitted, so that this event has its size.
func (t *recallTool) read(ctx context.Context, sessionID string, q *recallQuery) (string, error) {
	note := unread(q.Ref)
	part := func(lines []string) []string {
		return []string{q.answer(ctx, strings.Join(lines, "\n"), t.bytes-len(note)) + note}
	}
	switch {
	case t.shown != nil:
		return t.m.RecallShown(ctx, t.shown, q.Ref, part)
	case t.view != nil:
		return t.m.recallOf(ctx, sessionID, q.Ref, &t.view.cited.owner, []recall.Option{part})
	}
	return t.m.Recall(ctx, sessionID, q.Ref, part)
}

func (t *recallTool) refuse(err error) string { return t.name + ": " + err.Error() }
