package behavior

import (
	"bytes"
	"crypto/sha256"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/garble"
)

// longestInput is the greatest length of an input in bytes.
const longestInput = 2000

// Inputs returns the texts of a file, one quoted text per line. With COMPACT_RECORD=inputs,
// it first writes the file: it collects the texts in the test files of the package, and
// chooses at most n of them, by their hashes. So a new test changes no record.
func Inputs(t testing.TB, file string, n int) []string {
	t.Helper()
	if os.Getenv("COMPACT_RECORD") == "inputs" {
		var b strings.Builder
		for _, text := range literals(t, n) {
			b.WriteString(strconv.Quote(text) + "\n")
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil { //nolint:gosec // a file of the repository
			t.Fatal(err)
		}
	}
	return Texts(t, file)
}

// Texts returns the texts of a file that Inputs wrote.
func Texts(t testing.TB, file string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(data)) {
		text, err := strconv.Unquote(strings.TrimSuffix(line, "\n"))
		if err != nil {
			t.Fatalf("%s: %q: %v", file, line, err)
		}
		out = append(out, text)
	}
	return out
}

// literals returns at most n texts of the test files in the current folder.
func literals(t testing.TB, n int) []string {
	t.Helper()
	texts := slices.DeleteFunc(garble.Literals(t), func(text string) bool { return len(text) > longestInput })
	slices.SortFunc(texts, func(a, b string) int {
		x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
		return bytes.Compare(x[:], y[:])
	})
	return texts[:min(n, len(texts))]
}
