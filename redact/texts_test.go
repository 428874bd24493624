package redact

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/behavior"
	"github.com/agentcompact/compact/internal/secretgen"
)

// Texts with secrets of all shapes, and the texts of the tests, are redacted as recorded.
func TestTextsAreRedactedAsRecorded(t *testing.T) {
	inputs := behavior.Texts(t, "testdata/inputs.txt")
	book := behavior.New(t, "testdata/texts.txt")
	full := Options{PII: true, Strict: true, Pseudonyms: bytes.Repeat([]byte("k"), 16)}
	for i, o := range []Options{{}, full} {
		r := newRedactor(t, o)
		record := func(name string, texts []string) {
			var out strings.Builder
			for _, text := range texts {
				redacted := r.Text(text)
				fmt.Fprintf(&out, "%q\n", redacted.String())
			}
			book.Line("%d %s: %s", i, name, book.Hash([]byte(out.String())))
		}
		for _, s := range secretgen.Shapes() {
			texts := make([]string, 6)
			for k := range texts {
				texts[k] = s.Draw(uint64(1000 + k)).Text
			}
			record(s.Name, texts)
		}
		const block = 25
		for from := 0; from < len(inputs); from += block {
			record(fmt.Sprintf("texts from %d", from), inputs[from:min(from+block, len(inputs))])
		}
	}
	book.Check()
}
