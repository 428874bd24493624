package strategy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// A budget that cuts the sentences of a long report keeps the files that it names.
func TestLongReportKeepsItsFiles(t *testing.T) {
	report := "The ledger is used in three layers.\n"
	for i := range 12 {
		report += fmt.Sprintf("- `%s/part%d.go:%d`: it keeps its own copy of the rows of case %d, so the new form needs a change of about %d lines.\n", []string{"store", "api"}[i%2], i, i+7, i, i+3)
	}
	msgs := []message.Message{message.User("Find all places that must change for the new ledger."),
		message.Assistant("", message.Call("0", "task", `{"description":"Find ledger uses"}`)), message.ToolResult("0", report)}
	for i := range 14 {
		msgs = append(msgs, message.Assistant(fmt.Sprintf("The function of case %d must take the lock because its rows are written by two jobs.", i)))
		msgs = append(msgs, ranCalls([3]string{"edit", fmt.Sprintf(`{"path":"jobs/case%d.go","old_string":"func Case%d()","new_string":"func Case%d(l *Lock)"}`, i, i, i), "ok"}, [3]string{"bash", fmt.Sprintf(`{"command":"go test ./jobs -run Case%d"}`, i), "ok  \tjobs\t0.1s\nExit code: 0"})...)
	}
	want := "the sub-agent for “Find ledger uses” named these files: in `store/` part0.go, part2.go, part4.go, part6.go, part8.go, part10.go; in `api/` part1.go, part3.go, part5.go, part7.go, part9.go, part11.go"
	if text := write4(t, Input{Messages: msgs}); !strings.Contains(text, want) {
		t.Errorf("%q is not in:\n%s", want, text)
	}
	few := "The ledger is used in store/a.go and store/b.go, which must change."
	tells(t, Input{Messages: append(long("Find them.").Messages, ranCalls([3]string{"task", `{"description":"Find ledger uses"}`, few})...)}, nil, []string{"named these files"})
}
