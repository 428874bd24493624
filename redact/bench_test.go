package redact

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/internal/cputime"
)

// transcript returns n bytes of a session: prose, code and tool output, without
// secrets. It uses the shared transcripts if they exist.
func transcript(b testing.TB, n int) string {
	b.Helper()
	paths, _ := filepath.Glob(filepath.Join(sharedDir(b, "COMPACT_TRANSCRIPTS", "transcripts"), "chat", "*.jsonl*"))
	var text strings.Builder
	r := newRedactor(b, Options{})
	for _, p := range paths {
		for line := range gzipLines(b, p) {
			if len(line) < 16<<10 && len(r.Find(string(line))) == 0 {
				text.Write(line)
				text.WriteByte('\n')
			}
			if text.Len() >= n {
				return text.String()[:n]
			}
		}
	}
	for text.Len() < n {
		text.WriteString(text.String())
	}
	return text.String()[:n]
}

// sprinkle puts a secret into text about every gap bytes, no two alike.
func sprinkle(text string, gap int) string {
	var b strings.Builder
	for i := 0; len(text) > 0; i++ {
		n := min(gap, len(text))
		b.WriteString(text[:n])
		text = text[n:]
		switch i % 4 {
		case 0:
			fmt.Fprintf(&b, " GITHUB_TOKEN=ghp_%s ", generated(36, letters(40)[i%30:]+"0123456789"))
		case 1:
			fmt.Fprintf(&b, " password: %s%d ", letters(9), i)
		case 2:
			fmt.Fprintf(&b, " Authorization: Bearer %s%06d ", letters(34), i)
		default:
			fmt.Fprintf(&b, " postgres://app:%s%d@db/prod ", letters(12), i)
		}
	}
	return b.String()
}

const benchSize = 400 << 10

func BenchmarkText(b *testing.B) {
	clean := transcript(b, benchSize)
	for _, c := range []struct {
		name, text string
	}{{"clean", clean}, {"many", sprinkle(clean, 2<<10)}} {
		b.Run(c.name+"/whole", func(b *testing.B) { benchText(b, c.text, len(c.text)) })
		b.Run(c.name+"/4KB", func(b *testing.B) { benchText(b, c.text, 4<<10) })
	}
}

// benchText redacts text in pieces of a size.
func benchText(b *testing.B, text string, size int) {
	r := newRedactor(b, Options{})
	r.Text(text)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	defer reportCPU(b, len(text), cputime.Used())
	for b.Loop() {
		for rest := text; len(rest) > 0; {
			n := min(size, len(rest))
			r.Text(rest[:n])
			rest = rest[n:]
		}
	}
}

// reportCPU reports the speed by processor time, which does not depend on other
// load.
func reportCPU(b *testing.B, bytes int, since time.Duration) {
	b.ReportMetric(float64(bytes)*float64(b.N)/(cputime.Used()-since).Seconds()/1e6, "MB/cpu-s")
}

func BenchmarkJSON(b *testing.B) {
	clean := transcript(b, benchSize)
	for _, c := range []struct {
		name, text string
	}{{"clean", clean}, {"many", sprinkle(clean, 2<<10)}} {
		raw := mustJSON(b, map[string]string{"role": "tool", "content": c.text})
		b.Run(c.name, func(b *testing.B) {
			r := newRedactor(b, Options{})
			r.JSON(raw)
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			defer reportCPU(b, len(raw), cputime.Used())
			for b.Loop() {
				r.JSON(raw)
			}
		})
	}
}

// BenchmarkSizes shows that the time per byte does not depend on the size: the
// same text in pieces, and sixteen times over.
func BenchmarkSizes(b *testing.B) {
	for _, size := range []int{4 << 10, 64 << 10, 1 << 20, 16 << 20} {
		text := strings.Repeat(transcript(b, 1<<20), max(1, size>>20))
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) { benchText(b, text, size) })
	}
}
