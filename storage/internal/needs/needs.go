// Package needs skips tests, loudly, where the machine cannot do what they take.
package needs

import (
	"os"
	"testing"
)

// Skip skips a test unless ok. The reason is that what is missing, and remedy
// says how to run it all the same. The value "require" of the environment's
// variable makes it a failure.
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
