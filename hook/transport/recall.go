package transport

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/agentcompact/compact/compact"
)

// Recall declares the recall tool ([compact.RecallTool]) in the requests, and answers the model's
// calls of this tool from the archive: the transport sends the request again with the result, and
// the caller does not see the call. In a conversation with tools, every request declares the tool
// after the other tools. In a conversation without tools, only the requests after the first
// compaction declare it. The tool is not declared if the request has a tool of that name, or if
// Gemini does not accept tools in it (cachedContent, a responseMimeType).
//
// A round of the tool is inserted again into later requests of the conversation, at its place, as
// long as this process remembers it (the last 256 KiB for each agent of a session). A round is left
// out if redaction would change its bytes, or if another process made it. Other calls in the same
// answer reach the caller without the calls of the tool. The provider can store answers of the
// Responses API. A later request of this process that continues a stored answer
// (previous_response_id) gets the results of the recall calls in it. A request that reads or
// deletes a stored answer (/responses/{id}) reaches all of its parts. Background requests do not
// declare the tool.
//
// A stream of events is passed on as it arrives: text, reasoning and the calls of other tools. From
// a recall call on, the stream is held until that answer has ended; the next answer continues the
// same stream, as one message. The usage of the stream has the output of all answers, and the
// prompt of the last one, by which callers measure their context. An inner request with a transient
// failure is retried up to two times, 0.5 to 8 s later; after that the stream ends with the error.
// Reasoning that led to a recall call gets a mark in place of its signature (Anthropic: unless
// other calls follow). Every process with this option removes marked reasoning from later requests,
// also from those that compact or count a history at the provider. An array of Gemini (a stream
// without alt=sse) is passed on in the same way, element by element. Any other answer is held until
// it has ended.
//
// A request with the tool asks for an answer without compression. If a gateway compresses the
// answer nevertheless, the caller gets it decompressed. If there is no decoder (see [Coding]), the
// request is sent again without the tool, and so are later requests to this host.
//
// At most 8 rounds are answered for one request. The result of a ninth one tells the model
// that no more can be recalled; later recall calls are left out of the answer.
func Recall() Option { return func(t *Transport) { t.rounds = newRounds() } }

// maxRecalls limits the rounds of recall for one request.
const maxRecalls = 8

// maxAnswer is the size in bytes above which an answer is passed on unread.
const maxAnswer = 64 << 20

// answer sends the request, and sends it again as long as the answer calls the
// recall tool.
func (x *exchange) answer() (*http.Response, error) {
	if x.t.rounds == nil {
		return x.run()
	}
	a := &asking{x: x, came: x.body, plain: true}
	for {
		resp, err := a.x.run()
		if err == nil && a.opaque(resp) {
			continue
		}
		if err != nil || a.x.dialect == nil || a.live(resp) {
			return resp, err
		}
		h := hold(resp)
		if h == nil {
			return resp, nil
		}
		d := a.x.dialect
		said, ok := d.read(h.pieces)
		switch {
		case !ok:
			return h.response(), nil
		case len(said.ours) == 0:
			a.link(said, nil)
			a.keep(said, nil)
			return a.complete(h, h.response), nil
		case !a.take(said):
			d.strip(h.pieces, said)
			return a.complete(h, h.changed), nil
		}
		a.show(d, h, said)
		_ = h.resp.Body.Close()
	}
}

// asking is one request of the caller, for which the model may be called several
// times.
type asking struct {
	x     *exchange         // the last request
	ctx   context.Context   // context of the next requests once an answer has begun; nil = none has begun
	came  []byte            // the body as received from the caller
	inner []json.RawMessage // rounds of the recall tool that are hidden from the caller
	prior []json.RawMessage // the parts of the earlier answers that the caller receives, too
	plain bool              // redaction changes nothing in the rounds
	n     int               // number of repeated model calls
	first string            // Responses: id of the first answer, which the caller's stream has; "" = not streamed
	ids   []string          // Responses: ids of the answers so far
	array bool              // the answer that has begun is a JSON array

	container string // Anthropic: the container of the last answer; "" = none
}

// take answers the calls of the recall tool in an answer. It reports whether the
// model must be called again; a.x is then the next request.
func (a *asking) take(s *said) (more bool) {
	if s.cut && s.others == 0 && s.id == "" { // an answer without an id is not stored, so nothing waits for the results
		a.keep(s, nil)
		return false
	}
	texts := a.x.recall(s.ours, a.n)
	a.x.recalled(len(s.ours))
	s.unknown, a.container = s.isUnknown(a.x.body), cmp.Or(s.container, a.container)
	a.link(s, texts)
	a.plain = a.plain && a.x.isPlain(s, texts)
	switch {
	case s.others > 0:
		a.keep(s, &beside{said: s, texts: texts})
		return false
	case a.n > maxRecalls, s.cut:
		a.keep(s, nil)
		return false
	}
	a.inner = append(a.inner, a.x.dialect.round(s, texts)...)
	a.n++
	a.renew()
	return true
}

