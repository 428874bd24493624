package transport

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/slope"
)

// BenchmarkAnswerLength measures how the time of reading an answer grows with its
// length: for the usage, in a document or in n events of a stream, and for recall calls
// in a stream that is passed on as it arrives.
func BenchmarkAnswerLength(b *testing.B) {
	text := func(n int) string {
		return events(n) + "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1234}}\n\n"
	}
	read := func(b *testing.B, body io.Reader) {
		if _, err := io.CopyBuffer(io.Discard, struct{ io.Reader }{body}, make([]byte, 4096)); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("usage of a stream", func(b *testing.B) {
		slope.Report(b, func(n int) func() {
			t := text(n)
			return func() { read(b, newMeter(io.NopCloser(strings.NewReader(t)), stream, func(int) {})) }
		})
	})
	b.Run("usage of a document", func(b *testing.B) {
		slope.Report(b, func(n int) func() {
			t := fmt.Sprintf(`{"choices":[{"message":{"content":%q}}],"usage":{"prompt_tokens":1234}}`, strings.Repeat("\"word\"\n ", 6*n))
			return func() { read(b, newMeter(io.NopCloser(strings.NewReader(t)), document, func(int) {})) }
		})
	})
	b.Run("live stream", func(b *testing.B) {
		slope.Report(b, func(n int) func() {
			t := text(n)
			return func() { read(b, &live{body: io.NopCloser(strings.NewReader(t)), most: maxAnswer}) }
		})
	})
}
