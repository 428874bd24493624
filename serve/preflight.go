package serve

import (
	"bytes"
	"context"
	_ "embed" // the description of the path
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/message/gemini"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/message/responses"
	"github.com/agentcompact/compact/message/wire"
)

// openAPI describes POST /v1/preflight.
//
//go:embed openapi.json
var openAPI []byte

// asked is the body of POST /v1/preflight.
type asked struct {
	Format    string            `json:"format"`
	Session   string            `json:"session"`
	Agent     string            `json:"agent"`
	Branch    string            `json:"branch"`
	Model     string            `json:"model"`
	System    json.RawMessage   `json:"system"`
	Tools     json.RawMessage   `json:"tools"`
	MaxOutput int               `json:"max_output"`
	Window    int               `json:"window"`
	Messages  []json.RawMessage `json:"messages"`
}

// wires has each format by its name, with the names of two members of a request: the
// list of messages, and the system prompt ("" = it is in the list).
var wires = map[string]struct {
	format       wire.Format
	list, system string
}{
	"openai":    {openai.Wire, "messages", ""},
	"responses": {responses.Wire, "input", "instructions"},
	"anthropic": {anthropic.Wire, "messages", "system"},
	"gemini":    {gemini.Wire, "contents", "systemInstruction"},
}

// mistake is an error for the caller, with its status and code.
type mistake struct {
	status int
	code   string
	err    error
}

func (m *mistake) Error() string { return m.err.Error() }

func badRequest(format string, args ...any) error {
	return &mistake{http.StatusBadRequest, "bad_request", fmt.Errorf(format, args...)}
}

// preflight answers a hook in another language with the messages to send: the hook's
// own messages, by number, and new messages that replace others.
func (h *Handler) preflight(w http.ResponseWriter, r *http.Request) {
	if !h.counters.enter(h.cfg.MaxCalls) {
		h.counters.refused(http.StatusServiceUnavailable)
		mistaken(w, &mistake{http.StatusServiceUnavailable, "busy", errors.New("too many requests at once; try again")})
		return
	}
	p := newPatient(w, r, h.cfg)
	defer func() { h.counters.leave("preflight", p.status) }()
	defer p.end()
	out, err := h.reduce(r.Context(), p.body(r.Body))
	if err != nil {
		mistaken(p, h.mistakeOf(err))
		return
	}
	answer(p, http.StatusOK, out)
}

// mistakeOf returns an error with the status and the code that the caller gets.
func (h *Handler) mistakeOf(err error) *mistake {
	var m *mistake
	switch {
	case errors.As(err, &m):
		return m
	case errors.Is(err, compact.ErrInsufficientBudget):
		return &mistake{http.StatusUnprocessableEntity, "insufficient_budget", err}
	}
	h.counters.up(h.counters.failures, "preflight")
	h.log.Warn("compact: a preflight was not answered", "error", h.m.Redact(err.Error()))
	code := "failed"
	if errors.Is(err, compact.ErrArchiveFailed) {
		code = "archive_failed"
	}
	return &mistake{http.StatusInternalServerError, code, errors.New(h.m.Redact(err.Error()))}
}

// reduce reads a request and returns the plan of its view.
func (h *Handler) reduce(ctx context.Context, body io.Reader) (any, error) {
	q, err := h.read(body)
	if err != nil {
		return nil, err
	}
	to, ok := wires[q.Format]
	switch {
	case !ok:
		return nil, badRequest("format %q is unknown; use openai, responses, anthropic or gemini", q.Format)
	case q.Session == "":
		return nil, badRequest("session is missing: the same name in every call of a conversation")
	case len(q.Messages) == 0:
		return nil, badRequest("messages is empty")
	}
	parsed, err := to.format.ParseRequest(q.body(to.list, to.system), nil)
	if err != nil {
		return nil, badRequest("%w", err)
	}
	opts := []compact.Option{compact.WithRequest(parsed), compact.WithModel(q.Model), compact.WithAgent(q.Agent), compact.WithBranch(q.Branch),
		compact.WithMaxOutput(q.MaxOutput), compact.WithWindow(q.Window)}
	if h.cfg.Observe {
		opts = append(opts, compact.WithObserve())
	}
	res, err := h.m.Preflight(ctx, q.Session, parsed.Messages(), opts...)
	if err != nil {
		return nil, err
	}
	h.result(ctx, res)
	sent, err := parsed.Write(res.Messages, res.Sources)
	if err != nil {
		return nil, err
	}
	view, err := elements(sent, to.list)
	if err != nil {
		return nil, err
	}
	return object{"messages": plan(q.Messages, view), "result": res}, nil
}

// read reads the body of a request.
func (h *Handler) read(body io.Reader) (q asked, err error) {
	most := h.cfg.MaxBody
	if most <= 0 {
		most = 256 << 20
	}
	data, err := io.ReadAll(io.LimitReader(body, most+1))
	switch {
	case err != nil:
		return q, badRequest("%w", err)
	case int64(len(data)) > most:
		return q, &mistake{http.StatusRequestEntityTooLarge, "too_large", fmt.Errorf("the body is larger than %d bytes", most)}
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return q, badRequest("the body is empty; /openapi.json describes it")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		return q, badRequest("the body does not have the form in /openapi.json: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return q, nil
}

// body returns the request in the form of its wire.
func (q *asked) body(list, system string) []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	member := func(name string, value []byte) {
		if len(value) > 0 && name != "" && !bytes.Equal(value, []byte("null")) {
			fmt.Fprintf(&b, "%q:%s,", name, value)
		}
	}
	if model, err := json.Marshal(q.Model); err == nil {
		member("model", model)
	}
	member(system, q.System)
	member("tools", q.Tools)
	fmt.Fprintf(&b, "%q:[%s]}", list, bytes.Join(raws(q.Messages), []byte{','}))
	return b.Bytes()
}

func raws(messages []json.RawMessage) [][]byte {
	out := make([][]byte, len(messages))
	for i, m := range messages {
		out[i] = m
	}
	return out
}

// elements returns the elements of a list in a body.
func elements(body []byte, list string) (out []json.RawMessage, err error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(body, &all); err != nil {
		return nil, err
	}
	err = json.Unmarshal(all[list], &out)
	return out, err
}

func mistaken(w http.ResponseWriter, m *mistake) {
	answer(w, m.status, object{"error": object{"code": m.code, "message": m.Error()}})
}

func answer(w http.ResponseWriter, status int, v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // messages keep their bytes
	if err := e.Encode(v); err != nil {
		status = http.StatusInternalServerError
		b.Reset()
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

// describe answers with the description of the path.
func describe(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(openAPI)
}
