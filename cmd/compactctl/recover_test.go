package main

import (
	"strings"
	"testing"
)

type brokenInput struct{}

func (brokenInput) Read([]byte) (int, error) { panic("the input broke") }

// A panic ends the command with an error and a stack.
func TestPanicIsAFailure(t *testing.T) {
	var out, errOut strings.Builder
	code := run(t.Context(), []string{"tokens", "-", "--model", "gpt-4"}, brokenInput{}, &out, &errOut)
	said := errOut.String()
	if code != exitFailed || !strings.Contains(said, "internal error") || !strings.Contains(said, "the input broke") || !strings.Contains(said, "recover_test.go") {
		t.Errorf("exit status %d, %q", code, said)
	}
}
