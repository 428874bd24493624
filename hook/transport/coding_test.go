package transport_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/hex"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
)

// flusher is a compressor that can write out its buffer.
type flusher interface {
	io.WriteCloser
	Flush() error
}

// codings holds the readable encodings with their readers.
var codings = map[string]struct {
	name  string
	write func(io.Writer) flusher
	read  func(io.Reader) (io.Reader, error)
}{
	"gzip":                     {"gzip", func(w io.Writer) flusher { return gzip.NewWriter(w) }, func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	"deflate":                  {"deflate", func(w io.Writer) flusher { return zlib.NewWriter(w) }, func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }},
	"deflate without a header": {"deflate", func(w io.Writer) flusher { z, _ := flate.NewWriter(w, 6); return z }, func(r io.Reader) (io.Reader, error) { return flate.NewReader(r), nil }},
}

// packing is a proxy that compresses the answers of a server, event by event.
type packing struct {
	server http.Handler
	name   string
	write  func(io.Writer) flusher
}

func (p packing) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	out := &packed{ResponseWriter: w}
	w.Header().Set("Content-Encoding", p.name)
	out.z = p.write(&out.sent)
	p.server.ServeHTTP(out, q)
	_ = out.z.Close()
	out.Flush()
}

type packed struct {
	http.ResponseWriter
	z    flusher
	sent bytes.Buffer
}

func (p *packed) Write(b []byte) (int, error) { return p.z.Write(b) }

func (p *packed) Flush() {
	_ = p.z.Flush()
	_, _ = p.sent.WriteTo(p.ResponseWriter)
	if f, ok := p.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// Clients of a proxy request compressed answers. The transport reads their usage and
// handles their overflows, and the client gets the provider's bytes.
func TestCompressedAnswersAreReadAndReturnedUnchanged(t *testing.T) {
	for coding, c := range codings {
		for _, f := range append(guessed(), forms()[3]) {
			for _, inStream := range []bool{false, true} {
				r := newRig(t, tight)
				r.server.Window, r.server.InStream = 8_000, inStream
				h := httptest.NewServer(packing{r.server, c.name, c.write})
				r.url = h.URL
				req := r.request(transport.WithSession(context.Background(), "s"), f.path, f.body("Fix it.", 60, 200))
				req.Header.Set("Accept-Encoding", "gzip, deflate")
				resp, err := r.client.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Encoding") != c.name || resp.Uncompressed {
					t.Errorf("%s %v, in the stream %v: %s, %v", coding, f, inStream, resp.Status, resp.Header)
				}
				body, err := c.read(resp.Body)
				if err != nil {
					t.Fatalf("%s %v, in the stream %v: %v", coding, f, inStream, err)
				}
				answer, err := io.ReadAll(body)
				if err != nil || !strings.Contains(string(answer), "ok") || strings.Contains(string(answer), "context_length") {
					t.Errorf("%s %v, in the stream %v: %s, %v", coding, f, inStream, answer, err)
				}
				_ = resp.Body.Close()
				if len(r.got()) != 2 || len(r.results) != 2 {
					t.Errorf("%s %v, in the stream %v: %d requests, %d results; want 2 and 2", coding, f, inStream, len(r.got()), len(r.results))
				} else if f.wire != provider.Responses && !r.observed(r.results[1], 9_000) {
					t.Errorf("%s %v, in the stream %v: the bill was not reported", coding, f, inStream)
				}
				r.quiet()
				h.Close()
			}
		}
	}
}

func TestAnswersInOtherCodingsArePassedOnAndReportedOnce(t *testing.T) {
	for _, media := range []string{"application/json", "text/event-stream"} {
		for _, status := range []int{http.StatusOK, http.StatusBadRequest} {
			const answer = "\x0b\x02\x80 as brotli has it"
			r := newRig(t, compact.Config{}, transport.Base(sender(func(q *http.Request) (*http.Response, error) {
				_, err := io.Copy(io.Discard, q.Body)
				return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {media}, "Content-Encoding": {"br"}}, Body: io.NopCloser(strings.NewReader(answer)), Request: q}, err
			})))
			for range 3 {
				if got, text := r.post(forms()[0], forms()[0].body("x", 1, 1)); got != status || text != answer {
					t.Errorf("%s %d: %d %q, want %q", media, status, got, text, answer)
				}
			}
			if len(r.errs) != 1 || !strings.Contains(r.errs[0].Error(), `"br"`) {
				t.Errorf("%s %d: reported %v", media, status, r.errs)
			}
		}
	}
}

