package redact

import (
	"bytes"
	"testing"

	"github.com/agentcompact/compact/internal/garble"
	share "github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/internal/secretgen"
)

// TestDamagedTextsAreRedactedOnce joins and damages texts of all shapes of secrets. None
// causes a panic or an endless loop, and a second redaction changes nothing.
func TestDamagedTextsAreRedactedOnce(t *testing.T) {
	seeds := append(fuzzSeeds(), garble.Literals(t)...)
	for _, s := range secretgen.Shapes() {
		seeds = append(seeds, s.Draw(7).Text)
	}
	full := newRedactor(t, Options{PII: true, Strict: true, Pseudonyms: bytes.Repeat([]byte("k"), 16)})
	for _, r := range []*Redactor{newRedactor(t, Options{}), full} {
		garble.Each(t, seeds, share.Of(40_000), 1, func(s string) {
			once := r.Text(s).String()
			if twice := r.Text(once).String(); twice != once {
				t.Errorf("text  %q\nonce  %q\ntwice %q", s, once, twice)
			}
		})
	}
}
