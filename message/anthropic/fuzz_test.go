package anthropic_test

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/message/internal/splice/splicetest"
	"github.com/agentcompact/compact/message/wire/wiretest"
)

// strange are bodies that no client should send.
var strange = []string{
	`{"messages":[]}`, `{"messages":[{"role":"user","content":null},{"role":"user"},{"role":"assistant","content":""},{"role":"user","content":[]}]}`,
	`{"messages":[{"role":"user","content":[7,"x",null,[],{},{"type":7},{"type":"text"},{"type":"text","text":null},{"type":"image"},{"type":"image","source":7}]}]}`,
	`{"messages":[{"role":"user","content":[{"type":"tool_result"},{"type":"tool_result","content":[7,{"type":"text"},{"type":"text","text":"a"}]},{"type":"tool_result","tool_use_id":7,"content":{"a":1}}]}]}`,
	`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"a","name":"f","input":"text"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"},{"type":"tool_result","tool_use_id":"a","content":"2"}]}]}`,
	`{"messages":[{"role":"user","content":"\ud800 \udc00 \ud83d\ude00 \u0000"},{"role":"user","role":"assistant","content":"a","content":"b"}]}`,
	`{"messages":[{"role":"user","content":[{"type":"text","text":"a","text":"b"},{"type":"tool_result","tool_use_id":"1","content":"x","content":"y"}],"meta":{"protected":true},"meta":7}]}`,
	`{"messages":[{"role":"user","content":[{"type":"text","text":"x","a":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}]}]}`,
	`{"messages":[{"role":"assistant","content":[{"type":"compaction","content":"c"}]},{"role":"system","content":[{"type":"tool_addition"}]}],"system":[7,{"type":"text","text":"s"}]}`,
	`{"messages":[{"role":"\u0075ser","content":[{"\u0074ype":"tool_result"},{"type":"\u0074ext","text":"x"}]}]}`,
}

func TestStrangeBodiesAreKeptAsTheyAre(t *testing.T) {
	for _, body := range append(strange, `{"messages":[{"role":"user","content":"`+strings.Repeat(`a\n\"`, 1<<18)+`"}]}`) {
		if _, err := anthropic.Wire.ParseRequest([]byte(body), nil); err != nil {
			t.Errorf("%.200s: %v", body, err)
		}
		splicetest.Any(t, anthropic.Wire, []byte(body))
	}
}

func TestPropertyDamagedBodiesAreKeptAsTheyAre(t *testing.T) {
	for seed, body := range wiretest.Random(t, randomBody) {
		for _, damaged := range splicetest.Damage(body, seed) {
			splicetest.Any(t, anthropic.Wire, damaged)
		}
	}
}

func TestPropertyWrittenRequestEqualsTheViewAndBreaksNoNewRule(t *testing.T) {
	for seed, body := range wiretest.Random(t, randomBody) {
		splicetest.Views(t, anthropic.Wire, body, seed, anthropic.CheckSealed, anthropic.CheckCompaction)
	}
}

func TestForeignViewIsRefused(t *testing.T) {
	body := func(system string, more ...string) string {
		result, text := `{"type":"tool_result","tool_use_id":"1","content":"`+system+`"}`, `{"type":"text","text":"t"}`
		return `{"system":"` + system + `","messages":[{"role":"user","content":[` + strings.Join(append([]string{result, text}, more...), ",") + `]}]}`
	}
	splicetest.Foreign(t, anthropic.Wire, body("s"), body("o", `{"type":"tool_result","tool_use_id":"2","content":"x"}`, `{"type":"text","text":"u"}`))
}

func FuzzRequest(f *testing.F) {
	for _, body := range strange {
		f.Add([]byte(body))
	}
	for i := range uint64(5) {
		f.Add([]byte(randomBody(i)))
	}
	f.Fuzz(func(t *testing.T, data []byte) { splicetest.Any(t, anthropic.Wire, data) })
}
