package provider

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A plant is one change that makes a legal request illegal, with the provider's
// error.
type plant struct {
	old, new string
	rule     string
	text     string // a piece of the error
}

// held passes every planted change to the judge. The rule of the change must refuse the
// request with its text, and the judge must accept the request without the change.
func held(t *testing.T, j *Judge, legal string, plants []plant) {
	t.Helper()
	if found := j.Judge([]byte(legal)); len(found) > 0 {
		t.Fatalf("the legal request: %s: %s", found[0].Rule, found[0].Text)
	}
	for _, p := range plants {
		if n := strings.Count(legal, p.old); n != 1 {
			t.Errorf("%s: %q is %d times in the request", p.rule, p.old, n)
			continue
		}
		found := j.Judge([]byte(strings.Replace(legal, p.old, p.new, 1)))
		if !slices.ContainsFunc(found, func(r Refusal) bool { return r.Rule == p.rule && strings.Contains(r.Text, p.text) }) {
			t.Errorf("%q for %q: not refused by %s with %q, but %v", p.new, p.old, p.rule, p.text, found)
		}
	}
}

// issuing returns a judge for which the model's output in a request is genuine.
func issuing(w Wire, body string) *Judge {
	j := NewJudge(w)
	j.Issue([]byte(body))
	return j
}

const chatBody = `{"model":"gpt-4o","messages":[
{"role":"system","content":"S"},
{"role":"user","content":[{"type":"text","text":"Q"},{"type":"image_url","image_url":{"url":"u"}}],"name":"ann"},
{"role":"assistant","content":null,"reasoning_content":"R","tool_calls":[
 {"id":"a","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"sig"}}},
 {"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"a","content":"A"},
{"role":"tool","tool_call_id":"b","content":"B"},
{"role":"assistant","content":"T"},
{"role":"user","content":"U"}]}`

func TestChatRefusesRequestsThatBreakARule(t *testing.T) {
	tool := `{"role":"tool","tool_call_id":"b","content":"B"},` + "\n"
	held(t, issuing(Chat, chatBody), chatBody, []plant{
		{`"model":"gpt-4o",`, ``, "model", "you must provide a model parameter"},
		{`"messages"`, `"message"`, "missing_field", "Missing required parameter: 'messages'."},
		{`"role":"system"`, `"role":"sys"`, "role", "Invalid value: 'sys'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'."},
		{`"content":"S"`, `"content":null`, "wrong_type", "Invalid value for 'content': expected a string, got null."},
		{`"content":"S"`, `"content":7`, "wrong_type", "Invalid type for 'messages[0].content'"},
		{`{"role":"system","content":"S"}`, `"S"`, "wrong_type", "'messages[0]': expected an object"},
		{`,"content":"B"`, ``, "missing_field", "Missing required parameter: 'messages[4].content'."},
		{`"content":"S"`, `"content":"S","meta":{}`, "unknown_field", "Unknown parameter: 'messages[0].meta'."},
		{`"name":"ann"`, `"name":"an n"`, "name", "string does not match pattern"},
		{`"content":"T"`, `"content":null`, "no_content", "expected a string, got null"},
		{`"content":"U"`, `"content":[]`, "no_content", "empty array"},
		{`"type":"image_url"`, `"type":"picture"`, "part_type", "Supported values are: 'text', 'image_url', 'input_audio', and 'file'"},
		{`"type":"text","text":"Q"`, `"type":"text"`, "missing_field", "'messages[1].content[0].text'"},
		{`"id":"b",`, ``, "missing_field", "'messages[2].tool_calls[1].id'"},
		{`{"name":"g","arguments":"{}"}`, `{"name":"g","arguments":{}}`, "wrong_type", "'messages[2].tool_calls[1].function.arguments'"},
		{`,"function":{"name":"g","arguments":"{}"}`, ``, "missing_field", "'messages[2].tool_calls[1].function'"},
		{`"name":"g"`, `"name":"g g"`, "function_name", "string does not match pattern"},
		{tool, ``, "call_without_result", "must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: b"},
		{tool, tool + tool, "result_twice", "Duplicate value for 'tool_call_id' of 'b'"},
		{`"tool_call_id":"b"`, `"tool_call_id":"c"`, "tool_without_call", "'tool_call_id' of 'c' not found in 'tool_calls' of previous message"},
		{`{"role":"tool","tool_call_id":"a"`, `{"role":"user","content":"!"},{"role":"tool","tool_call_id":"a"`, "tool_without_call", "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'"},
		{`{"role":"assistant","content":"T"}`, `{"role":"assistant","content":"T","tool_calls":[]}`, "no_calls", "empty array"},
		{`"content":"U"}]}`, `"content":"U"}`, "json", "could not parse the JSON body"},
		{chatBody[strings.Index(chatBody, "[\n"):], `[]}`, "no_messages", "empty array"},
	})
}

