package legality

import (
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"strings"
	"sync"
	"testing"

	"github.com/agentcompact/compact/internal/provider"
)

// looks holds, for each wire, the beginning of a request, and a call with the
// screenshot that answers it, in the result if the wire allows that.
var looks = map[provider.Wire][2]string{
	provider.Chat: {`{"model":"gpt-4o","tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object"}}}],"messages":[{"role":"user","content":"Send the form."}`,
		`,{"role":"assistant","content":null,"tool_calls":[{"id":"c%[1]d","type":"function","function":{"name":"look","arguments":"{\"n\":%[1]d}"}}]},` +
			`{"role":"tool","tool_call_id":"c%[1]d","content":"page %[1]d"},{"role":"user","content":[{"type":"text","text":"Screen %[1]d"},{"type":"image_url","image_url":{"url":"data:image/png;base64,%[2]s","detail":"high"}}]}`},
	provider.Responses: {`{"model":"gpt-5","tools":[{"type":"function","name":"look","parameters":{"type":"object"}}],"input":[{"role":"user","content":"Send the form."}`,
		`,{"type":"function_call","call_id":"c%[1]d","name":"look","arguments":"{\"n\":%[1]d}"},` +
			`{"type":"function_call_output","call_id":"c%[1]d","output":[{"type":"input_text","text":"page %[1]d"},{"type":"input_image","image_url":"data:image/png;base64,%[2]s"}]}`},
	provider.Anthropic: {`{"model":"claude-opus-4-8","max_tokens":1000,"tools":[{"name":"look","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"Send the form."}`,
		`,{"role":"assistant","content":[{"type":"tool_use","id":"c%[1]d","name":"look","input":{"n":%[1]d}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%[1]d","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"%[2]s"}}]}]}`},
	provider.Gemini: {`{"tools":[{"functionDeclarations":[{"name":"look","parameters":{"type":"OBJECT"}}]}],"contents":[{"role":"user","parts":[{"text":"Send the form."}]}`,
		`,{"role":"model","parts":[{"functionCall":{"name":"look","args":{"n":%[1]d}},"thoughtSignature":"skip_thought_signature_validator"}]},` +
			`{"role":"user","parts":[{"functionResponse":{"name":"look","response":{"output":"page %[1]d"},"parts":[{"inlineData":{"mimeType":"image/png","data":"%[2]s"}}]}}]}`},
}

// blank is a picture of 1280 by 800 pixels.
var blank = sync.OnceValues(func() (string, error) {
	var b strings.Builder
	err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1280, 800)))
	return b.String(), err
})

// screenshot returns a picture in base64, different for every step.
func screenshot(t *testing.T, step int) string {
	t.Helper()
	picture, err := blank()
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%sstep %d", picture, step))
}

// A browsing agent: old screenshots are masked, the newest stays, and the provider
// takes every request.
func TestMaskedPicturesAreLegalOnEachWire(t *testing.T) {
	const steps = 30
	for _, w := range provider.Wires() {
		c := newChain(t, "screenshots", w, 16_000)
		var shots []string
		body, masked := looks[w][0], 0
		for n := range steps {
			shots = append(shots, screenshot(t, n))
			body += fmt.Sprintf(looks[w][1], n, shots[n])
			in := []byte(body + "]}")
			if refusals := c.judge.Judge(in); len(refusals) > 0 {
				t.Fatalf("%s: the session itself is refused: %s", w, refusals[0].Text)
			}
			out := string(c.call(in, n%7 == 6))
			if !strings.Contains(out, shots[n]) {
				t.Errorf("%s: the newest screenshot is gone at step %d", w, n)
			}
			for _, shot := range shots {
				if !strings.Contains(out, shot) {
					masked++
				}
			}
		}
		c.close()
		if masked == 0 || c.tally[compactions] == 0 || c.tally[bad] > 0 || c.tally[clean] != steps {
			t.Errorf("%s: %d pictures gone in %d compactions, %d findings, %d clean calls", w, masked, c.tally[compactions], c.tally[bad], c.tally[clean])
		}
	}
}
