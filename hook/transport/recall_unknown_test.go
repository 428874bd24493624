package transport

import (
	"strings"
	"testing"
)

// An account may be configured to store no answers, whatever the request says. The answer states
// this.
func TestAnAnswerSaysThatItIsNotStored(t *testing.T) {
	const output = `"output":[{"type":"reasoning","id":"rs_1","summary":[]},{"type":"function_call","id":"fc_1","call_id":"c","name":"recall","arguments":"{}"}]`
	for _, stream := range []bool{false, true} {
		for _, store := range []string{"true", "false"} {
			answer := `{"object":"response","id":"resp_1","status":"completed","store":` + store + `,` + output + `}`
			if stream {
				answer = `data: {"type":"response.completed","response":` + answer + "}\n\n"
			}
			s, ok := responsesDialect{}.read(split([]byte(answer), stream))
			if s.unknown = s.isUnknown([]byte(`{"input":"x"}`)); !ok || s.unknown != (store == "false") {
				t.Fatalf("store %s: %+v", store, s)
			}
			if round := string(enc(responsesDialect{}.round(s, []string{"old"}))); strings.Contains(round, `"rs_1"`) == s.unknown || strings.Contains(round, `"fc_1"`) == s.unknown {
				t.Errorf("store %s: %s", store, round)
			}
		}
	}
}
