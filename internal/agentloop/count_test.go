package agentloop

import (
	"strings"
	"testing"
)

// TestCountCountsTexts: every text of a request counts, wherever it is; the wire's own
// structure does not, except for four tokens per object.
func TestCountCountsTexts(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("The parser reads the next word. ", 100)
	want := exact().Count(text)
	for _, body := range []string{
		`{"model":"m","messages":[{"role":"user","content":"` + text + `"}]}`,
		`{"instructions":"` + text + `","input":[]}`,
		`{"input":[{"type":"function_call","id":"fc_1","call_id":"c","name":"read","arguments":"` + text + `"}]}`,
		`{"input":[{"type":"function_call_output","call_id":"c","output":"` + text + `"}]}`,
		`{"contents":[{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"result":"` + text + `"}}}]}]}`,
		`{"system":[{"type":"text","text":"` + text + `"}],"messages":[]}`,
		`{"tools":[{"name":"f","description":"` + text + `"}]}`,
	} {
		if n := count([]byte(body)); n < want || n > want+40 {
			t.Errorf("%d tokens, %d of text: %.60s", n, want, body)
		}
	}
	if n := count([]byte("no JSON " + text)); n < want {
		t.Errorf("%d tokens for a text that is not JSON", n)
	}
}
