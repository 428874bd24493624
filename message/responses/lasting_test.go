package responses_test

import (
	"testing"

	"github.com/agentcompact/compact/message/responses"
)

// An item that applies to everything after it is protected, also directly after
// reasoning.
func TestLastingItemsAreProtected(t *testing.T) {
	for _, item := range []string{
		`{"type":"compaction","encrypted_content":"x"}`, `{"type":"additional_tools","role":"developer","tools":[]}`,
		`{"type":"configuration_update","reasoning":{"effort":"low"}}`, `{"type":"agent_message","author":"/root","recipient":"/root/a","content":[]}`,
	} {
		r, err := responses.Wire.ParseRequest([]byte(`{"model":"m","input":[{"type":"reasoning","id":"rs_1","summary":[]},`+item+`,{"role":"user","content":"x"}]}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		if m := r.Messages(); len(m) != 3 || m[0].Protected != (m[1].Role == "compaction") || !m[1].Protected || m[2].Protected {
			t.Errorf("%s: %d messages, %+v, want 3", item, len(m), m)
		}
	}
}