// Decompression is bounded, and bodies that are not in their declared encoding do no
// harm.
func TestInvalidCompressedAnswersAreReturned(t *testing.T) {
	var bomb bytes.Buffer
	z, err := gzip.NewWriterLevel(&bomb, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	for range 200 {
		_, _ = z.Write(zeros)
	}
	_ = z.Close()
	for name, text := range map[string]string{"nothing": "", "no gzip": "{}", "cut off": bomb.String()[:1000], "a bomb": bomb.String()} {
		for _, media := range []string{"application/json", "text/event-stream"} {
			for _, status := range []int{http.StatusOK, http.StatusBadRequest} {
				r := newRig(t, compact.Config{}, transport.Base(sender(func(q *http.Request) (*http.Response, error) {
					_, err := io.Copy(io.Discard, q.Body)
					return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {media}, "Content-Encoding": {"gzip"}}, Body: io.NopCloser(strings.NewReader(text)), Request: q}, err
				})))
				if got, answer := r.post(forms()[0], forms()[0].body("x", 1, 1)); got != status || answer != text {
					t.Errorf("%s %s %d: %d, %d bytes of %d", name, media, status, got, len(answer), len(text))
				}
				r.quiet()
			}
		}
	}
}

// gzippedText returns a document with a usage after a text.
func gzippedText(text string) string {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		panic(err)
	}
	_, _ = io.WriteString(z, `{"text":"`+text+`","usage":{"prompt_tokens":900}}`)
	_ = z.Close()
	return b.String()
}

// Both the stored part of a compressed answer and its decompressed size are bounded.
func TestCompressedAnswersAreReadUpToABound(t *testing.T) {
	noise := make([]byte, 1<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	for name, c := range map[string]struct {
		answer string
		told   bool
	}{
		"small":                 {gzippedText("x"), true},
		"large as compressed":   {gzippedText(hex.EncodeToString(noise)), false},
		"large as decompressed": {gzippedText(strings.Repeat("x", 65<<20)), false},
	} {
		r := newRig(t, compact.Config{}, transport.Base(sender(func(q *http.Request) (*http.Response, error) {
			_, err := io.Copy(io.Discard, q.Body)
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"gzip"}}, Body: io.NopCloser(strings.NewReader(c.answer)), Request: q}, err
		})))
		f := guessed()[0]
		if status, got := r.post(f, f.body("x", 10, 50)); status != http.StatusOK || got != c.answer {
			t.Errorf("%s: %d, %d bytes of %d, want %d", name, status, len(got), len(c.answer), http.StatusOK)
		}
		if told := r.observed(r.last(), 900); told != c.told {
			t.Errorf("%s: the bill was reported: %v, want %v", name, told, c.told)
		}
	}
}

// The caller already knows the encoding of the stream, so an answer in another encoding
// can't replace it.
func TestStreamIsReplacedOnlyInItsOwnCoding(t *testing.T) {
	f, n := forms()[3], 0
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, "event: response.failed\ndata: {\"response\":{\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"x\"}}}\n\n")
	_ = z.Close()
	r := newRig(t, tight, transport.Base(sender(func(q *http.Request) (*http.Response, error) {
		_, err := io.Copy(io.Discard, q.Body)
		n++
		resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader("data: {}\n\n")), Request: q}
		if n == 1 {
			resp.Header.Set("Content-Encoding", "gzip")
			resp.Body = io.NopCloser(bytes.NewReader(packed.Bytes()))
		}
		return resp, err
	})))
	if status, got := r.post(f, f.body("x", 60, 200)); status != http.StatusOK || got != packed.String() || n != 2 || len(r.errs) != 1 {
		t.Errorf("%d %q after %d requests, reported %v; want %d and 2", status, got, n, r.errs, http.StatusOK)
	}
}
