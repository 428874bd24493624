package transport_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
)

func packedBy(t *testing.T, body string, with func(io.Writer) io.WriteCloser) string {
	t.Helper()
	var b bytes.Buffer
	w := with(&b)
	if _, err := w.Write([]byte(body)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A body that needs no compaction is sent as the received bytes; a compacted
// one is sent uncompressed.
func TestBodiesThatTheClientCompressedAreRead(t *testing.T) {
	raw := func(w io.Writer) io.WriteCloser {
		f, err := flate.NewWriter(w, flate.BestSpeed)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for name, c := range map[string]struct {
		coding string
		with   func(io.Writer) io.WriteCloser
	}{
		"gzip": {"GZIP", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }}, "x-gzip": {"x-gzip", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }},
		"zlib": {"deflate", func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }}, "flate": {"deflate", raw},
	} {
		for _, f := range forms() {
			r, plain := newRig(t, compact.Config{}), newRig(t, compact.Config{})
			r.server.Lenient = true
			for i, rounds := range []int{2, 60} {
				body := f.body("Fix it.", rounds, 300)
				packed := packedBy(t, body, c.with)
				req := r.request(transport.WithSession(context.Background(), "s"), f.path, packed)
				req.Header.Set("Content-Encoding", c.coding)
				r.do(req)
				got := r.server.Requests()[i]
				if i == 0 {
					if string(got.Body) != packed || got.Header.Get("Content-Encoding") != c.coding {
						t.Errorf("%s, %v: a different body was sent, as %q", name, f, got.Header.Get("Content-Encoding"))
					}
					continue
				}
				plain.post(f, body)
				if string(got.Body) != plain.got()[0] || got.Header.Get("Content-Encoding") != "" || len(got.Body) >= len(body) {
					t.Errorf("%s, %v: %d bytes were sent as %q; want %d", name, f, len(got.Body), got.Header.Get("Content-Encoding"), len(plain.got()[0]))
				}
			}
			r.quiet()
		}
	}
}

// unwrapped is a reader that records its Close.
type unwrapped struct {
	io.Reader
	closed *atomic.Int64
}

func (u unwrapped) Close() error { u.closed.Add(1); return nil }

func TestKnownCodingsAreRead(t *testing.T) {
	var closed atomic.Int64
	named := transport.Coding("X-Own", func(packed io.Reader) (io.Reader, error) {
		z, err := gzip.NewReader(packed)
		return unwrapped{z, &closed}, err
	})
	f := forms()[0]
	body := f.body("Fix it.", 60, 300)
	packed := packedBy(t, body, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
	for name, read := range map[string]bool{"x-own": true, " X-OWN ": true, "x-other": false, "x-own, gzip": false} {
		closed.Store(0)
		r := newRig(t, compact.Config{}, named)
		r.server.Lenient = true
		req := r.request(transport.WithSession(context.Background(), "s"), f.path, packed)
		req.Header.Set("Content-Encoding", name)
		r.do(req)
		if got := r.server.Requests()[0]; read == (string(got.Body) == packed) || read != (closed.Load() == 1) {
			t.Errorf("%q: %d bytes were sent as %q, %d readers were closed", name, len(got.Body), got.Header.Get("Content-Encoding"), closed.Load())
		}
	}
}

func TestABodyNotInItsEncodingIsSentUnchanged(t *testing.T) {
	f := forms()[0]
	whole := packedBy(t, f.body("Fix it.", 60, 300), func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
	for name, c := range map[string]struct {
		body string
		err  error
	}{
		"no gzip": {`{"messages":[]}`, gzip.ErrHeader}, "cut off": {whole[:len(whole)/2], io.ErrUnexpectedEOF},
		"a bomb": {packedBy(t, strings.Repeat("x", 200_000), func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }), transport.ErrTooLarge},
	} {
		for _, strict := range []bool{false, true} {
			opts := []transport.Option{transport.MaxBody(100_000)}
			if strict {
				opts = append(opts, transport.Strict())
			}
			r := newRig(t, compact.Config{}, opts...)
			r.server.Lenient = true
			req := r.request(context.Background(), f.path, c.body)
			req.Header.Set("Content-Encoding", "gzip")
			resp, err := r.client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if strict {
				if e := transport.ErrorOf(resp); e == nil || e.Op != "read" || !errors.Is(e, c.err) || len(r.got()) != 0 {
					t.Errorf("%s, strict: %v, %d requests sent; want err and 0", name, e, len(r.got()))
				}
				continue
			}
			if got := r.server.Requests(); len(got) != 1 || string(got[0].Body) != c.body || got[0].Header.Get("Content-Encoding") != "gzip" || resp.StatusCode != http.StatusOK {
				t.Errorf("%s: %d requests, %s, want 1", name, len(got), resp.Status)
			}
			if len(r.errs) != 1 || !errors.Is(r.errs[0], c.err) {
				t.Errorf("%s: reported %v", name, r.errs)
			}
		}
	}
}
