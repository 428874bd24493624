// Package needs skips tests, with a message, on machines that lack a tool or a
// service.
package needs

import (
	"os"
	"testing"
)

// Skip skips a test unless ok. The parameter what names the missing thing, and
// remedy says how to run the test. If the environment variable has the value
// "require", the test fails instead.
func Skip(t testing.TB, ok bool, variable, what, remedy string) {
	t.Helper()
	if ok {
		return
	}
	if os.Getenv(variable) == "require" {
		t.Fatalf("%s is missing, and %s=require; %s", what, variable, remedy)
	}
	t.Skipf("NOT TESTED: %s is missing; %s", what, remedy)
}
