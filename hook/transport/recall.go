package transport

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/agentcompact/compact/compact"
)

// Recall declares the recall tool ([compact.RecallTool]) in the requests, and
// answers the model's calls of it from the archive: the model is asked again
// before the caller sees anything of it. Each request of a conversation that has
// tools declares it, behind them, from the first; one without tools from its
// first compaction on. A request that brings a tool of that name is left alone.
//
// A round of the tool stays in the later requests of the conversation, where it
// was, as long as this process remembers it (the last 256 KiB for each agent of a
// session). One whose bytes redaction would change is left out whole, and so
// are all in another process. Other calls in the same answer reach the caller
// without ours.
//
// From the first compaction on an answer is held back until it has ended, also
// where it is a stream: whether it recalls anything is known then. Before it,
// streams are handed on as they come, and only calls of tools wait for the end. At most 8 rounds are answered for one request; what the model
// asks for after that is left out of the answer.
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
	came := x.body
	var inner []json.RawMessage // of this request: rounds that the caller does not see
	plain := true               // redaction changes nothing in them
	for n := 0; ; n++ {
		resp, err := x.run()
		if err != nil || x.dialect == nil {
			return resp, err
		}
		if x.live(resp) {
			return resp, nil
		}
		h := hold(resp, x.dialect)
		if h == nil {
			return resp, nil
		}
		said, ok := x.dialect.read(h.pieces)
		if !ok || len(said.ours) == 0 {
			if ok && plain && len(inner) > 0 {
				x.t.rounds.keep(x, came, round{before: inner, said: said.shown})
			}
			return h.response(), nil
		}
		texts := x.recall(said.ours, n)
		x.recalled(len(said.ours))
		plain = plain && x.isPlain(said, texts)
		if said.others > 0 || n == maxRecalls {
			x.dialect.strip(h.pieces, said)
			if plain {
				r := round{before: inner, said: said.shown}
				if said.others > 0 {
					r.beside = &beside{said: said, texts: texts}
				}
				x.t.rounds.keep(x, came, r)
			}
			return h.changed(), nil
		}
		_ = h.resp.Body.Close()
		inner = append(inner, x.dialect.round(said, texts)...)
		again := *x
		again.body, again.inner = came, inner
		again.parsed, again.res, again.sent, again.dialect = nil, nil, nil, nil
		x = &again
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
	x.parsed, x.body, x.dialect = parsed, body, d
}

// declareLate declares the tool in a request without any, where its view was
// compacted.
func (x *exchange) declareLate() {
	if x.dialect == nil || hasTools(x.body) {
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
func hold(resp *http.Response, d dialect) *held {
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
