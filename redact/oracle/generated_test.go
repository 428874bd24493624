package oracle

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/secretgen"
	"github.com/agentcompact/compact/redact"
)

// TestRandomSecretsBesideGitleaks runs this project and gitleaks over the random
// secrets of package secretgen. The table has four columns for each of the two. It
// fails if gitleaks finds more in a class of shapes.
func TestRandomSecretsBesideGitleaks(t *testing.T) {
	r, d := redactor(t), gitleaks(t)
	beside := func(text string) string {
		for _, f := range d.DetectString(text) {
			text = strings.ReplaceAll(text, f.Secret, redact.Placeholder)
		}
		return text
	}
	for _, seed := range []uint64{20251122, 77003} {
		ours := secretgen.Measure(func(s string) string { return r.Text(s).String() }, 2, seed)
		theirs := secretgen.Measure(beside, 2, seed)
		t.Logf("seed %d: redact, then gitleaks\n%s", seed, ours.Table(theirs))
		for _, c := range []secretgen.Class{{}, {Hard: true}, {HeldOut: true}, {Hard: true, HeldOut: true}} {
			if ours.Tally[c].Found < theirs.Tally[c].Found {
				t.Errorf("%+v: %v, gitleaks %v", c, ours.Tally[c], theirs.Tally[c])
			}
		}
	}
}
