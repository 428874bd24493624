package legality

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/garble"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message/wire"
)

// markValues are the lifetimes that a caller's mark can have; "" = no mark.
var markValues = []string{"", `,"cache_control":{"type":"ephemeral"}`, `,"cache_control":{"type":"ephemeral","ttl":"5m"}`, `,"cache_control":{"type":"ephemeral","ttl":"1h"}`, `,"cache_control":null`}

// oddShapes are conversations at the limits of the wire. %s takes marks.
var oddShapes = []string{
	`[]`,
	`[{"role":"user","content":"one"}]`,
	`[{"role":"user","content":[{"type":"text","text":"a"%s},{"type":"text","text":"b"%s},{"type":"text","text":"c"%s}]}]`,
	`[{"role":"user","content":"a"},{"role":"user","content":[{"type":"text","text":"b"%s}]},{"role":"user","content":"c"}]`,
	`[{"role":"user","content":"a"},{"role":"assistant","content":"so"}]`,
	`[{"role":"user","content":[{"type":"text","text":"a"%s}]},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"}]},{"role":"user","content":"c"}]`,
	`[{"role":"user","content":[{"type":"text","text":"a"%s}]},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"}]}]`,
	`[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"b"%s}]},{"role":"user","content":[{"type":"text","text":"c"%s}]},{"role":"system","content":"obey"},{"role":"assistant","content":"d"},{"role":"user","content":"e"}]`,
	`[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"q"}%s},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]%s}]},{"role":"user","content":[{"type":"text","text":"b"%s}]}]`,
	`[{"role":"user","content":[{"type":"text","text":"a"},{"type":"document","source":{"type":"content","content":[{"type":"text","text":"x"%s},{"type":"text","text":"y"%s}]}%s}]}]`,
	`[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}%s}]},{"role":"assistant","content":"b"},{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}%s}]}]`,
	`[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{}%s},{"type":"tool_use","id":"c2","name":"f","input":{}%s}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"r"%s},{"type":"text","text":"r2"%s}]},{"type":"tool_result","tool_use_id":"c2","content":"r"%s},{"type":"text","text":"go on"}]}]`,
	`[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"b"}]},{"role":"user","content":[{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"x"%s}]%s},{"type":"text","text":"q"}]}]`,
}

// fronts are the fields before the messages.
var fronts = []string{
	``, `"system":"S",`, `"system":"",`, `"system":" ",`, `"system":[],`, `"system":[{"type":"text","text":"S"%s},{"type":"text","text":"T"%s}],`,
	`"tools":[{"name":"f","input_schema":{"type":"object"}%s},{"name":"g","input_schema":{"type":"object"}}],`, `"tools":[],"system":"S",`, `"tools":[{"name":"f","input_schema":{"type":"object"},"defer_loading":true}],`,
	`"cache_control":{"type":"ephemeral"},`, `"cache_control":{"type":"ephemeral","ttl":"1h"},"system":[{"type":"text","text":"S"%s}],`, `"cache_control":null,`,
}

// everyMark counts the marks in a document, wherever they are.
func everyMark(raw string) int {
	return strings.Count(raw, `"cache_control":{`)
}

// Automatic marks leave a request that the provider accepts accepted, wherever the caller
// has marks, and they do not change anything else.
func TestAutomaticMarksStayLegal(t *testing.T) {
	n := 0
	for s, shape := range oddShapes {
		for f, front := range fronts {
			for seed := range samples.Of(64) {
				body := filled(`{"model":"claude-sonnet-4-5","max_tokens":9,`+front+`"messages":`+shape+`}`, uint64(seed))
				judge := provider.NewJudge(provider.Anthropic)
				judge.Issue([]byte(body))
				if everyMark(body) > 4 {
					continue
				}
				req, err := parse(provider.Anthropic, []byte(body))
				if err != nil {
					continue
				}
				before := markRules(judge, []byte(body))
				if len(before) > 0 {
					continue
				}
				for settled := -1; settled < len(req.Messages()); settled++ {
					n++
					at := fmt.Sprintf("shape %d, front %d, seed %d, settled %d", s, f, seed, settled)
					out := autoMarks(t, req, settled)
					if found := markRules(judge, out); len(found) > 0 || everyMark(string(out)) > 4 {
						t.Errorf("%s: %v, %d marks\n%s\n%s", at, found, everyMark(string(out)), body, out)
					}
				}
			}
		}
	}
	if n < samples.Of(10_000) {
		t.Errorf("only %d cases", n)
	}
}

// markRules returns the refusals for marks.
func markRules(judge *provider.Judge, body []byte) (out []string) {
	for _, r := range judge.Judge(body) {
		if strings.HasPrefix(r.Rule, "cache_") {
			out = append(out, r.Text)
		}
	}
	return out
}

func autoMarks(t *testing.T, req wire.Request, settled int) []byte {
	t.Helper()
	all := make([]int, len(req.Messages()))
	for i := range all {
		all[i] = i
	}
	out, err := req.(wire.Marker).WriteMarked(req.Messages(), all, settled)
	if err != nil || !json.Valid(out) {
		t.Fatal(err, string(out))
	}
	return out
}

// filled returns a text with random marks at the places %s.
func filled(text string, seed uint64) string {
	x := seed * 0x9E3779B97F4A7C15
	var b strings.Builder
	for {
		head, rest, ok := strings.Cut(text, "%s")
		b.WriteString(head)
		if !ok {
			return b.String()
		}
		text = rest
		x ^= x >> 29
		x *= 0xBF58476D1CE4E5B9
		x ^= x >> 32
		b.WriteString(markValues[x%uint64(len(markValues))])
	}
}

// A damaged body never makes the code for marks panic, and stays JSON.
func TestMarksOfOddBodies(t *testing.T) {
	parsed := 0
	for i := range 3_000 {
		damaged := garble.Documents(uint64(i))
		body := damaged(filled(`{`+fronts[i%len(fronts)]+`"messages":`+oddShapes[i%len(oddShapes)]+`}`, uint64(i)))
		req, err := parse(provider.Anthropic, []byte(body))
		if err != nil {
			continue
		}
		parsed++
		m := req.(wire.Marker)
		m.Reaches()
		if marked := slices.Contains(m.Marked(), true); marked && !m.HasMarks() {
			t.Errorf("a marked message in a request without marks: %s", body)
		}
		autoMarks(t, req, len(req.Messages())-1)
	}
	if parsed < 1_000 {
		t.Errorf("only %d bodies are parsed", parsed)
	}
}
