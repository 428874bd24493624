package eval

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/token"
)

func TestLiteralReadingFindsEveryKind(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"see https://example.com/a?b=1, then", "https://example.com/a?b=1"},
		{"edit /usr/local/bin/run.sh. or ./x/y", "/usr/local/bin/run.sh ./x/y"},
		{"open main.go:12, os.path and README.md", "main.go README.md"},
		{"commit 3f9a2c1b of abc123", "3f9a2c1b"},
		{"PROJ-123 is 45 or 1234", "PROJ-123 1234"},
		{"parseArgs NewServer max_tokens MAX_SIZE plain Word", "parseArgs NewServer max_tokens MAX_SIZE"},
		{`{"path":"src/a.go","n":4711}`, "src/a.go 4711"},
		{"a list of words, some with (brackets) and no names", ""},
		{"日本語 main.go 日本", "main.go"},
	} {
		var got []string
		literal().scan(c.text, func(id string) { got = append(got, id) })
		if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%q: %s", c.text, d)
		}
	}
}

func TestReadingsDifferInCaseAndInWordBoundaries(t *testing.T) {
	for _, c := range []struct {
		name         string
		fold, inside bool
		want         []bool // of the texts below
	}{
		{"letter by letter", false, false, []bool{true, false, false}},
		{"any case", true, false, []bool{true, true, false}},
		{"inside", false, true, []bool{true, false, true}},
	} {
		for i, text := range []string{"call loadRows now", "call LoadRows now", "call reloadRowsAgain and xloadRowsy"} {
			r := literal()
			r.fold, r.inside = c.fold, c.inside
			n := r.names()
			n.add(text)
			id := "loadRows"
			if c.fold {
				id = strings.ToLower(id)
			}
			if got := n.have(id); got != c.want[i] {
				t.Errorf("%s: %q names it: %v, want %v", c.name, text, got, c.want[i])
			}
		}
	}
}

func FuzzReadingReportsWhatTheTextHolds(f *testing.F) {
	f.Add("a/b/c.go http:// s3://x 0123456789 //// v1. A-1 aB _a_")
	f.Fuzz(func(t *testing.T, text string) {
		literal().scan(text, func(id string) {
			if !strings.Contains(text, id) {
				t.Errorf("%q is not in %q", id, text)
			}
		})
	})
}

// The figures must not depend on the exact reading of the definition. With COMPACT_SOAK=1,
// the test uses all readings, else some of them.
func TestFutureNeedRecallHoldsUnderOtherReadings(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute over recorded sessions; run without -short")
	}
	c, err := token.ForModel("gpt-4")
	if err != nil {
		t.Fatal(err)
	}
	n := 4
	if !samples.All() {
		n = 12
	}
	all := sessions(t, n)
	names := []string{"kinds-apart-any-extension", "inside-words"}
	if os.Getenv("COMPACT_SOAK") != "" {
		names = Readings()
	}
	names = names[:samples.Of(len(names))]
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			o := Options{Count: c.Count, Strategies: []string{"task_state"}, Reading: name}
			report, err := Run(context.Background(), all, o)
			if err != nil {
				t.Fatal(err)
			}
			holds(t, report, false)
		})
	}
}
