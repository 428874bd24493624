package recall_test

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/recall"
)

func TestAtMostCutsBetweenCharacters(t *testing.T) {
	lines := []string{"äöü", "zwei", "drei"}
	for n, want := range map[int]string{
		100: "äöü\nzwei\ndrei",
		16:  "äöü\nzwei\ndrei",
		15:  "äöü\nzwei\n[1 of 3 lines follow, 4 bytes are left out]",
		7:   "äöü\n[2 of 3 lines follow, 9 bytes are left out]",
		3:   "ä\n[2 of 3 lines follow, 14 bytes are left out]",
		0:   "\n[2 of 3 lines follow, 16 bytes are left out]",
	} {
		if got := strings.Join(recall.AtMost(n)(lines), "\n"); got != want {
			t.Errorf("%d bytes: %q, want %q", n, got, want)
		}
	}
}
