package tidy

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/agentcompact/compact/internal/corpus"
)

// The promises of the reducers hold for recorded output of tools.
func TestReduceKeepsItsPromisesForRecordedResults(t *testing.T) {
	const every = 12 // the test uses every twelfth session
	n, reduced := 0, 0
	for name, data := range corpus.Some(t, "chat", func() bool { n++; return n%every == 0 }) {
		calls := map[string]Call{}
		for line := range bytes.Lines(data) {
			var m struct {
				Content any    `json:"content"`
				ID      string `json:"tool_call_id"`
				Calls   []struct {
					ID       string                           `json:"id"`
					Function struct{ Name, Arguments string } `json:"function"`
				} `json:"tool_calls"`
			}
			if json.Unmarshal(line, &m) != nil {
				continue
			}
			for _, c := range m.Calls {
				calls[c.ID] = Call{c.Function.Name, []byte(c.Function.Arguments)}
			}
			text, _ := m.Content.(string)
			if m.ID == "" || text == "" {
				continue
			}
			r := &Result{Text: text, Call: calls[m.ID], Tokens: len(text) / 4}
			if broken := holds(r, Options{}); broken != "" {
				t.Fatalf("%s, result of %s %.200s: %.3000s", name, r.Call.Tool, r.Call.Args, broken)
			}
			if _, ok := Reduce(r, Options{}); ok {
				reduced++
			}
		}
	}
	if reduced == 0 {
		t.Error("nothing was reduced")
	}
}
