package lazy

import (
	"strings"
	"testing"
)

func TestRequiredReturnsTheStringsOfAnExpression(t *testing.T) {
	for expr, want := range map[string]string{
		"abc":                             "abc",
		"^(?:never|nie) ":                 "never |nie ",
		"x?":                              "",
		"(?i)never":                       "",
		`a.*(?:only|none)$`:               "none|only",
		`\d+ (?:tests? )?failed`:          "failed",
		`(?:ab|abc)+`:                     "ab",
		`[ab]c`:                           "ac|bc",
		`(?:this|that|\S+)`:               "",
		`(?:this|[01]+)`:                  "this|0|1",
		`x{0,2}y{2,3}`:                    "y",
		`(?:one|two) (?:\S+ )?(?:of|per)`: "one |two ",
	} {
		if got := strings.Join(requiredBy(expr), "|"); got != want {
			t.Errorf("%s requires %q, want %q", expr, got, want)
		}
	}
}
