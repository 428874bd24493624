package eval

import "testing"

func TestSearchBehindAPipeFindsNothing(t *testing.T) {
	for _, c := range []struct {
		cmd, result string
		want        bool
	}{
		{"grep -rn a .", "Exit code: 1", true},
		{"cat a.txt | grep b", "Exit code: 1", true},
		{"grep -c b a.txt", "0\nExit code: 1", true},
		{"cat a.txt | grep b && go test ./...", "Exit code: 1", false},
		{"cat a.txt | grep b", "Exit code: 2", false},
		{"go test ./... | tail", "Exit code: 1", false},
	} {
		if got := foundNothing(c.cmd, c.result); got != c.want {
			t.Errorf("%s %q: %v", c.cmd, c.result, got)
		}
	}
}
