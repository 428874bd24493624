package legality

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/internal/provider/render"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
)

// session has every feature that can be broken: reasoning, a text with calls,
// parallel calls, two steps of one turn.
const session = `{"role":"system","content":"You fix bugs."}
{"role":"user","content":"Fix it."}
{"role":"assistant","content":"I look.","reasoning_content":"Look first.","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}},{"id":"c2","type":"function","function":{"name":"list","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"c1","content":"one"}
{"role":"tool","tool_call_id":"c2","content":"two"}
{"role":"assistant","content":null,"reasoning_content":"Then write.","tool_calls":[{"id":"c3","type":"function","function":{"name":"write","arguments":"{\"path\":\"b\"}"}}]}
{"role":"tool","tool_call_id":"c3","content":"three"}
{"role":"assistant","content":"Fixed.","reasoning_content":"That was it."}
{"role":"user","content":"And the other?"}
{"role":"assistant","content":null,"reasoning_content":"Again.","tool_calls":[{"id":"c4","type":"function","function":{"name":"read","arguments":"{\"path\":\"c\"}"}}]}
{"role":"tool","tool_call_id":"c4","content":"four"}
`

// rendered returns the session in the format of a wire, and the judge of that wire.
func rendered(t *testing.T, w provider.Wire, seed uint64) ([]byte, *provider.Judge) {
	t.Helper()
	rows, err := render.Rows([]byte(session))
	if err != nil {
		t.Fatal(err)
	}
	body := render.New(w, seed, rows).Body(len(rows))
	j := provider.NewJudge(w)
	j.Dialects = true
	j.Issue(body)
	if found := j.Judge(body); len(found) > 0 {
		t.Fatalf("%s, seed %d: the session itself is refused: %s", w, seed, found[0].Text)
	}
	return body, j
}

// A view is the view of the messages of a request.
type view struct {
	msgs    []message.Message
	sources []int
}

func viewOf(req wire.Request) view {
	v := view{msgs: slices.Clone(req.Messages())}
	for i := range v.msgs {
		v.sources = append(v.sources, i)
	}
	return v
}

func (v *view) drop(i int) {
	v.msgs, v.sources = slices.Delete(v.msgs, i, i+1), slices.Delete(v.sources, i, i+1)
}

func (v *view) swap(i, k int) {
	v.msgs[i], v.msgs[k] = v.msgs[k], v.msgs[i]
	v.sources[i], v.sources[k] = v.sources[k], v.sources[i]
}

func (v *view) insert(i int, m message.Message) {
	v.msgs, v.sources = slices.Insert(v.msgs, i, m), slices.Insert(v.sources, i, -1)
}

// find returns the n-th message with such a part.
func (v *view) find(n int, kind message.Kind) int {
	for i, m := range v.msgs {
		if m.Has(kind) {
			if n--; n < 0 {
				return i
			}
		}
	}
	return -1
}

// stub makes the first result of a message read differently.
func (v *view) stub(t *testing.T, i int, text string) {
	t.Helper()
	for p, part := range v.msgs[i].Parts {
		if part.Kind == message.KindToolResult {
			m, err := v.msgs[i].WithPartText(p, text)
			if err != nil {
				t.Fatal(err)
			}
			v.msgs[i] = m
			return
		}
	}
	t.Fatal("no result")
}

// Edits that no reduction may make, with the rules by which the judge of each
// wire refuses the result. The codec's own check must find them too.
func TestIllegalViewsAreRefused(t *testing.T) {
	all := provider.Wires()
	for name, c := range map[string]struct {
		wires []provider.Wire
		edit  func(t *testing.T, v *view)
		rules []string
	}{
		"a result alone is dropped": {all, func(_ *testing.T, v *view) { v.drop(v.find(0, message.KindToolResult)) }, []string{"call_without_result", "parity"}},
		"a call alone is dropped":   {all, func(_ *testing.T, v *view) { v.drop(v.find(0, message.KindToolCall)) }, []string{"tool_without_call"}},
		"a result before its call": {all, func(_ *testing.T, v *view) { i := v.find(1, message.KindToolCall); v.swap(i, i+1) }, []string{
			"call_without_result", "tool_without_call"}},
		"rounds with each other's results": {all, func(_ *testing.T, v *view) {
			v.swap(v.find(1, message.KindToolCall)+1, v.find(2, message.KindToolCall)+1)
		}, []string{"tool_without_call", "call_without_result"}},
		"an inserted message inside a round": {[]provider.Wire{provider.Chat, provider.Anthropic, provider.Gemini}, func(_ *testing.T, v *view) {
			v.insert(v.find(1, message.KindToolCall)+1, message.User("made"))
		}, []string{"tool_without_call", "call_without_result"}},
		"no message of the user": {[]provider.Wire{provider.Anthropic, provider.Gemini}, func(_ *testing.T, v *view) {
			v.drop(slices.IndexFunc(v.msgs, func(m message.Message) bool { return m.Role == message.RoleUser }))
		}, []string{"first_role"}},
		"the last message is the model's": {[]provider.Wire{provider.Anthropic, provider.Gemini}, func(_ *testing.T, v *view) {
			for v.msgs[len(v.msgs)-1].Text() != "Fixed." {
				v.drop(len(v.msgs) - 1)
			}
		}, []string{"prefill", "last_role"}},
	} {
		for _, w := range c.wires {
			for seed := range uint64(12) {
				body, judge := rendered(t, w, seed)
				req, err := parse(w, body)
				if err != nil {
					t.Fatal(err)
				}
				before, v := viewOf(req), viewOf(req)
				c.edit(t, &v)
				out, err := req.Write(v.msgs, v.sources)
				if err != nil {
					t.Fatalf("%s, %s, seed %d: %v", name, w, seed, err)
				}
				if !slices.ContainsFunc(judge.Judge(out), func(r provider.Refusal) bool { return slices.Contains(c.rules, r.Rule) }) {
					t.Errorf("%s, %s, seed %d: the judge reports %v of\n%s", name, w, seed, judge.Judge(out), out)
				}
				if found := wire.New(req.Check(before.msgs, before.sources), req.Check(v.msgs, v.sources)); len(found) == 0 {
					t.Errorf("%s, %s, seed %d: the codec's check finds nothing", name, w, seed)
				}
			}
		}
	}
}

