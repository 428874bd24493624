package gemini_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/corpus"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/gemini"
	"github.com/agentcompact/compact/message/internal/splice/splicetest"
	"github.com/agentcompact/compact/message/wire/wiretest"
)

// recorded returns the contents that the client made for a session: the model's
// answers with their calls, and the functions' responses, verbatim.
func recorded(t *testing.T, data []byte) (items []string) {
	t.Helper()
	var session struct {
		Messages []struct {
			Type      string          `json:"type"`
			Content   json.RawMessage `json:"content"`
			ToolCalls []struct {
				Name   string          `json:"name"`
				Args   json.RawMessage `json:"args"`
				Result json.RawMessage `json:"result"`
			} `json:"toolCalls"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(data, &session); err != nil {
		t.Fatal(err)
	}
	for _, m := range session.Messages {
		part := `{"text":` + string(m.Content) + `}`
		switch m.Type {
		case "user":
			items = append(items, `{"role":"user","parts":[`+part+`]}`)
		case "gemini":
			parts, results := []string{part}, []string{}
			for _, call := range m.ToolCalls {
				parts = append(parts, `{"functionCall":{"name":"`+call.Name+`","args":`+string(call.Args)+`}}`)
				results = append(results, strings.Trim(strings.TrimSpace(string(call.Result)), "[]"))
			}
			items = append(items, `{"role":"model","parts":[`+strings.Join(parts, ",")+`]}`)
			if len(results) > 0 {
				items = append(items, `{"role":"user","parts":[`+strings.Join(results, ",")+`]}`)
			}
		}
	}
	return items
}

func TestRecordedSessionsKeepEveryByte(t *testing.T) {
	for id, data := range corpus.Raw(t, "Gemini CLI") {
		request := body(recorded(t, data)...)
		wired := parse(t, request)
		results := 0
		for i, m := range wired.Messages() {
			for p := range m.Parts {
				if m.Parts[p].Kind == message.KindToolResult {
					results++
					if !m.Editable(p) || m.Parts[p].Text == "" {
						t.Errorf("%s: result %d of message %d can't be masked: %+v", id, p, i, m.Parts[p])
					}
				}
			}
		}
		if results == 0 {
			t.Errorf("%s: no results in %s", id, request)
		}
		t.Logf("%s: %d messages, %d results; the session itself breaks %v", id, len(wired.Messages()), results, wiretest.Broken(wired.Check(wired.Messages(), seq(len(wired.Messages())))))
		wiretest.Body(t, gemini.Wire, []byte(request))
		splicetest.Views(t, gemini.Wire, []byte(request), 1, gemini.CheckSealed)
	}
}