func TestChatDialectsRefuseMore(t *testing.T) {
	plants := []plant{
		{`"content":"B"`, `"content":""`, "empty_result", "must not be empty"},
		{`"content":"B"`, `"content":[{"type":"text","text":""}]`, "empty_result", "must not be empty"},
		{`,"reasoning_content":"R"`, ``, "reasoning_lost", "must be passed back"},
		{`,"extra_content":{"google":{"thought_signature":"sig"}}`, ``, "signature_lost", "missing a thought_signature"},
		{`"thought_signature":"sig"`, `"thought_signature":"gis"`, "signature_lost", "missing a thought_signature"},
		{",\n" + `{"role":"user","content":"U"}`, ``, "ends_with_model", "must not have the role 'assistant'"},
	}
	j := issuing(Chat, chatBody)
	for _, p := range plants {
		if found := j.Judge([]byte(strings.Replace(chatBody, p.old, p.new, 1))); len(found) > 0 {
			t.Errorf("%s: refused by a plain server: %s", p.rule, found[0].Text)
		}
	}
	j.Dialects = true
	held(t, j, chatBody, plants)
	for _, p := range plants {
		for _, r := range j.Judge([]byte(strings.Replace(chatBody, p.old, p.new, 1))) {
			if !r.Dialect {
				t.Errorf("%s is marked as refused by every server", r.Rule)
			}
		}
	}
}

const responsesBody = `{"model":"gpt-5","store":false,"instructions":"S","input":[
{"role":"user","content":"Q"},
{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"R"}],"encrypted_content":"xyz1"},
{"type":"function_call","id":"fc_1","call_id":"a","name":"f","arguments":"{}","status":"completed"},
{"type":"function_call","call_id":"b","name":"g","arguments":"{}"},
{"type":"function_call_output","call_id":"a","output":"A"},
{"type":"function_call_output","call_id":"b","output":[{"type":"input_text","text":"B"}]},
{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"xyz2"},
{"type":"message","id":"msg_2","role":"assistant","status":"completed","content":[{"type":"output_text","text":"T","annotations":[]}]},
{"type":"web_search_call","id":"ws_1","status":"completed","action":{}},
{"role":"user","content":[{"type":"input_text","text":"U"},{"type":"input_image","image_url":"u"}]}]}`

func TestResponsesRefusesRequestsThatBreakARule(t *testing.T) {
	line := func(part string) string {
		for _, l := range strings.SplitAfter(responsesBody, "\n") {
			if strings.Contains(l, part) {
				return l
			}
		}
		return ""
	}
	held(t, issuing(Responses, responsesBody), responsesBody, []plant{
		{`"model":"gpt-5",`, ``, "model", "Missing required parameter: 'model'."},
		{`"instructions":"S"`, `"instructions":["S"]`, "wrong_type", "'instructions'"},
		{`"input"`, `"inputs"`, "missing_field", "Missing required parameter: 'input'."},
		{`{"role":"user","content":"Q"}`, `{"role":"tool","content":"Q"}`, "role", "Invalid value: 'tool'"},
		{`{"role":"user","content":"Q"}`, `{"content":"Q"}`, "item_type", "Invalid value: ''"},
		{`"content":"Q"`, `"content":[]`, "no_content", "empty array"},
		{`"content":"Q"`, `"content":"Q","meta":{}`, "unknown_field", "Unknown parameter: 'input[0].meta'."},
		{`"type":"output_text"`, `"type":"input_text"`, "part_type", "Invalid value: 'input_text'. Supported values are: 'output_text', and 'refusal'."},
		{`"type":"input_text","text":"U"`, `"type":"text","text":"U"`, "part_type", "Invalid value: 'text'"},
		{`"summary":[{"type":"summary_text","text":"R"}],`, ``, "missing_field", "Missing required parameter: 'input[1].summary'."},
		{`,"encrypted_content":"xyz2"`, ``, "reasoning_not_stored", "Item with id 'rs_2' not found. Items are not persisted when `store` is set to false."},
		{`"encrypted_content":"xyz1"`, `"encrypted_content":"xyz3"`, "sealed", "The encrypted content xyz3... could not be verified."},
		{`"text":"R"`, `"text":"r"`, "sealed", "could not be verified"},
		{`"id":"fc_1"`, `"id":"call_1"`, "item_id", "Expected an ID that begins with 'fc'."},
		{`,"arguments":"{}"}`, `}`, "missing_field", "'input[3].arguments'"},
		{line(`"rs_1"`), ``, "reasoning_lost", "was provided without its required 'reasoning' item: 'xyz1'."},
		{line(`"rs_2"`), ``, "reasoning_lost", "'msg_2' of type 'message' was provided without its required 'reasoning' item"},
		{line(`"msg_2"`), ``, "reasoning_alone", "Item 'rs_2' of type 'reasoning' was provided without its required following item."},
		{line(`"msg_2"`), `{"role":"assistant","content":"made"},`, "reasoning_alone", "Item 'rs_2' of type 'reasoning'"},
		{line(`"fc_1"`), ``, "reasoning_alone", "Item 'rs_1' of type 'reasoning'"},
		{line(`"fc_1"`), ``, "tool_without_call", "No tool call found for function call output with call_id a."},
		{line(`_output","call_id":"b"`), ``, "call_without_result", "No tool output found for function call b."},
		{line(`_output","call_id":"a"`), `{"type":"function_call_output","call_id":"a"},`, "missing_field", "'input[4].output'"},
		{line(`"msg_2"`), line(`"msg_2"`) + line(`"msg_2"`), "item_twice", "Duplicate item found with id msg_2."},
		{`"type":"reasoning","id":"rs_2"`, `"type":"thinking","id":"rs_2"`, "item_type", "Invalid value: 'thinking'"},
		{responsesBody[strings.Index(responsesBody, "[\n"):], `[]}`, "no_messages", "must be provided"},
		{responsesBody[strings.Index(responsesBody, "[\n"):], `7}`, "missing_field", "'input'"},
	})
}

