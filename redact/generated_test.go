package redact

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/secretgen"
)

const (
	drawnSeed = 20251122 // half of the values are drawn with this seed
	otherSeed = 77003    // and half with this seed
)

// leastFound is the minimum share of secrets to find, in percent. The held-out shapes
// are a measure, not a goal.
var leastFound = []struct {
	class   secretgen.Class
	percent float64
}{
	{secretgen.Class{}, 97},
	{secretgen.Class{Hard: true}, 85},
	{secretgen.Class{HeldOut: true}, 95},
	{secretgen.Class{Hard: true, HeldOut: true}, 65},
}

// TestRandomSecretsInAgentShapes measures the share of random secrets found in the
// texts of package secretgen, and the share of flagged look-alikes.
func TestRandomSecretsInAgentShapes(t *testing.T) {
	r := newRedactor(t, Options{})
	redact := func(s string) string { return r.Text(s).String() }
	drawn, other := secretgen.Measure(redact, 4, drawnSeed), secretgen.Measure(redact, 4, otherSeed)
	t.Logf("seed %d\n%s", drawnSeed, drawn.Table())
	t.Logf("seed %d\n%s", otherSeed, other.Table())
	for _, r := range []secretgen.Report{drawn, other} {
		for _, least := range leastFound {
			if got := r.Tally[least.class]; got.Percent() < least.percent {
				t.Errorf("%+v: %v, want %v%%", least.class, got, least.percent)
			}
		}
		for _, held := range []bool{false, true} {
			if got := r.Tally[secretgen.Class{Clean: true, HeldOut: held}]; got.Percent() > 4 {
				t.Errorf("%v of the look-alikes are flagged, held out: %v", got, held)
			}
		}
	}
	if dir := os.Getenv("COMPACT_REDACTION_REPORT"); dir != "" {
		writeWrong(t, dir, append(drawn.Wrong, other.Wrong...))
	}
}

// writeWrong writes the missed secrets and false findings. The texts of the held-out
// shapes go to a separate file.
func writeWrong(t *testing.T, dir string, wrong []secretgen.Wrong) {
	t.Helper()
	files := map[string]*strings.Builder{"generated": {}, "generated.heldout": {}}
	for _, w := range wrong {
		b := files[map[bool]string{false: "generated", true: "generated.heldout"}[w.Shape.HeldOut]]
		fmt.Fprintf(b, "%s hard=%v\n\t%q\n\t%q\n", w.Shape.ID(), w.Shape.Hard, w.Text, w.Out)
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoGeneratedValueIsOneOfACorpus keeps the two kinds of measurement independent.
func TestNoGeneratedValueIsOneOfACorpus(t *testing.T) {
	known := map[string]bool{}
	for _, s := range readCorpus(t) {
		for _, secret := range s.Secrets {
			known[secret] = true
		}
	}
	for _, shape := range secretgen.Shapes() {
		for seed := range uint64(4) {
			for _, secret := range shape.Draw(drawnSeed<<16 + seed).Secrets {
				if known[secret] {
					t.Errorf("%s draws %q", shape.ID(), secret)
				}
			}
		}
	}
}
