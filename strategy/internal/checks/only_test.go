package checks

import "testing"

// The output of a command substitution is unknown, so a check with computed arguments must not
// count as the only check. Its verdict would count for the whole project.
func TestOnlyCheckRejectsComputedArguments(t *testing.T) {
	for cmd, want := range map[string]bool{
		"go test ./store":                          true,
		"go test $(go list ./... | grep -v store)": false,
		"go test `go list ./... | grep -v store`":  false,
		"go test -run 'A`B' ./store":               true,
	} {
		if got := Only(cmd); got != want {
			t.Errorf("onlyCheck(%q) = %v, want %v", cmd, got, want)
		}
	}
}