func TestEmptyStubsAreRefused(t *testing.T) {
	for _, w := range provider.Wires() {
		for seed := range uint64(12) {
			body, judge := rendered(t, w, seed)
			req, err := parse(w, body)
			if err != nil {
				t.Fatal(err)
			}
			v := viewOf(req)
			v.stub(t, v.find(1, message.KindToolResult), "")
			out, err := req.Write(v.msgs, v.sources)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(judge.Judge(out), func(r provider.Refusal) bool { return strings.HasPrefix(r.Rule, "empty_") }) {
				t.Errorf("%s, seed %d: the judge reports %v of\n%s", w, seed, judge.Judge(out), out)
			}
		}
	}
}

// Edits that no view can express, because such parts are sealed: they change
// the bytes.
func TestBrokenSealsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		wire provider.Wire
		seed func(body string) bool // whether a body has the feature to break
		edit func(o map[string]any) bool
		rule string
	}{
		"anthropic: thinking is dropped": {provider.Anthropic, has(`"signature"`), blocks("content", func(o map[string]any) bool { return o["type"] == "thinking" }, nil), "thinking_changed"},
		"anthropic: thinking is edited":  {provider.Anthropic, has(`"signature"`), blocks("content", nil, set("thinking", "Something else.")), "sealed"},
		"anthropic: a signature is lost": {provider.Anthropic, has(`"signature"`), blocks("content", nil, remove("signature")), "missing_field"},
		"responses: reasoning is dropped": {provider.Responses, has(`"rs_`), blocks("", func(o map[string]any) bool { return o["type"] == "reasoning" }, nil),
			"reasoning_lost"},
		"responses: the summary is lost": {provider.Responses, has(`"rs_`), blocks("", nil, remove("summary")), "missing_field"},
		"responses: the seal is broken":  {provider.Responses, has(`"rs_`), blocks("", nil, set("encrypted_content", "bm90aGluZw==")), "sealed"},
		"responses: reasoning alone": {provider.Responses, has(`"rs_`), blocks("", func(o map[string]any) bool {
			return o["type"] == "function_call" || o["type"] == "message" || o["role"] == "assistant"
		}, nil),
			"reasoning_alone"},
		"gemini: a signature is lost":   {provider.Gemini, has(`"thoughtSignature"`), blocks("parts", nil, remove("thoughtSignature")), "signature_missing"},
		"gemini: a signature is forged": {provider.Gemini, has(`"thoughtSignature"`), blocks("parts", nil, set("thoughtSignature", "c2ln")), "sealed"},
		"chat: reasoning is stripped":   {provider.Chat, has(`"reasoning_content"`), blocks("", nil, remove("reasoning_content")), "reasoning_lost"},
	} {
		tried := 0
		for seed := range uint64(40) {
			body, judge := rendered(t, c.wire, seed)
			if !c.seed(string(body)) {
				continue
			}
			tried++
			var o map[string]any
			if err := json.Unmarshal(body, &o); err != nil {
				t.Fatal(err)
			}
			items := o[lists[c.wire]].([]any)
			o[lists[c.wire]] = filter(items, c.edit)
			out, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(judge.Judge(out), func(r provider.Refusal) bool { return r.Rule == c.rule }) {
				t.Errorf("%s, seed %d: the judge reports %v", name, seed, judge.Judge(out))
			}
		}
		if tried < 5 {
			t.Errorf("%s: only %d of 40 seeds have it", name, tried)
		}
	}
}

func has(part string) func(string) bool {
	return func(body string) bool { return strings.Contains(body, part) }
}

func remove(field string) func(map[string]any) { return func(o map[string]any) { delete(o, field) } }

// set changes a field if it exists.
func set(field, value string) func(map[string]any) {
	return func(o map[string]any) {
		if _, ok := o[field]; ok {
			o[field] = value
		}
	}
}

// blocks returns an edit of a listed item, or of the elements of a list in it:
// elements for which drop returns true are removed, the others are changed. It
// reports whether the item itself stays.
func blocks(list string, drop func(map[string]any) bool, change func(map[string]any)) func(map[string]any) bool {
	one := func(o map[string]any) bool {
		if change != nil {
			change(o)
		}
		return drop == nil || !drop(o)
	}
	if list == "" {
		return one
	}
	return func(o map[string]any) bool {
		if elems, ok := o[list].([]any); ok {
			o[list] = filter(elems, one)
		}
		return true
	}
}

func filter(items []any, keep func(map[string]any) bool) []any {
	out := []any{}
	for _, it := range items {
		if keep(it.(map[string]any)) {
			out = append(out, it)
		}
	}
	return out
}