func TestResponsesAcceptsATextAndADelta(t *testing.T) {
	j := NewJudge(Responses)
	for _, body := range []string{`{"model":"m","input":"Q"}`, `{"model":"m","previous_response_id":"resp_1","input":[]}`, `{"model":"m","previous_response_id":"resp_1"}`} {
		if found := j.Judge([]byte(body)); found != nil {
			t.Errorf("%s: %v", body, found)
		}
	}
}

// A compaction item is opaque; reasoning without a known following item has no
// partner.
func TestResponsesCompactionItemIsSealed(t *testing.T) {
	body := `{"model":"m","input":[{"type":"compaction","id":"cmp_1","encrypted_content":"all"},{"role":"user","content":"Q"}]}`
	held(t, issuing(Responses, body), body, []plant{
		{`"encrypted_content":"all"`, `"encrypted_content":"all but one"`, "sealed", "could not be verified"},
		{`"encrypted_content":"all"`, `"summary":"all"`, "missing_field", "encrypted_content"},
	})
}

func TestResponsesDialectsRefuseMore(t *testing.T) {
	j := issuing(Responses, responsesBody)
	j.Dialects = true
	user := ",\n" + responsesBody[strings.LastIndex(responsesBody, `{"role":"user"`):len(responsesBody)-2]
	search := ",\n" + `{"type":"web_search_call","id":"ws_1","status":"completed","action":{}}`
	held(t, j, responsesBody, []plant{
		{`"output":"A"`, `"output":""`, "empty_result", "must not be empty"},
		{`{"type":"input_text","text":"B"}`, `{"type":"input_text","text":""}`, "empty_result", "must not be empty"},
		{search + user, ``, "ends_with_model", "must not be of the model"},
	})
}

func TestNewComparesRuleAndID(t *testing.T) {
	r := func(rule, id, path string) Refusal { return Refusal{Rule: rule, ID: id, Path: path} }
	before := []Refusal{r("pair", "a", "1"), r("pair", "b", "2")}
	got := New(before, []Refusal{r("pair", "a", "9"), r("pair", "a", "10"), r("order", "a", "1")})
	if fmt.Sprint(got) != fmt.Sprint([]Refusal{r("pair", "a", "10"), r("order", "a", "1")}) {
		t.Error(got)
	}
	if got := New(before, before[:1]); got != nil {
		t.Error(got)
	}
}

// A server expects an answer to each id, not to each call.
func TestChatRequiresOneAnswerForTwoCallsWithOneID(t *testing.T) {
	body := strings.NewReplacer(`"id":"b"`, `"id":"a"`, `{"role":"tool","tool_call_id":"b","content":"B"},`, "").Replace(chatBody)
	if found := issuing(Chat, body).Judge([]byte(body)); len(found) > 0 {
		t.Errorf("%s: %s", found[0].Rule, found[0].Text)
	}
}

func TestAJudgeIsSharedByGoroutines(t *testing.T) {
	for w, body := range map[Wire]string{Chat: chatBody, Responses: responsesBody, Anthropic: anthropicBody, Gemini: geminiBody} {
		j := NewJudge(w)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 20 {
					j.Issue([]byte(body))
					if found := j.Judge([]byte(body)); len(found) > 0 {
						t.Errorf("%s: %s: %s", w, found[0].Rule, found[0].Text)
						return
					}
				}
			})
		}
		all.Wait()
	}
}