// renew builds the next request: the caller's body with all rounds so far.
func (a *asking) renew() {
	again := *a.x
	again.body, again.inner = withContainer(a.came, a.container), a.inner
	if a.ctx != nil {
		again.req = a.x.req.WithContext(a.ctx)
	}
	again.parsed, again.res, again.sent, again.dialect = nil, nil, nil, nil
	a.x = &again
}

// keep remembers the hidden rounds that led to the last answer, unless redaction
// would change them.
func (a *asking) keep(s *said, b *beside) {
	if a.plain && (len(a.inner) > 0 || b != nil) {
		a.x.t.rounds.keep(a.x, a.came, round{before: a.inner, prior: a.prior, said: s.shown, beside: b})
	}
}

// recall returns the answer to each call. n is the number of repeated model calls.
func (x *exchange) recall(calls []recallCall, n int) []string {
	texts := make([]string, len(calls))
	var opts []compact.ToolOption
	for i, c := range calls {
		if n >= maxRecalls {
			texts[i] = recallTool + ": no more can be recalled for this answer"
			continue
		}
		switch {
		case x.shared() && x.res == nil: // without a view, no reference was shown
			texts[i] = recallTool + ": nothing can be recalled now"
			continue
		case x.shared():
			opts = append(opts[:0], compact.ToolShown(x.res))
		case x.res != nil:
			opts = append(opts[:0], compact.ToolView(x.res))
		}
		text, err := compact.RecallTool(x.t.m, opts...).Call(x.req.Context(), x.who.session, c.args)
		if err != nil && x.req.Context().Err() == nil { // otherwise the caller has given up, which is no failure
			x.warn(x.fault(opRecall, err))
		}
		texts[i] = text
	}
	return texts
}

// shared reports whether the session's id is derived, so that unrelated
// conversations with the same beginning can share it.
func (x *exchange) shared() bool {
	for _, begin := range []string{compact.UnnamedSession, "request:prompt_cache_key:", "request:user:"} {
		if strings.HasPrefix(x.who.session, begin) {
			return true
		}
	}
	return false
}

// isPlain reports whether redaction leaves a round unchanged.
func (x *exchange) isPlain(s *said, texts []string) bool {
	for i, c := range s.ours {
		if x.t.m.Redact(texts[i]) != texts[i] || x.t.m.Redact(string(c.args)) != string(c.args) {
			return false
		}
	}
	return true
}

// equip adds the declaration of the recall tool and the remembered rounds to a request. It adds
// nothing if the tool can't be declared: Gemini refuses tools together with cachedContent.
func (x *exchange) equip() {
	d, about := dialects[x.format.Name()], x.parsed.About()
	if x.t.rounds == nil || d == nil || about.ServerSide != "" || about.Cached != "" || hasToolItems(x.parsed.Messages()) || x.t.rounds.opaque.has(x.req.URL.Host) {
		return
	}
	tools, ok := d.declare(x.body)
	if !ok || asksForSeveral(x.body) {
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

// asksForSeveral reports whether a request asks for several answers at once. If one of them
// called the recall tool, the others would have no place in the next request, so the model
// does not get the tool.
func asksForSeveral(body []byte) bool {
	if !bytes.Contains(body, []byte(`"n"`)) && !bytes.Contains(body, []byte("andidate")) {
		return false // the usual case needs no parser
	}
	at, err := fields(body, "n", "generationConfig", "generation_config")
	if err != nil {
		return false
	}
	n := indexOf(at["n"].Of(body))
	for _, name := range []string{"generationConfig", "generation_config"} {
		config := obj(at[name].Of(body))
		n = max(n, indexOf(config["candidateCount"]), indexOf(config["candidate_count"]))
	}
	return n > 1
}

// declareLate declares the tool in a request without tools if its view was
// compacted.
func (x *exchange) declareLate() {
	if x.dialect == nil || !x.bare {
		return
	}
	if x.res.Replayed == 0 && !x.res.Triggered {
		x.dialect = nil // nothing was removed, so nothing can be recalled
		return
	}
	if body, err := x.dialect.only(x.sent); err == nil {
		x.sent = body
	}
}
