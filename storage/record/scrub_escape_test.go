package record_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// A match that spans an escape, such as \n, does not stop a scrub, and the line stays
// valid JSON.
func TestScrubReplacesAMatchAcrossAnEscape(t *testing.T) {
	a := memory.New()
	s := session(t, a, "s")
	texts := []string{
		`the password is nginx-pass`, `\nginx-pass`, `C:\\nginx-pass`, `\u00e9nginx-pass`, `nginx-pass\n`, `nginx-pas\u0073`,
	}
	var lines []redact.Text
	for _, x := range texts {
		lines = append(lines, text(`{"role":"user","content":"%s"}`, x))
	}
	must(t, second(s.Transcript(t.Context(), 1, lines)))
	must(t, second(s.Commit(t.Context(), 1, text(`{"v":1}`))))
	for _, secret := range []string{"nginx-pass", `00e9nginx`, `nginx-pas\u00`} {
		must(t, second(s.Scrub(t.Context(), record.ScrubOptions{Find: finds(secret)})))
	}
	left := content(t, s, "transcript-pre-compact-001.jsonl")
	if strings.Contains(left, "nginx-pass") || strings.Contains(left, "nginx-pas") || !strings.Contains(left, `"content":"\n*`) {
		t.Errorf("left: %s, want text without %q, text without %q and text with %q", left, "nginx-pass", "nginx-pas", `"content":"\n*`)
	}
	wantOK(t, a, "s")
}

// untidy is an archive in which a dead writer left a file.
type untidy struct{ *memory.Archive }

func (untidy) Tidy(context.Context) (left []string, err error) { return []string{"a piece"}, nil }

// A scrub reports files that a dead writer left and that the archive cannot remove. A dry
// run removes nothing.
func TestScrubReportsWhatADeadWriterLeft(t *testing.T) {
	for _, dry := range []bool{true, false} {
		a := untidy{memory.New()}
		leaky(t, a)
		done, err := session(t, a, "s").Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked), DryRun: dry})
		must(t, err)
		if tidied := slices.Equal(done.Left, []string{"a piece"}); tidied == dry || dry && done.Left != nil {
			t.Errorf("dry run %v: left %q", dry, done.Left)
		}
	}
}
