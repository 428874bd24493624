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

// A coding is how an answer is compressed; "" = not at all.
type coding string

const (
	gzipped  coding = "gzip"
	deflated coding = "deflate"
	unknown  coding = "unknown" // it can't be read here
)

// codingOf returns how an answer is compressed. What [http.Transport] asked for
// by itself it has also undone, and says nothing of it.
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

// maxPlain is how much of what was compressed is looked at, in bytes: a few
// bytes can stand for very many.
const maxPlain = 64 << 20

// reader returns what packed stands for, as far as it goes: what is cut off
// ends with an error, and what came before it is given first.
func (c coding) reader(packed io.Reader) (io.Reader, error) {
	switch c {
	case gzipped:
		return gzip.NewReader(packed)
	case deflated:
		b := bufio.NewReader(packed)
		if head, err := b.Peek(2); err == nil && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
			return zlib.NewReader(b)
		}
		return flate.NewReader(b), nil // what some servers mean by it
	}
	return packed, nil
}

// plain returns up to limit bytes of what packed stands for.
func (c coding) plain(packed []byte, limit int64) []byte {
	if c == "" {
		return packed
	}
	r, err := c.reader(bytes.NewReader(packed))
	if err != nil || c == unknown {
		return nil
	}
	out, _ := io.ReadAll(io.LimitReader(r, limit)) // what was cut off counts as far as it goes
	return out
}

// plain returns the text of an error.
func (x *exchange) plain(resp *http.Response, packed []byte) []byte {
	return x.coding(resp).plain(packed, maxError)
}

// coding is codingOf; it says once a conversation that an answer can't be read.
func (x *exchange) coding(resp *http.Response) coding {
	c := codingOf(resp)
	if c == unknown {
		p := &passed{"Content-Encoding of the answer", "no usage and no overflow can be read from " + strconv.Quote(resp.Header.Get("Content-Encoding")) + "; ask for gzip"}
		x.t.voice.once(x.req.Context(), x.who.session, x.fault(opAnswer, p))
	}
	return c
}
