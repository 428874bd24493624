package redact

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRulesContainNoValueOfACorpus: no rule may contain a secret of the corpora that
// measure the rules.
func TestRulesContainNoValueOfACorpus(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, p := range paths {
		if strings.HasSuffix(p, "_test.go") {
			continue
		}
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(text)
	}
	for _, s := range readCorpus(t) {
		for _, secret := range s.Secrets {
			digits := run(secret, 0, len(secret), isDigit) == len(secret) // as in [0123456789]
			if len(secret) >= 8 && !digits && strings.Contains(source.String(), secret) {
				t.Errorf("%s: %q occurs in the source", s.ID, secret)
			}
		}
	}
}
