package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/agentcompact/compact/compact"
)

// Recall declares the recall tool ([compact.RecallTool]) in the requests, and
// answers the model's calls of it from the archive: the model is asked again,
// and the caller sees nothing of the call. Each request of a conversation that has
// tools declares it, behind them, from the first; one without tools from its
// first compaction on. A request that brings a tool of that name is left alone.
//
// A round of the tool stays in the later requests of the conversation, where it
// was, as long as this process remembers it (the last 256 KiB for each agent of a
// session). One whose bytes redaction would change is left out whole, and so
// are all in another process. Other calls in the same answer reach the caller
// without ours.
//
// A stream of events is handed on as it comes: text, reasoning and the calls of
// other tools. It is held from a call of ours until that answer has ended; the
// next answer goes on in the same stream, as one message. Its usage has the
// output of all answers, and the prompt of the last, which is what callers
// measure their context by. An inner request that fails in a way that passes
// is made again up to two times, 0.5 to 8 s later; after that the stream ends
// with the error. Reasoning that led to nothing but our call has a mark in the
// place of its signature, and is left out of later requests by that, in any
// process. An array of Gemini (a stream without alt=sse) is handed on so, too, element
// by element. Any other answer is held until it has ended.
//
// At most 8 rounds are answered for one request; what the model asks for after
// that is left out of the answer.
func Recall() Option { return func(t *Transport) { t.rounds = newRounds() } }

// maxRecalls is how often the model is asked again for one request.
const maxRecalls = 8

// maxAnswer is the size in bytes above which an answer goes by unread.
const maxAnswer = 64 << 20

// answer sends the request, and again while the answer recalls.
func (x *exchange) answer() (*http.Response, error) {
	if x.t.rounds == nil {
		return x.run()
	}
	a := &asking{x: x, came: x.body, plain: true}
	for {
		resp, err := a.x.run()
		if err != nil || a.x.dialect == nil || a.live(resp) {
			return resp, err
		}
		h := hold(resp)
		if h == nil {
			return resp, nil
		}
		said, ok := a.x.dialect.read(h.pieces)
		switch {
		case !ok || len(said.ours) == 0:
			if ok {
				a.keep(said, nil)
			}
			return h.response(), nil
		case !a.take(said):
			a.x.dialect.strip(h.pieces, said)
			return h.changed(), nil
		}
		_ = h.resp.Body.Close()
	}
}

// asking is one call of the caller's, for which the model may be asked several
// times.
type asking struct {
	x     *exchange         // the request that was made last
	ctx   context.Context   // of those that are made behind an answer that has begun; nil = none has
	came  []byte            // the body as it came in
	inner []json.RawMessage // rounds that the caller does not see
	prior []json.RawMessage // what the caller has of the answers before the last one
	plain bool              // redaction changes nothing in them
	n     int               // how often the model was asked again
	array bool              // the answer that has begun is an array
}

// take answers our calls in an answer, and reports whether the model is to be
// asked again; x is that request then.
func (a *asking) take(s *said) (more bool) {
	texts := a.x.recall(s.ours, a.n)
	a.x.recalled(len(s.ours))
	a.plain = a.plain && a.x.isPlain(s, texts)
	switch {
	case s.others > 0:
		a.keep(s, &beside{said: s, texts: texts})
		return false
	case a.n == maxRecalls:
		a.keep(s, nil)
		return false
	}
	a.inner = append(a.inner, a.x.dialect.round(s, texts)...)
	a.n++
	a.renew()
	return true
}

// renew makes the request anew, with the rounds that there are.
func (a *asking) renew() {
	again := *a.x
	again.body, again.inner = a.came, a.inner
	if a.ctx != nil {
		again.req = a.x.req.WithContext(a.ctx)
	}
	again.parsed, again.res, again.sent, again.dialect = nil, nil, nil, nil
	a.x = &again
}

// keep remembers what led to the last answer.
func (a *asking) keep(s *said, b *beside) {
	if a.plain && (len(a.inner) > 0 || b != nil) {
		a.x.t.rounds.keep(a.x, a.came, round{before: a.inner, prior: a.prior, said: s.shown, beside: b})
	}
}

