package policy_test

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/policy"
)

// If there is no room for the line that reports a failure, the placeholder does not name the
// command either. The command next to the "exit 0" of a pipe would look like a success.
func TestMaskNamesAFailedCommandOnlyWithItsFailure(t *testing.T) {
	failed := "--- FAIL: TestA (0.1s)" + strings.Repeat("\n", 130)
	for least := range 130 {
		msgs := ran(`{"command":"go test ./... | tail"}`, "")
		msgs[2] = message.ToolResult("1", failed)
		out, _ := maskAll(t, policy.Mask{Form: policy.FormCall, MinTokens: least}, false, msgs...)
		if text := out.Messages()[2].ResultText(); strings.Contains(text, "go test") && !strings.Contains(text, "FAIL") {
			t.Fatalf("MinTokens %d: the placeholder names the failed command without its failure: %q", least, text)
		}
	}
}

// The caller may change a pinned call later, like its instructions. The placeholder of the
// result therefore does not name the call, so that it does not change with the call.
func TestPlaceholderOmitsAPinnedCall(t *testing.T) {
	for _, guarded := range []bool{false, true} {
		msgs := ran(`{"command":"make"}`, "made")
		msgs[1].Protected = guarded
		out, _ := maskAll(t, policy.Mask{Form: policy.FormCall}, false, msgs...)
		if text := out.Messages()[2].ResultText(); strings.Contains(text, "make") == guarded || !strings.HasPrefix(text, "[observation masked — ") {
			t.Errorf("protected %v: %q, want a placeholder that names the call only if it is not protected", guarded, text)
		}
	}
}

// A placeholder must not enlarge the request in bytes either: its special characters take
// several bytes each.
func TestMaskDoesNotEnlargeTheRequest(t *testing.T) {
	named := 0
	for n := 15; n < 60; n++ {
		raw := `{"role":"tool","tool_call_id":"1","content":"` + strings.TrimSpace(strings.Repeat("a ", n)) + `"}`
		result, err := openai.ParseMessage([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		msgs := ran(`{"command":"make \"all\""}`, "")
		msgs[2] = result
		out, err := run(t, engine(reduce.Step{Stage: policy.Mask{Form: policy.FormCall, Turns: 1}, Goal: policy.All}), append(msgs, loop(5, 1)[2:]...), budget(10_000))
		if err != nil {
			t.Fatal(err)
		}
		m := out.Conversation.Messages()[2]
		if len(m.Raw()) > len(raw) {
			t.Errorf("%d bytes became %d: %s", len(raw), len(m.Raw()), m.Raw())
		}
		if strings.Contains(m.ResultText(), "make") {
			named++
		}
	}
	if named == 0 {
		t.Error("the test has no placeholder that names the call")
	}
}

// A mask that keeps the beginning of a result does not name the call, because the kept text shows
// what it is.
func TestMaskThatKeepsTheBeginningDoesNotNameTheCall(t *testing.T) {
	for most, want := range map[int]string{0: `[observation masked — 607 chars · bash "make"]`, 40: "made it\n[observation masked — 607 chars]"} {
		out, _ := maskAll(t, policy.Mask{Form: policy.FormCall, MaxChars: most}, false, ran(`{"command":"make"}`, "made it")...)
		if got := out.Messages()[2].ResultText(); got != want {
			t.Errorf("at most %d: %q, want %q", most, got, want)
		}
	}
}

// With CostAsChars the placeholder states the cost of the result in place of its length.
func TestMaskStatesTheCostAsChars(t *testing.T) {
	for as, want := range map[bool]string{false: "[observation masked — 499 chars]", true: "[observation masked — 100 chars]"} {
		e := engine(reduce.Step{Stage: policy.Mask{CostAsChars: as}, Goal: policy.All})
		e.Keep = policy.Keep{}
		out, err := run(t, e, append(loop(1, 100), message.Assistant("done"), message.User("go on")), budget(10_000))
		if err != nil {
			t.Fatal(err)
		}
		if got := out.Conversation.Messages()[3].ResultText(); got != want {
			t.Errorf("as chars %v: %s, want %s", as, got, want)
		}
	}
}

// A mark of a form that nobody registered has no text.
func TestMarkOfAnUnknownFormHasNoText(t *testing.T) {
	if got, err := policy.Forms(nil).Text(policy.Mark{Form: "unknown@1"}); err == nil || got != "" {
		t.Errorf("%q, %v; want none and an error", got, err)
	}
}
