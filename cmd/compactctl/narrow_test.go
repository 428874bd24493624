package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/samples"
)

// ran returns the output of a command that succeeds.
func ran(t *testing.T, args ...string) string {
	t.Helper()
	var out, errOut bytes.Buffer
	if code := run(t.Context(), args, strings.NewReader(""), &out, &errOut); code != exitOK {
		t.Fatalf("%q ends with %d: %s", args, code, errOut.String())
	}
	return out.String()
}

// Piped output fits into 80 columns, for every command.
func TestTablesArePipedAt80Columns(t *testing.T) {
	t.Setenv("COLUMNS", "")
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	archive := t.TempDir()
	session := filepath.Join("..", "..", "examples", "data", "coding-session.jsonl")
	ran(t, "compact", session, "--archive", archive, "--model", "gpt-4o", "--max-context-tokens", "8000", "--session", "wide", "--out", filepath.Join(t.TempDir(), "out.jsonl"))
	where := []string{"replay", session, "--window", "8000", "--where"}
	if !samples.All() {
		where = append(where, "--policy", "graduated", "--policy", "history-reducer") // without --policy, all presets are compared
	}
	for _, args := range [][]string{
		{"archive", "stats", "--archive", archive}, {"archive", "ls", "--archive", archive},
		{"dry-run", session, "--preset", "economy", "--model", "claude-sonnet-4-5", "--max-context-tokens", "8000"},
		{"eval-summary", session, "--window", "8k"}, where,
		{"archive", "search", "function", "--archive", archive}, {"archive", "show", "--archive", archive, "wide"},
	} {
		out := ran(t, args...)
		rows := 0
		for line := range strings.Lines(out) {
			if !strings.Contains(line, "  ") {
				continue // prose
			}
			if rows++; columnsOf(strings.TrimSuffix(line, "\n")) > 80 && !strings.Contains(line, ". ") {
				t.Errorf("%s: %d columns: %s", args[0], columnsOf(line), line)
			}
		}
		if rows < 2 {
			t.Errorf("%s prints no table:\n%s", args[0], out)
		}
	}
}

func TestRelativeChangesAreReadable(t *testing.T) {
	for _, c := range []struct {
		from, to int
		want     string
	}{
		{0, 0, "+0 %"}, {100, 100, "+0 %"}, {100, 50, "-50 %"}, {100, 0, "-100 %"}, {1_000_000, 1, "-99.9 %"}, {10_000, 30, "-99.7 %"},
		{100, 199, "+99 %"}, {10, 99, "+890 %"}, {10, 100, "× 10"}, {0, 400, "× 400"}, {1000, 1_500_000, "× 1500"},
	} {
		if got := relative(c.from, c.to); got != c.want {
			t.Errorf("from %d to %d is %q, want %q", c.from, c.to, got, c.want)
		}
	}
}

// Each command with a model reports that the model's name resembles another.
func TestMisspelledModelsAreReported(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	session := filepath.Join("..", "..", "examples", "data", "short-session.jsonl")
	for _, args := range [][]string{
		{"eval-summary", session, "--window", "8k"}, {"replay", session, "--window", "8000"}, {"tune", session, "--window", "8000", "--evaluations", "2", "--folds", "1"},
		{"dry-run", session},
	} {
		for name, said := range map[string]bool{"gpt-4p": true, "gpt-4o": false} {
			var out, errOut bytes.Buffer
			run(t.Context(), append(args, "--model", name), strings.NewReader(""), &out, &errOut)
			if strings.Contains(errOut.String(), "did you mean") != said {
				t.Errorf("%s --model %s: %s", args[0], name, errOut.String())
			}
		}
	}
}
