package redact

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/secretgen"
)

// exceptions are the kinds of values that the two patterns of the
// specification match and that stay by default. docs/COMPATIBILITY.md lists
// them.
var exceptions = []string{"type", "call", "reference", "standin", "word", "prose", "regex", "version"}

// TestThePatternsOfTheSpecificationHoldByDefault tests the matches of the two patterns
// in the texts of package secretgen: a secret must go, and the other matches must be
// among the exceptions.
func TestThePatternsOfTheSpecificationHoldByDefault(t *testing.T) {
	r := newRedactor(t, Options{})
	matched, stayed := 0, map[string]int{}
	for _, p := range strictPatterns {
		re := regexp.MustCompile(p)
		for _, shape := range secretgen.Shapes() {
			s := shape.Draw(drawnSeed)
			out := r.Text(s.Text).String()
			for _, m := range re.FindAllStringSubmatch(s.Text, -1) {
				value := strings.Trim(m[1], "\"'`,;")
				switch {
				case slices.ContainsFunc(s.Secrets, func(secret string) bool { return len(value) >= 4 && strings.Contains(secret, value) }):
					matched++
					if strings.Contains(out, m[0]) {
						t.Errorf("%s: %q stays in %q, want text without %q", shape.ID(), value, out, m[0])
					}
				case shape.Clean:
					stayed[strings.Fields(shape.Name)[0]]++
				}
			}
		}
	}
	if matched < 100 {
		t.Errorf("the patterns match %d secrets: nothing is tested, want at least 100", matched)
	}
	for kind := range stayed {
		if !slices.Contains(exceptions, kind) {
			t.Errorf("%q stays, and is not an exception", kind)
		}
	}
	t.Logf("%d secrets; %v stay", matched, stayed)
}
