package transport_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
)

// The lower one of our threshold and the provider's applies.
func TestTheLowerThresholdApplies(t *testing.T) {
	anthropic, responses := forms()[4], forms()[2]
	for _, c := range []struct {
		f     form
		field string
		ours  bool
	}{
		{anthropic, `"context_management":{"edits":[{"type":"compact_20260112"}]}`, true}, // from 150,000 on
		{anthropic, `"context_management":{"edits":[{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":9000}}]}`, false},
		{anthropic, `"context_management":{"edits":[{"type":"clear_tool_uses_20250919","trigger":{"type":"tool_uses","value":9}}]}`, false},
		{responses, `"context_management":[{"type":"compaction","compact_threshold":200000}]`, true},
		{responses, `"context_management":[{"type":"compaction","compact_threshold":5000}]`, false},
	} {
		r := newRig(t, compact.Config{})
		r.server.Lenient = true
		body := adding(c.f.body("x", 60, 300), c.field)
		if status, answer := r.post(c.f, body); status != http.StatusOK {
			t.Fatalf("%d %s, want %d", status, answer, http.StatusOK)
		}
		sent := r.got()[0]
		if (sent != body) != c.ours || !strings.Contains(sent, c.field) || (len(r.errs) == 0) != c.ours {
			t.Errorf("%s: compacted here: %v, want %v; reported %v", c.field, sent != body, c.ours, r.errs)
		}
	}
}

// Messages before a compaction by the provider are sent unchanged and are not counted. Messages
// after it are reduced as usual.
func TestMessagesAfterAProvidersCompactionAreReduced(t *testing.T) {
	items := map[provider.Wire]string{
		provider.Anthropic: `{"role":"assistant","content":[{"type":"compaction","content":"The file was read.","encrypted_content":"QUJD"},{"type":"text","text":"On."}]},{"role":"user","content":"Go on."}`,
		provider.Responses: `{"type":"compaction","id":"cmp_1","encrypted_content":"QUJDREVG"},{"role":"user","content":"Go on."}`,
	}
	for _, f := range []form{forms()[4], forms()[2]} {
		t.Run(string(f.wire), func(t *testing.T) {
			s := shapes[f.wire]
			r := newRig(t, compact.Config{})
			before := f.body("x", 60, 300)
			before = strings.TrimSuffix(before, "]}") + "," + items[f.wire]
			r.server.Judge(f.wire).Issue([]byte(before + "]}"))
			for n := range 80 {
				body := before
				for i := range n {
					body += "," + fmt.Sprintf(s.round, 1000+i, fmt.Sprintf("file %d: %s", i, strings.Repeat("word ", 300)))
				}
				if n%4 != 0 && n != 79 {
					continue
				}
				if status, answer := r.post(f, body+"]}"); status != http.StatusOK {
					t.Fatalf("%d rounds after the block: %d %s, want %d", n, status, answer, http.StatusOK)
				}
				bodies := r.got()
				if !strings.HasPrefix(bodies[len(bodies)-1], before) {
					t.Fatalf("%d rounds after the block: the block, or a message before it, was changed", n)
				}
				if n == 0 && r.last().Triggered {
					t.Errorf("messages that the provider does not read are counted: %d tokens", r.last().TokensIn)
				}
			}
			r.quiet()
			if r.steps() == 0 {
				t.Error("no message after the block was compacted")
			}
			if body := r.got(); !json.Valid([]byte(body[len(body)-1])) {
				t.Error("no JSON")
			}
		})
	}
}

// A request for a compaction by the provider is sent whole, and the use of the history
// that it returns is not an error.
func TestARequestForACompactionByTheProviderIsSentWhole(t *testing.T) {
	f := forms()[2]
	r := newRig(t, compact.Config{}, transport.SessionHeader("X-S"))
	r.server.Lenient = true
	body := f.body("x", 60, 300)
	for range 2 {
		r.do(r.request(t.Context(), "/v1/responses/compact", body))
	}
	if got := r.got(); got[0] != body || got[1] != body || len(r.results) != 0 {
		t.Fatal("it was changed, or compared with the budget")
	}
	var said *transport.Error
	if len(r.errs) != 1 || !errors.As(r.errs[0], &said) || !strings.Contains(said.Error(), "/responses/compact") {
		t.Errorf("reported %v, want it once", r.errs)
	}
	r.errs = nil
	window := `{` + f.fields + `,"input":[{"role":"user","content":"x"},{"type":"compaction","id":"cmp_1","encrypted_content":"QUJD"},{"role":"user","content":"next"}]}`
	if status, answer := r.post(f, window); status != http.StatusOK {
		t.Fatalf("%d %s, want %d", status, answer, http.StatusOK)
	}
	r.quiet()
	if got := r.got(); got[2] != window {
		t.Error("the window that came back was changed")
	}
}

// The figures come from the provider's own example
// (https://platform.claude.com/docs/en/build-with-claude/compaction).
func TestUsageIncludesTheProvidersOwnEdits(t *testing.T) {
	u := transport.UsageOf([]byte(`{"usage":{"input_tokens":23000,"output_tokens":1000,"iterations":[
		{"type":"compaction","input_tokens":180000,"output_tokens":3500},{"type":"message","input_tokens":23000,"output_tokens":1000}]}}`), false)
	if u.PromptTokens != 23_000 || u.CompactedTokens != 180_000 || u.SummaryTokens != 3_500 || u.OutputTokens != 1000 {
		t.Errorf("%+v, want 23000 prompt tokens, 180000 compacted and 3500 of the summary", u)
	}
	u = transport.UsageOf([]byte(`{"usage":{"input_tokens":3000,"cache_read_input_tokens":20000,"output_tokens":1000,"iterations":[
		{"type":"compaction","input_tokens":10000,"cache_creation_input_tokens":20000,"cache_read_input_tokens":150000,"output_tokens":3500},
		{"type":"message","input_tokens":3000,"cache_read_input_tokens":20000,"output_tokens":1000}]}}`), false)
	if u.PromptTokens != 23_000 || u.CompactedTokens != 180_000 || u.SummaryTokens != 3_500 {
		t.Errorf("with a cache: %+v", u)
	}
	u = transport.UsageOf([]byte("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":25000,\"output_tokens\":1}}}\n\n"+
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":77},\"context_management\":{\"applied_edits\":[{\"type\":\"clear_tool_uses_20250919\",\"cleared_tool_uses\":8,\"cleared_input_tokens\":50000}]}}\n\n"), true)
	if u.PromptTokens != 25_000 || u.ClearedTokens != 50_000 || u.OutputTokens != 77 || u.CompactedTokens != 0 {
		t.Errorf("%+v, want 25000 prompt tokens and 50000 cleared", u)
	}
}

// adding returns a body with one more field.
func adding(body, field string) string { return "{" + field + ", " + body[1:] }
