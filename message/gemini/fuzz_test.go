package gemini_test

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message/gemini"
	"github.com/agentcompact/compact/message/internal/splice/splicetest"
	"github.com/agentcompact/compact/message/wire/wiretest"
)

// strange are bodies that no client should send.
var strange = []string{
	`{"contents":[]}`, `{"contents":[{},{"parts":null},{"parts":[]},{"role":null,"parts":{}},{"role":"","parts":[{}]}]}`,
	`{"contents":[{"parts":[7,"x",null,[],{},{"text":7},{"text":null},{"text":""},{"inlineData":7},{"inlineData":{}},{"inlineData":{"mimeType":"image/png","data":7}},{"fileData":{"mimeType":"audio/wav"}}]}]}`,
	`{"contents":[{"parts":[{"functionResponse":{}},{"functionResponse":7},{"functionResponse":{"name":7,"response":[]}},{"functionResponse":{"response":{"output":null,"error":7}}}]}]}`,
	`{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f"}},{"functionCall":{"name":"f","id":"1","args":"text"}},{"functionCall":{"name":"f","args":null}}]},{"role":"function","parts":[{"functionResponse":{"name":"f","response":{"a":1}}},{"function_response":{"name":"f","response":{"result":""}}}]}]}`,
	`{"contents":[{"parts":{"text":"\ud800 \udc00 \ud83d\ude00 \u0000"}},{"parts":[{"text":"a"}],"parts":[{"text":"b"}],"role":"user","role":"model"}]}`,
	`{"contents":[{"parts":[{"text":"a","text":"b"},{"functionResponse":{"name":"f","response":{"output":"x","output":"y"}}}],"meta":{"protected":true},"meta":7}]}`,
	`{"contents":[{"parts":[{"text":"x","a":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}]}]}`,
	`{"contents":[{"parts":[{"text":"x","functionResponse":{"name":"f","response":{"output":"a","parts":[7]},"parts":[7,{"text":"t"},{"inline_data":{"mime_type":"image/png","data":"AAAA"}}]}}]}],"system_instruction":{"parts":[7,{"text":"s"}]}}`,
	`{"contents":[{"r\u006fle":"user","p\u0061rts":[{"t\u0065xt":"x"},{"functionR\u0065sponse":{"n\u0061me":"f","response":{"\u006futput":"x"}}}]}]}`,
}

func TestStrangeBodiesAreKeptAsTheyAre(t *testing.T) {
	for _, body := range append(strange, `{"contents":[{"parts":[{"text":"`+strings.Repeat(`a\n\"`, 1<<18)+`"}]}]}`) {
		if _, err := gemini.Wire.ParseRequest([]byte(body), nil); err != nil {
			t.Errorf("%.200s: %v", body, err)
		}
		splicetest.Any(t, gemini.Wire, []byte(body))
	}
}

func TestPropertyDamagedBodiesAreKeptAsTheyAre(t *testing.T) {
	for seed, body := range wiretest.Random(t, randomBody) {
		for _, damaged := range splicetest.Damage(body, seed) {
			splicetest.Any(t, gemini.Wire, damaged)
		}
	}
}

func TestPropertyWrittenRequestEqualsTheViewAndBreaksNoNewRule(t *testing.T) {
	for seed, body := range wiretest.Random(t, randomBody) {
		splicetest.Views(t, gemini.Wire, body, seed, gemini.CheckSealed)
	}
}

func TestForeignViewIsRefused(t *testing.T) {
	body := func(system string, more ...string) string {
		response, text := `{"functionResponse":{"name":"f","response":{"output":"x"}}}`, `{"text":"t"}`
		return `{"systemInstruction":{"parts":[{"text":"` + system + `"}]},"contents":[{"parts":[` + strings.Join(append([]string{response, text}, more...), ",") + `]}]}`
	}
	splicetest.Foreign(t, gemini.Wire, body("s"), body("o", `{"functionResponse":{"name":"g","response":{"output":"y"}}}`, `{"text":"u"}`))
}

func FuzzRequest(f *testing.F) {
	for _, body := range strange {
		f.Add([]byte(body))
	}
	for i := range uint64(5) {
		f.Add([]byte(randomBody(i)))
	}
	f.Fuzz(func(t *testing.T, data []byte) { splicetest.Any(t, gemini.Wire, data) })
}
