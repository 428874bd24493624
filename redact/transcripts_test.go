package redact

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	part "github.com/agentcompact/compact/internal/samples"
)

// identifier matches values that must stay: ids of calls and messages, and UUIDs.
var identifier = regexp.MustCompile(`^(?:(?:call|toolu|msg|req|resp|chatcmpl)[_-]\w+|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})$`)

// TestTranscriptsAreLeftAlone counts the findings in recorded sessions. If
// COMPACT_REDACTION_REPORT names a folder, it writes them to a file there for reading.
func TestTranscriptsAreLeftAlone(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(sharedDir(t, "COMPACT_TRANSCRIPTS", "transcripts"), "chat", "*.jsonl*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	r := newRedactor(t, Options{})
	var out strings.Builder
	stats, bytes := Stats{}, 0
	for i, p := range paths {
		if i%part.Every(1) != 0 {
			continue
		}
		for line := range gzipLines(t, p) {
			text := string(line)
			bytes += len(text)
			found := r.Find(text)
			stats.Count(found)
			for _, f := range found {
				if id := identifier.FindString(text[f.Start:f.End]); id != "" {
					t.Errorf("%s removes the identifier %s, want none", f.Rule, id)
				}
				fmt.Fprintf(&out, "%s\t%s\t%s⟦%s⟧%s\n", filepath.Base(p), f.Rule, clip(text, f.Start-60, f.Start), clip(text, f.Start, min(f.End, f.Start+120)), clip(text, f.End, f.End+20))
			}
		}
	}
	tokens := float64(bytes) / 4 / 1e6
	if rate := float64(stats.Total()) / tokens; rate > 20 {
		t.Errorf("%.1f findings per million tokens, want at most 20", rate)
	}
	t.Logf("%d findings in %.1f million tokens: %.1f a million", stats.Total(), tokens, float64(stats.Total())/tokens)
	rules := make([]string, 0, len(stats))
	for rule, n := range stats {
		rules = append(rules, fmt.Sprintf("%5d %s", n, rule))
	}
	slices.Sort(rules)
	t.Log("\n" + strings.Join(rules, "\n"))
	if dir := os.Getenv("COMPACT_REDACTION_REPORT"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, "transcripts"), []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func clip(s string, from, to int) string {
	return s[max(0, min(from, len(s))):max(0, min(to, len(s)))]
}
