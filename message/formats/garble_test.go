package formats_test

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/garble"
	"github.com/agentcompact/compact/internal/samples"
)

// TestDamagedLogsComeBack changes logs of all agents in places where another version of the
// agent would write another type, or nothing.
func TestDamagedLogsComeBack(t *testing.T) {
	var logs []string
	for _, s := range garble.Literals(t) {
		if s = strings.TrimSpace(s); strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") {
			logs = append(logs, s)
		}
	}
	change := garble.Documents(1)
	for i := range samples.Of(20_000) {
		comesBack(t, []byte(change(logs[i%len(logs)])))
	}
}
