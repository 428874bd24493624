package compact

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// TestPropertyTranscriptIsWholeDespiteItsReferences stores histories that lose, repeat
// and exchange messages: each transcript is read as it was stored, and each line is at
// its recorded place.
func TestPropertyTranscriptIsWholeDespiteItsReferences(t *testing.T) {
	plain, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		t.Fatal(err)
	}
	referred := 0
	for seed := range uint64(25) {
		rng := rand.New(rand.NewPCG(seed, 5))
		log, err := record.OpenSession(t.Context(), memory.New(), "s")
		if err != nil {
			t.Fatal(err)
		}
		var history []string
		var known []storedLine
		for step := 1; step <= 6; step++ {
			history = rewritten(rng, history)
			pieces := make([][]redact.Text, len(history))
			for i, l := range history {
				pieces[i] = []redact.Text{plain.Text(l[:5]), plain.Text(l[5:])}
			}
			content, stored := layOut(pieces, known)
			w, err := log.TranscriptOf(t.Context(), step, content)
			if err != nil {
				t.Fatal(err)
			}
			stored.in(w.Key.Base())
			known = stored.lines
			n := 0
			for line, err := range log.Whole(t.Context(), w.Key.Base()) {
				if err != nil || n == len(history) || string(line.Text) != history[n] {
					t.Fatalf("seed %d, step %d, line %d: %.40q, %v", seed, step, n+1, line.Text, err)
				}
				if at := known[n]; at.file != line.File || at.off != line.Off || at.number != line.Number {
					t.Fatalf("seed %d, step %d, the place of line %d is %+v, and the line is at %d of %s", seed, step, n+1, at, line.Off, line.File)
				}
				if n++; line.File != w.Key.Base() {
					referred++
				}
			}
			if n != len(history) {
				t.Fatalf("seed %d, step %d: %d lines of %d", seed, step, n, len(history))
			}
		}
	}
	if referred < 500 {
		t.Errorf("only %d lines were referred to, want at least 500", referred)
	}
}

// rewritten returns a history with a few messages removed, repeated and exchanged, and
// some new ones.
func rewritten(rng *rand.Rand, history []string) []string {
	out := slices.Clone(history)
	for range rng.IntN(4) {
		if len(out) < 4 {
			break
		}
		i, k := rng.IntN(len(out)), rng.IntN(len(out))
		switch rng.IntN(3) {
		case 0:
			out = slices.Delete(out, i, i+1)
		case 1:
			out = slices.Insert(out, i, out[k])
		case 2:
			out[i], out[k] = out[k], out[i]
		}
	}
	for range 3 + rng.IntN(9) {
		out = append(out, fmt.Sprintf(`{"n":%d,"content":"%s"}`, rng.Uint64(), strings.Repeat("x", 1+rng.IntN(700))))
	}
	return out
}
