package compact

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/agentcompact/compact/internal/lookup"
)

// For every request of the model and every text, the answer is within its byte limit.
// It is valid UTF-8 if the text is.
func FuzzRecallArguments(f *testing.F) {
	for _, arguments := range []string{
		`{"ref":"3f9a2c1b77de"}`, `{"ref":"x","head":3}`, `{"ref":"x","tail":2}`, `{"ref":"x","lines":"2-9"}`,
		`{"ref":"x","pattern":"e+","context":2}`, `{"ref":"turn:7","lines":"9"}`, `[]`, `{"ref":1}`, `{"ref":"x","lines":"9223372036854775807-9223372036854775807"}`,
	} {
		f.Add(arguments, strings.Repeat("eins\nzwei\n\ndrei äöü\n", 40), uint16(300))
		f.Add(arguments, strings.Repeat("ä", 700), uint16(256))
	}
	f.Fuzz(func(t *testing.T, arguments, text string, size uint16) {
		bytes := max(int(size), recallLeast)
		q, err := parseRecall(json.RawMessage(arguments))
		if err != nil {
			return
		}
		got := q.answer(t.Context(), text, bytes)
		if len(got) > bytes {
			t.Errorf("%s: %d bytes of %d", arguments, len(got), bytes)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%s: cut inside of a character", arguments)
		}
		if _, err := lookup.ParseRef(q.Ref); err == nil && q.selections() == 0 && len(text) <= bytes && got != text {
			t.Errorf("%s: a text that fits came back as %q", arguments, got)
		}
	})
}

func TestAPatternOfAModelEndsWithItsContext(t *testing.T) {
	lines := []string{}
	long := strings.Repeat("a", 64<<10)
	for range 50 { // a minute, if nothing ended it
		lines = append(lines, long)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	q, err := parseRecall(json.RawMessage(`{"ref":"3f9a2c1b77de","pattern":".{0,999}!"}`)) // a second for a line of 64 KB
	if err != nil {
		t.Fatal(err)
	}
	if got := q.answer(ctx, strings.Join(lines, "\n"), 1000); !strings.Contains(got, "takes too long") {
		t.Errorf("the model gets %q, want text with %q", got, "takes too long")
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("the search took %v", took)
	}
}
