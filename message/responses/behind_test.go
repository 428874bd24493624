package responses_test

import (
	"testing"

	"github.com/agentcompact/compact/message/responses"
	"github.com/agentcompact/compact/message/wire/wiretest"
)

// When the output is appended to the input, the newest compaction item carries the
// content before it. The window that /responses/compact returns begins with the
// messages of people (https://developers.openai.com/api/docs/guides/compaction).
func TestItemsBeforeACompactionItemAreKept(t *testing.T) {
	r := wiretest.Parse(t, responses.Wire, `{"instructions":"i","input":[{"role":"user","content":"one"},
		{"role":"developer","content":"rules"},{"role":"system","content":"more"},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"},{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},
		{"type":"function_call_output","call_id":"a","output":"A"},{"type":"compaction","encrypted_content":"x"},
		{"role":"user","content":"two"},{"type":"function_call","call_id":"b","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"b","output":"B"}]}`)
	want := []struct{ unread, protected bool }{{false, true}, {false, true}, {false, true}, {false, true}, {true, true}, {true, true}, {false, true}, {}, {}, {}}
	for i, m := range r.Messages() {
		if m.Unread != want[i].unread || m.Protected != want[i].protected {
			t.Errorf("message %d (%s): unread %v, protected %v", i, m.Role, m.Unread, m.Protected)
		}
	}
}

func TestTheProvidersThresholdIsRead(t *testing.T) {
	for field, want := range map[string]int{
		`[{"type":"compaction","compact_threshold":200000}]`:                                              200_000,
		`[{"type":"compaction","compact_threshold":200000},{"type":"compaction","compact_threshold":90}]`: 90,
		`[{"type":"compaction","compact_threshold":90},{"type":"compaction","compact_threshold":200000}]`: 90,
		`[{"type":"compaction"}]`: 1,
		`[{"type":"other"}]`:      1,
		`{}`:                      1,
	} {
		r := wiretest.Parse(t, responses.Wire, `{"context_management":`+field+`,"input":"q"}`)
		if a := r.About(); a.ServerTrigger != want || a.ServerSide != "context_management" || a.Delta {
			t.Errorf("%s: %+v, want %d", field, a, want)
		}
	}
}
