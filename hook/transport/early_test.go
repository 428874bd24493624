package transport

import (
	"io"
	"testing"
)

// byBytes is a stream that arrives byte by byte. It must not be read to its end.
type byBytes struct {
	t    *testing.T
	text string
}

func (b *byBytes) Read(p []byte) (int, error) {
	if b.text == "" {
		b.t.Error("the stream is held to its end")
		return 0, io.EOF
	}
	p[0], b.text = b.text[0], b.text[1:]
	return 1, nil
}

func (b *byBytes) Close() error { return nil }

// A stream with lines that end with a carriage return alone is passed on at once,
// because its first event cannot be recognized.
func TestAStreamOfBareCarriageReturnsIsNotHeld(t *testing.T) {
	for _, text := range []string{"data: {}\rdata: {}\r\r", "\rdata: {}\r"} {
		e := &early{body: &byBytes{t, text}, again: func(overflow) io.ReadCloser {
			t.Error("another request is sent")
			return nil
		}}
		if n, err := e.Read(make([]byte, 64)); n == 0 || err != nil {
			t.Errorf("%q: %d bytes, %v", text, n, err)
		}
	}
}

// The first element of a list is the error, as in Gemini's streams.
func TestTheErrorInAListIsFound(t *testing.T) {
	for body, want := range map[string]string{
		`[{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}]`: "m",
		`{"error":{"code":400,"message":"m"}}`:                               "m",
		`{"error":"m"}`:                                                      "m",
		`{"detail":"m"}`:                                                     "m",
		`m`:                                                                  "m",
		`[]`:                                                                 "[]",
	} {
		if got := parseFailure([]byte(body)).Message; got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}
