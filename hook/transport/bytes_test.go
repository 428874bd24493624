package transport_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/samples"
)

// someText returns a random text. Some texts are shorter than their placeholders, and
// some are written with escapes.
func someText(r *rand.Rand) string {
	words := []string{"word", "Größe", "日本語", "a\"b", "path/to/file.go", "\t", "🙂", "<tag>", "x", "é"}
	var b strings.Builder
	for range r.IntN([]int{4, 40, 900}[r.IntN(3)]) {
		b.WriteString(words[r.IntN(len(words))] + " ")
	}
	return b.String()
}

// ragged returns a request with results of any size.
func (f form) ragged(r *rand.Rand, rounds int) string {
	s := shapes[f.wire]
	var b strings.Builder
	fmt.Fprintf(&b, `{%s, "%s":[`+s.ask, f.fields, s.list, "Fix it.")
	for i := range rounds {
		fmt.Fprintf(&b, ","+s.round, i, someText(r)+".")
	}
	return b.String() + "]}"
}

// dense returns text of many tokens in few bytes.
func dense(r *rand.Rand, n int) string {
	const marks = "!@#$%^&*()_+-=[]{};:,.<>?/|~0123456789"
	b := make([]byte, n)
	for i := range b {
		b[i] = marks[r.IntN(len(marks))]
	}
	return string(b)
}

func (f form) denseBody(r *rand.Rand, rounds, most int) string {
	s := shapes[f.wire]
	var b strings.Builder
	fmt.Fprintf(&b, `{%s, "%s":[`+s.ask, f.fields, s.list, "Fix it.")
	for i := range rounds {
		fmt.Fprintf(&b, ","+s.round, i, dense(r, 1+r.IntN(most)))
	}
	return b.String() + "]}"
}

// With any preset, on any wire, no compaction makes a body larger in bytes.
func TestNoBodyGrowsInBytes(t *testing.T) {
	for _, preset := range compact.Presets() {
		for _, f := range forms() {
			if f.stream {
				continue
			}
			r := newRig(t, compact.Config{Preset: preset, Model: "gpt-4o", MaxContextTokens: 20_000})
			r.server.Lenient = true
			random := rand.New(rand.NewPCG(1, 2))
			changed := 0
			times := samples.Of(24)
			if os.Getenv("COMPACT_SOAK") != "" {
				times = 100
			}
			for k := range times {
				body := f.ragged(random, 1+random.IntN(80))
				if k%2 == 1 {
					body = f.denseBody(random, 1+random.IntN(400), []int{50, 80, 1000}[random.IntN(3)])
				}
				if status, answer := r.do(r.request(t.Context(), f.path, body)); status != http.StatusOK {
					t.Fatal(answer)
				}
				got := r.got()
				if sent := got[len(got)-1]; len(sent) > len(body) {
					t.Errorf("%s %v: %d bytes were received, %d were sent", preset, f, len(body), len(sent))
				} else if sent != body {
					changed++
				}
			}
			if changed == 0 {
				t.Errorf("%s %v: nothing was compacted", preset, f)
			}
		}
	}
}

// A placeholder has more bytes than characters. If it would make a short result longer
// on the wire, the result stays.
func TestShortResultsAreNotMaskedByMoreBytes(t *testing.T) {
	for _, f := range forms() {
		if f.stream {
			continue
		}
		r := newRig(t, compact.Config{Preset: "masking", Model: "gpt-4o"})
		r.server.Lenient = true
		random, s, masked := rand.New(rand.NewPCG(1, 2)), shapes[f.wire], 0
		for n := 24; n < 44; n++ {
			for _, text := range []string{dense(random, n), strings.Repeat("a ", n/2), strings.Repeat("é!", n/2)} {
				body := fmt.Sprintf(`{%s, "%s":[`+s.ask, f.fields, s.list, "Fix it.")
				for i := range 15 {
					result := "ok"
					if i == 1 {
						result = text
					}
					body += fmt.Sprintf(","+s.round, i, result)
				}
				body += "]}"
				r.do(r.request(t.Context(), f.path, body))
				got := r.got()
				if sent := got[len(got)-1]; len(sent) > len(body) {
					t.Errorf("%v, %q: %d bytes were received, %d were sent", f, text, len(body), len(sent))
				} else if sent != body {
					masked++
				}
			}
		}
		if masked == 0 {
			t.Errorf("%v: nothing was masked", f)
		}
	}
}
