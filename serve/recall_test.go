package serve_test

import (
	"math"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/serve"
)

// readTool declares the tool of the shapes.
var readTool = map[provider.Wire]string{
	provider.Chat:      `,"tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object"}}}]`,
	provider.Responses: `,"tools":[{"type":"function","name":"read","parameters":{"type":"object"}}]`,
	provider.Anthropic: `,"tools":[{"name":"read","input_schema":{"type":"object"}}]`,
	provider.Gemini:    `,"tools":[{"functionDeclarations":[{"name":"read","parameters":{"type":"OBJECT"}}]}]`,
}

var recallRef = regexp.MustCompile(`recall ([0-9a-f]{12})`)

// A call of the recall tool is answered without the client seeing it, on all
// wires, streamed and not, unless it is switched off.
func TestRecallIsHiddenFromTheClient(t *testing.T) {
	for _, f := range forms() {
		f.fields += readTool[f.wire]
		r := newRig(t, compact.Config{}, serve.Config{})
		body := f.body("Fix it.", 60, 300)
		if resp, answer := r.post(f, body); resp.StatusCode != http.StatusOK {
			t.Fatalf("%v: %s %s", f, resp.Status, answer)
		}
		first := string(r.server.Requests()[0].Body)
		refs := recallRef.FindAllStringSubmatch(first, -1)
		if len(refs) == 0 {
			t.Fatalf("%v: the view names no reference", f)
		}
		ref := refs[0][1]
		if ref == "3f9a2c1b77de" { // of the tool's description
			ref = refs[len(refs)-1][1]
		}
		r.server.Answer(provider.Answer{Calls: []provider.Call{{Name: "recall", Args: `{"ref":"` + ref + `"}`}}}, provider.Answer{Text: "It is a word."})
		_, answer := r.post(f, body)
		got := r.server.Requests()
		if len(got) != 3 || strings.Contains(answer, "recall") || !strings.Contains(answer, "word") || strings.Count(string(got[2].Body), "word word") <= strings.Count(first, "word word") {
			t.Errorf("%v: %d requests, answered %s", f, len(got), answer)
		}
		if s := r.h.Stats(); s.Recalls != 1 || s.Calls != 3 || s.Compactions != 1 || r.metric(`compact_recalls_total{result="found"}`) != "1" {
			t.Errorf("%v: %+v", f, s)
		}

		off := newRig(t, compact.Config{}, serve.Config{NoRecall: true})
		off.post(f, body)
		if sent := string(off.server.Requests()[0].Body); strings.Contains(sent, `"recall"`) {
			t.Errorf("%v: the tool was declared although it is off", f)
		}
		if n := r.metric("compact_ready_seconds_count"); n != "2" {
			t.Errorf("%v: 2 requests became ready, %s were counted", f, n)
		}
	}
}

// Only the prompts are priced: cached tokens are cheap with and without this module,
// and a compaction starts a new prompt.
func TestStatsIncludeTheCostOfPrompts(t *testing.T) {
	f := forms()[4]
	f.fields += `,"cache_control":{"type":"ephemeral"}` // without a mark nothing is cached
	for _, observe := range []bool{false, true} {
		c := compact.Config{Observe: observe}
		r := newRig(t, c, serve.Config{NoRecall: true, Observe: observe})
		for _, rounds := range []int{10, 11, 60, 61, 62} {
			r.server.Answer(provider.Answer{Text: "Done.", Cached: 1_024})
			r.post(f, f.body("Fix it.", rounds, 300))
			waitFor(t, func() bool { return r.h.Stats().Calls > 0 && r.h.Stats().Calls == len(r.server.Requests()) })
		}
		s := r.h.Stats()
		if s.Calls != 5 || s.Compactions != 1 || s.Unpriced != 0 || s.Sent >= s.History || s.With <= 0 || s.With >= s.Without {
			t.Errorf("observe %v: %+v", observe, s)
		}
		if fresh := float64(s.History) / 1e6 * 3; s.Without >= fresh {
			t.Errorf("observe %v: $%f without a compaction, and no cache would have cost $%f", observe, s.Without, fresh)
		}
		if !observe {
			r.server.Fail(provider.Failure{Status: 429})
			r.post(f, f.body("Fix it.", 62, 300))
			now := r.h.Stats()
			if now.With, now.Without = now.With-s.With, now.Without-s.Without; math.Abs(now.With)+math.Abs(now.Without) > 1e-12 {
				t.Errorf("a request with an error for an answer costs %+v", now)
			}
			s.Calls++
		}
		other := forms()[0]
		other.fields = `"model":"nobody-knows-7"`
		r.post(other, other.body("Fix it.", 2, 10))
		waitFor(t, func() bool { return r.h.Stats().Calls == s.Calls+1 })
		if now := r.h.Stats(); now.Unpriced != 1 || math.Abs(now.With-s.With) > 1e-12 {
			t.Errorf("observe %v: a model without a price: %+v after %+v", observe, now, s)
		}
	}
}
