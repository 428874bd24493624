package transport

import (
	"bytes"
	"io"
	"net/http"
)

// held is an answer that was read to its end.
type held struct {
	resp   *http.Response
	raw    []byte
	err    error // the error that ended reading, if any
	pieces *pieces
}

// hold reads an answer to its end. It returns nil for an answer that is neither
// JSON nor an event stream, that is compressed, or that is too large; its body is
// then still complete.
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
		h.pieces = &pieces{} // an incomplete answer is passed on unchanged
	}
	return h
}

// response returns the answer as received.
func (h *held) response() *http.Response {
	_ = h.resp.Body.Close()
	h.resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(h.raw), failed{h.err}))
	return h.resp
}

// changed returns the answer with its edited pieces.
func (h *held) changed() *http.Response {
	h.raw = h.pieces.bytes()
	if h.resp.ContentLength >= 0 {
		h.resp.ContentLength = int64(len(h.raw))
		h.resp.Header.Del("Content-Length")
	}
	return h.response()
}
