package oracle

import (
	"fmt"
	"strings"
	"testing"
)

// session makes about 400 KB of transcript, and the same transcript with a secret
// every two kilobytes.
func session(b *testing.B) (clean, many string) {
	b.Helper()
	const size = 400 << 10
	var text strings.Builder
	r := redactor(b)
	for _, path := range shared(b, "COMPACT_TRANSCRIPTS", "transcripts", "chat/*.jsonl*") {
		if text.Len() >= size {
			break
		}
		lines(b, path, func(line []byte) {
			if len(line) < 16<<10 && len(r.Find(string(line))) == 0 && text.Len() < size {
				text.Write(line)
				text.WriteByte('\n')
			}
		})
	}
	clean = text.String()[:size]
	var with strings.Builder
	for i := 0; i+2048 <= size; i += 2048 {
		with.WriteString(clean[i : i+2048])
		fmt.Fprintf(&with, " GITHUB_TOKEN=ghp_%036d ", i*7919+1234567)
	}
	return clean, with.String()
}

// BenchmarkBesideGitleaks measures this redactor and gitleaks on the same text, whole and in
// messages of 4 KB.
func BenchmarkBesideGitleaks(b *testing.B) {
	clean, many := session(b)
	r, d := redactor(b), gitleaks(b)
	for _, t := range []struct{ name, text string }{{"clean", clean}, {"many", many}} {
		for _, size := range []int{len(t.text), 4 << 10} {
			run := func(tool string, do func(string)) {
				b.Run(fmt.Sprintf("%s/%s/%dKB", tool, t.name, size>>10), func(b *testing.B) {
					b.SetBytes(int64(len(t.text)))
					for b.Loop() {
						for rest := t.text; len(rest) > 0; {
							n := min(size, len(rest))
							do(rest[:n])
							rest = rest[n:]
						}
					}
				})
			}
			run("redact", func(s string) { r.Text(s) })
			run("gitleaks", func(s string) { d.DetectString(s) })
		}
	}
}
