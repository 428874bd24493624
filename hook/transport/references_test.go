package transport_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
)

// Some callers of the Responses API send references in place of the calls that the provider
// stores. Their rounds can be summarized, so that a compaction has the effect of several calls.
func TestRoundsOfReferencesAreCompacted(t *testing.T) {
	r := newRig(t, compact.Config{Preset: "summarize"}, transport.Recall())
	r.server.Lenient = true // it does not store the calls
	f := form{provider.Responses, "/v1/responses", `"model":"gpt-5"`, false}.withTools()
	body := fmt.Sprintf(`{%s,"input":[{"role":"user","content":"go"}`, f.fields)
	for i := range 100 {
		body += fmt.Sprintf(`,{"type":"item_reference","id":"fc_%d"},{"type":"function_call_output","call_id":"c%d","output":"file %d: %s"}`, i, i, i, strings.Repeat("word ", 200))
		if status, answer := r.post(f, body+"]}"); status != http.StatusOK {
			t.Fatalf("%d %s, want %d", status, answer, http.StatusOK)
		}
		sent := r.got()[i]
		for k := range i + 1 {
			if strings.Contains(sent, fmt.Sprintf(`"fc_%d"`, k)) != strings.Contains(sent, fmt.Sprintf(`"c%d"`, k)) {
				t.Fatalf("call %d: the view has a reference without its result, or a result without its reference", i)
			}
		}
	}
	if n := r.steps(); n == 0 || n > 10 {
		t.Errorf("%d compactions in 100 calls, want at most 10", n)
	}
}
