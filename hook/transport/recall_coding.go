package transport

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// A request that declares the recall tool asks for an answer without compression. Some
// gateways compress it nevertheless.

// readable decompresses an answer to a request with the recall tool, whose calls must be
// found. An answer in an unknown coding stays as it is.
func (x *exchange) readable(resp *http.Response) *http.Response {
	open := x.t.answerOpener(resp)
	if x.dialect == nil || open == nil {
		return resp
	}
	resp.Body = &unpacked{packed: resp.Body, open: open}
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength, resp.Uncompressed = -1, true
	return resp
}

// answerOpener returns the decoder for a compressed answer; nil = it is not compressed, or
// there is no decoder.
func (t *Transport) answerOpener(resp *http.Response) func(packed io.Reader) (io.Reader, error) {
	if resp.Body == nil {
		return nil
	}
	switch c := codingOf(resp); c {
	case "":
		return nil
	case unknown:
		return t.codings[strings.ToLower(strings.TrimSpace(strings.Join(resp.Header["Content-Encoding"], ",")))]
	default:
		return c.reader
	}
}

// unpacked is the decompressed body of an answer.
type unpacked struct {
	packed io.ReadCloser
	open   func(packed io.Reader) (io.Reader, error)

	mu    sync.Mutex // a body may be closed while it is read
	plain io.Reader
	err   error
}

func (u *unpacked) Read(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.plain == nil && u.err == nil {
		u.plain, u.err = u.open(u.packed)
	}
	if u.err != nil {
		return 0, u.err
	}
	return u.plain.Read(p)
}

func (u *unpacked) Close() error {
	err := u.packed.Close() // ends a read
	u.mu.Lock()
	defer u.mu.Unlock()
	if c, ok := u.plain.(io.Closer); ok {
		_ = c.Close()
	}
	if u.plain = nil; u.err == nil {
		u.err = http.ErrBodyReadAfterClose
	}
	return err
}

// opaque reports whether an answer is neither JSON nor an event stream, or is compressed in a way
// without a decoder here. Then later requests to the host do not declare the recall tool, and this
// request is sent again without it, because its answer could be a recall call, which the caller
// does not know.
func (a *asking) opaque(resp *http.Response) bool {
	if a.x.dialect == nil || a.n > 0 || resp.StatusCode != http.StatusOK {
		return false
	}
	form := resp.Header.Get("Content-Encoding")
	switch {
	case codingOf(resp) == unknown:
	case countable(resp) == notCounted:
		form = resp.Header.Get("Content-Type")
	default:
		return false
	}
	host := a.x.req.URL.Host
	a.x.t.rounds.opaque.first(host)
	p := &passed{recallTool, "its calls can't be read from answers in " + strconv.Quote(form) + ", so requests to " + host + " no longer declare it (see Coding)"}
	a.x.t.voice.once(a.x.req.Context(), host, a.x.fault(opRecall, p))
	_ = resp.Body.Close()
	a.renew()
	return true
}
