package anthropic_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/corpus"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/message/internal/splice/splicetest"
	"github.com/agentcompact/compact/message/wire/wiretest"
)

// recorded returns the messages of a session of Claude Code, joined like the
// client joins them before sending: the blocks of one answer, and the results
// of its calls.
func recorded(t *testing.T, data []byte) (items []string) {
	t.Helper()
	last := ""
	for _, line := range bytes.Split(data, []byte("\n")) {
		var row struct {
			Message struct {
				ID      string          `json:"id"`
				Role    string          `json:"role"`
				Content json.RawMessage `json:"content"`
			} `json:"message"`
			Sidechain bool `json:"isSidechain"`
		}
		if len(line) == 0 || json.Unmarshal(line, &row) != nil || row.Message.Role == "" || row.Sidechain {
			continue
		}
		m := row.Message
		key := m.Role + m.ID
		if bytes.Contains(m.Content, []byte(`"tool_use_id"`)) {
			key = "results"
		}
		if inner, list := strings.CutPrefix(string(m.Content), "["); list && key == last {
			before := strings.TrimSuffix(items[len(items)-1], "]}")
			items[len(items)-1] = before + "," + inner + "}"
			continue
		}
		items, last = append(items, `{"role":"`+m.Role+`","content":`+string(m.Content)+`}`), key
		if m.ID == "" && key != "results" {
			last = ""
		}
	}
	return items
}

func TestRecordedSessionsKeepEveryByte(t *testing.T) {
	for id, data := range corpus.Raw(t, "Claude Code") {
		items := recorded(t, data)
		request := body(items...)
		wired := parse(t, request)
		kinds := map[message.Kind]int{}
		for _, m := range wired.Messages() {
			for _, p := range m.Parts {
				kinds[p.Kind]++
			}
		}
		if kinds[message.KindToolResult] == 0 || kinds[message.KindToolCall] == 0 || kinds[message.KindText] == 0 {
			t.Errorf("%s: %d messages of %v", id, len(items), kinds)
		}
		broken := wired.Check(wired.Messages(), seq(len(wired.Messages())))
		t.Logf("%s: %d messages, %v; the session itself breaks %v", id, len(wired.Messages()), kinds, wiretest.Broken(broken))
		wiretest.Messages(t, anthropic.Wire, wired.Messages())
		splicetest.Views(t, anthropic.Wire, []byte(request), 1, anthropic.CheckSealed, anthropic.CheckCompaction)
		short := min(len(items), 40) // the promises of every wire take the square of the length
		wiretest.Body(t, anthropic.Wire, []byte(body(items[:short]...)))
	}
}