// recall answers the calls.
func (x *exchange) recall(calls []recallCall, n int) []string {
	texts := make([]string, len(calls))
	var opts []compact.ToolOption
	for i, c := range calls {
		if n == maxRecalls {
			texts[i] = recallTool + ": no more can be recalled for this answer"
			continue
		}
		if x.shared() {
			if x.res == nil { // no view shows anything
				texts[i] = recallTool + ": nothing can be recalled now"
				continue
			}
			opts = append(opts[:0], compact.ToolShown(x.res))
		}
		text, err := compact.RecallTool(x.t.m, opts...).Call(x.req.Context(), x.who.session, c.args)
		if err != nil {
			x.warn(x.fault(opRecall, err))
		}
		texts[i] = text
	}
	return texts
}

// shared reports whether conversations that begin alike have this session.
func (x *exchange) shared() bool {
	for _, begin := range []string{compact.UnnamedSession, "request:prompt_cache_key:", "request:user:"} {
		if strings.HasPrefix(x.who.session, begin) {
			return true
		}
	}
	return false
}

// isPlain reports whether redaction changes nothing in a round.
func (x *exchange) isPlain(s *said, texts []string) bool {
	for i, c := range s.ours {
		if x.t.m.Redact(texts[i]) != texts[i] || x.t.m.Redact(string(c.args)) != string(c.args) {
			return false
		}
	}
	return true
}

// equip puts into a request what this package adds to it: the rounds of the
// recall tool that belong there, and its declaration. Where it can't be
// declared nothing is added.
func (x *exchange) equip() {
	d := dialects[x.format.Name()]
	if x.t.rounds == nil || d == nil || x.parsed.About().ServerSide != "" || hasToolItems(x.parsed.Messages()) {
		return
	}
	tools, ok := d.declare(x.body)
	if !ok {
		return
	}
	bare := len(tools) == len(x.body)
	body, err := x.t.rounds.weave(x, d, tools)
	if err == nil {
		body, err = appendElements(body, d.list(), x.inner)
	}
	if err != nil {
		x.warn(x.fault(opRecall, err))
		return
	}
	parsed, err := x.format.ParseRequest(body, x.t.cache)
	if err != nil {
		x.warn(x.fault(opRecall, err))
		return
	}
	x.parsed, x.body, x.dialect, x.bare = parsed, body, d, bare
}

// declareLate declares the tool in a request without any, where its view was
// compacted.
func (x *exchange) declareLate() {
	if x.dialect == nil || !x.bare {
		return
	}
	if x.res.Replayed == 0 && !x.res.Triggered {
		x.dialect = nil // nothing can be recalled, and the model knows of no tool
		return
	}
	if body, err := x.dialect.only(x.sent); err == nil {
		x.sent = body
	}
}

// held is an answer that was read.
type held struct {
	resp   *http.Response
	raw    []byte
	err    error // what ended the reading
	pieces *pieces
}

// hold reads an answer; nil = it is none that can be read, and is as it was.
func hold(resp *http.Response) *held {
	kind := countable(resp)
	if kind == notCounted || codingOf(resp) != "" {
		return nil
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if len(raw) == maxAnswer {
		resp.Body = joined{io.MultiReader(bytes.NewReader(raw), resp.Body), resp.Body}
		return nil
	}
	h := &held{resp: resp, raw: raw, err: err, pieces: split(raw, kind == stream)}
	if err != nil {
		h.pieces = &pieces{} // what is cut off is handed on as it is
	}
	return h
}

// response is the answer as it came.
func (h *held) response() *http.Response {
	_ = h.resp.Body.Close()
	h.resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(h.raw), failed{h.err}))
	return h.resp
}

// changed is the answer as its pieces are now.
func (h *held) changed() *http.Response {
	h.raw = h.pieces.bytes()
	if h.resp.ContentLength >= 0 {
		h.resp.ContentLength = int64(len(h.raw))
		h.resp.Header.Del("Content-Length")
	}
	return h.response()
}
