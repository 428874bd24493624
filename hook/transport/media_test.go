package transport_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"image"
	"image/png"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/provider"
)

// blank returns a picture of 1280 by 800 pixels.
var blank = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1280, 800))); err != nil {
		panic(err)
	}
	return b.Bytes()
})

// screenshot returns a picture of 1280 by 800 pixels in base64, a different one for
// each step, with extra bytes of data.
func screenshot(step, extra int) string {
	var b bytes.Buffer
	b.Write(blank())
	h := fnv.New64a()
	for b.Len() < extra {
		_, _ = fmt.Fprint(h, step)
		b.Write(h.Sum(nil))
	}
	_, _ = fmt.Fprintf(&b, "step %d", step)
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// looks are a call and its screenshot on each wire: in the result if the wire allows
// that, otherwise in a user message.
var looks = map[provider.Wire]string{
	provider.Chat: `{"role":"assistant","content":null,"tool_calls":[{"id":"c%[1]d","type":"function","function":{"name":"look","arguments":"{\"n\":%[1]d}"}}]},` +
		`{"role":"tool","tool_call_id":"c%[1]d","content":"page %[1]d"},{"role":"user","content":[{"type":"text","text":"Screen %[1]d"},{"type":"image_url","image_url":{"url":"data:image/png;base64,%[2]s","detail":"high"}}]}`,
	provider.Responses: `{"type":"function_call","call_id":"c%[1]d","name":"look","arguments":"{\"n\":%[1]d}"},` +
		`{"type":"function_call_output","call_id":"c%[1]d","output":[{"type":"input_text","text":"page %[1]d"},{"type":"input_image","image_url":"data:image/png;base64,%[2]s"}]}`,
	provider.Anthropic: `{"role":"assistant","content":[{"type":"tool_use","id":"c%[1]d","name":"look","input":{"n":%[1]d}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%[1]d","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"%[2]s"}}]}]}`,
	provider.Gemini: `{"role":"model","parts":[{"functionCall":{"name":"look","args":{"n":%[1]d}},"thoughtSignature":"skip_thought_signature_validator"}]},` +
		`{"role":"user","parts":[{"functionResponse":{"name":"look","response":{"output":"page %[1]d"},"parts":[{"inlineData":{"mimeType":"image/png","data":"%[2]s"}}]}}]}`,
}

// browse returns a request after a given number of steps.
func (f form) browse(shots []string) string {
	s := shapes[f.wire]
	var b strings.Builder
	fmt.Fprintf(&b, `{%s,"%s":[`+s.ask, f.fields, s.list, "Find the form and send it.")
	for i, shot := range shots {
		fmt.Fprintf(&b, ","+looks[f.wire], i, shot)
	}
	return b.String() + "]}"
}

// browsers returns a form of each wire.
func browsers() (all []form) {
	seen := map[provider.Wire]bool{}
	for _, f := range forms() {
		if !seen[f.wire] {
			seen[f.wire] = true
			all = append(all, f)
		}
	}
	return all
}

func TestABrowsingAgentKeepsItsNewestScreenshots(t *testing.T) {
	steps := 60
	if testing.Short() {
		steps = 40
	}
	var shots []string
	for i := range steps {
		shots = append(shots, screenshot(i, 0))
	}
	for _, f := range browsers() {
		t.Run(string(f.wire), func(t *testing.T) {
			r := newRig(t, compact.Config{MaxContextTokens: 32_000})
			before, kept, same := "", 0, 0
			for n := 1; n <= steps; n++ {
				if status, answer := r.post(f, f.browse(shots[:n])); status != http.StatusOK {
					t.Fatalf("step %d: %d %s, want %d", n, status, answer, http.StatusOK)
				}
				bodies := r.got()
				sent := bodies[len(bodies)-1]
				if common(before, sent) >= len(before)-len("]}") {
					same++
				}
				before = sent
				kept = r.shots(sent, shots[:n])
			}
			r.quiet()
			if kept < 6 || kept == steps {
				t.Errorf("the newest %d screenshots are left of %d", kept, steps)
			}
			if changes := steps - same; changes > 10 {
				t.Errorf("the beginning changed in %d of %d calls", changes, steps)
			}
			if r.last().DroppedCount+r.last().SummarizedCount > 0 {
				t.Errorf("%d messages were taken out, although taking pictures out was enough", r.last().DroppedCount+r.last().SummarizedCount)
			}
		})
	}
}

// common returns the length of the common prefix of two texts.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// shots counts the screenshots of a body, and fails if an older one is there without a
// newer one.
func (r *rig) shots(body string, shots []string) (kept int) {
	r.t.Helper()
	for i, shot := range shots {
		there := strings.Contains(body, shot)
		if !there && kept > 0 {
			r.t.Fatalf("screenshot %d was removed, but an older one was kept", i)
		}
		if there {
			kept++
		}
	}
	return kept
}
