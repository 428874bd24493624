package openai_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
)

// Servers of this wire accept pictures as tool results.
func TestResultWithoutTextIsPairedWithItsCall(t *testing.T) {
	for _, content := range []string{
		`[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]`,
		`[{"type":"file","file":{"file_id":"f"}}]`,
		`[{"type":"input_audio","input_audio":{"file":"f"}}]`,
		`[{"type":"image_url","image_url":{"url":"u"}},{"type":"file","file":{"file_id":"f"}}]`,
		`[{"type":"something new"}]`,
		`[]`,
		`null`,
		`[{"type":"image_url","image_url":{"url":"u"}},{"type":"text","text":"seen"}]`,
		`[{"type":"text","text":"seen"},{"type":"image_url","image_url":{"url":"u"}}]`,
	} {
		body := `{"messages":[{"role":"user","content":"Look."},` +
			`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{}"}}]},` +
			`{"role":"tool","tool_call_id":"c1","content":` + content + `}]}`
		req, err := openai.Wire.ParseRequest([]byte(body), nil)
		if err != nil {
			t.Fatal(err)
		}
		msgs := req.Messages()
		rounds := message.Rounds(msgs)
		if len(rounds) != 2 || rounds[1].Pairs != 1 || rounds[1].Unanswered != 0 {
			t.Errorf("%s: rounds %+v, want 2, the second with one pair and no unanswered call", content, rounds)
		}
		texts := 0
		for i, p := range msgs[2].Parts {
			if p.Kind == message.KindToolResult {
				texts++
			}
			if !p.Kind.IsMedia() {
				continue
			}
			masked, err := msgs[2].WithPartText(i, "masked")
			if err != nil || bytes.Equal(masked.Raw(), msgs[2].Raw()) || !strings.Contains(string(masked.Raw()), `{"type":"text","text":"masked"}`) {
				t.Errorf("%s: part %d, masked, is %s, %v", content, i, masked.Raw(), err)
			}
		}
		if texts != 1 {
			t.Errorf("%s: %d parts are a text that answers the call, want 1: %+v", content, texts, msgs[2].Parts)
		}
		for _, p := range msgs[2].Parts {
			if p.CallID != "c1" {
				t.Errorf("%s: a part of kind %s does not name the call", content, p.Kind)
			}
		}
		if got := req.Check(msgs, []int{0, 1, 2}); content[0] == '[' && len(content) > 2 && len(got) > 0 {
			t.Errorf("%s: the check reports %v, want nothing", content, got)
		}
		if got := req.Check(msgs[:2], []int{0, 1}); len(got) == 0 || got[0].Check != openai.CheckUnanswered {
			t.Errorf("%s: without the result: the check reports %v, want CheckUnanswered", content, got)
		}
		if out, err := req.Write(msgs, []int{0, 1, 2}); err != nil || string(out) != body {
			t.Errorf("%s: written as %s, %v", content, out, err)
		}
	}
}

// The model's own content stays unchanged.
func TestAPictureOfTheModelIsNotMasked(t *testing.T) {
	for role, want := range map[string]bool{"user": true, "assistant": false} {
		m, err := openai.ParseMessage([]byte(`{"role":"` + role + `","content":[{"type":"text","text":"See."},{"type":"image_url","image_url":{"url":"u"}}]}`))
		if err != nil || m.Replaceable(1) != want {
			t.Errorf("%s: replaceable is %v, want the opposite; error %v", role, m.Replaceable(1), err)
		}
	}
}
