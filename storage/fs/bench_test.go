package fs_test

import (
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/record"
)

func benchSession(b *testing.B) *record.Session {
	b.Helper()
	s, err := record.OpenSession(b.Context(), open(b, b.TempDir()), "s")
	must(b, err)
	return s
}

func benchLines(size int) []redact.Text {
	var lines []redact.Text
	for range size / 1024 {
		lines = append(lines, raw(`{"role":"tool","content":"`+string(make1k())+`"}`))
	}
	return lines
}

func make1k() []byte {
	b := make([]byte, 990)
	for i := range b {
		b[i] = 'a' + byte(i%26)
	}
	return b
}

// BenchmarkStep writes one whole step; every part of the step is durable.
func BenchmarkStep(b *testing.B) {
	for name, size := range map[string]int{"100KB": 100 << 10, "10MB": 10 << 20} {
		b.Run(name, func(b *testing.B) {
			s, lines := benchSession(b), benchLines(size)
			b.SetBytes(int64(size))
			for n := 1; b.Loop(); n++ {
				must(b, second(s.Transcript(b.Context(), n, lines)))
				must(b, second(s.Summary(b.Context(), n, redact.Lit(`{"summary":"short"}`))))
				must(b, s.Events(b.Context(), lines[:5]))
				must(b, second(s.Commit(b.Context(), n, redact.Lit(`{"v":1}`))))
			}
		})
	}
}

func BenchmarkEvents(b *testing.B) {
	s, lines := benchSession(b), benchLines(5<<10)
	for b.Loop() {
		must(b, s.Events(b.Context(), lines))
	}
}

// BenchmarkHead measures the check before each model call that no other process
// has compacted the session.
func BenchmarkHead(b *testing.B) {
	s := benchSession(b)
	must(b, second(s.Transcript(b.Context(), 1, nil)))
	must(b, second(s.Commit(b.Context(), 1, redact.Lit(`{"v":1}`))))
	for b.Loop() {
		must(b, second(s.Head(b.Context())))
	}
}

// BenchmarkOpenSession reads the manifest of a session of 200 steps.
func BenchmarkOpenSession(b *testing.B) {
	a := open(b, b.TempDir())
	s, err := record.OpenSession(b.Context(), a, "s")
	must(b, err)
	for n := range 200 {
		must(b, second(s.Transcript(b.Context(), n+1, nil)))
		must(b, second(s.Commit(b.Context(), n+1, redact.Lit(`{"v":1}`))))
	}
	for b.Loop() {
		must(b, second(record.OpenSession(b.Context(), a, "s")))
	}
}
