package transport

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// A coding is the compression of an answer; "" = none.
type coding string

const (
	gzipped  coding = "gzip"
	deflated coding = "deflate"
	unknown  coding = "unknown" // not supported here
)

// codingOf returns how an answer is compressed. Compression that
// [http.Transport] itself requested is already undone and not visible.
func codingOf(resp *http.Response) coding {
	switch e := strings.ToLower(strings.TrimSpace(strings.Join(resp.Header["Content-Encoding"], ","))); e {
	case "", "identity":
		return ""
	case "gzip", "x-gzip":
		return gzipped
	case "deflate":
		return deflated
	}
	return unknown
}

// maxPlain limits the decompressed bytes that are read, because a few
// compressed bytes can expand to very many.
const maxPlain = 64 << 20

// reader returns a reader of the decompressed bytes. A truncated input yields
// its bytes first, then an error.
func (c coding) reader(packed io.Reader) (io.Reader, error) {
	switch c {
	case gzipped:
		return gzip.NewReader(packed)
	case deflated:
		b := bufio.NewReader(packed)
		if head, err := b.Peek(2); err == nil && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
			return zlib.NewReader(b)
		}
		return flate.NewReader(b), nil // some servers send raw deflate
	}
	return packed, nil
}

// plain returns up to limit decompressed bytes; nil if they can't be read. It returns
// uncompressed bytes unchanged. The limit has no effect on them.
func (c coding) plain(packed []byte, limit int64) []byte {
	if c == "" {
		return packed
	}
	r, err := c.reader(bytes.NewReader(packed))
	if err != nil || c == unknown {
		return nil
	}
	out, _ := io.ReadAll(io.LimitReader(r, limit)) // a truncated input is used up to its end
	return out
}

// plain returns the decompressed body of an error.
func (x *exchange) plain(resp *http.Response, packed []byte) []byte {
	return x.coding(resp).plain(packed, maxError)
}

// coding returns codingOf, and reports once for each conversation that answers
// can't be read.
func (x *exchange) coding(resp *http.Response) coding {
	c := codingOf(resp)
	if c == unknown {
		p := &passed{"Content-Encoding of the answer", "usage and overflow errors can't be read from " + strconv.Quote(resp.Header.Get("Content-Encoding")) + "; ask for gzip"}
		x.t.voice.once(x.req.Context(), x.who.session, x.fault(opAnswer, p))
	}
	return c
}
