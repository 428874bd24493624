package strategy

import "testing"

// If only the last part of a command states its status, the line names only this part.
func TestStatusBelongsToTheLastCheck(t *testing.T) {
	for cmd, want := range map[string]string{
		"make lint || true; go test ./d": "`… go test ./d` passed",
		"make lint; go test ./d":         "`… go test ./d` passed",
		"go test ./a; go test ./d":       "`go test ./a; go test ./d` passed",
		"make lint && go test ./d":       "`make lint && go test ./d` passed",
	} {
		tells(t, long("Mend package d.", ranCalls([3]string{"bash", `{"command":"` + cmd + `"}`, "linting\nok  \texample.org/d\t0.2s"})...), []string{want}, nil)
	}
}
