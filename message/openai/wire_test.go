package openai_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/internal/corpus"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/message/wire/wiretest"
)

// randomBody writes a request of chat completions.
func randomBody(seed uint64) string {
	j := wiretest.NewJSON(seed)
	var list []string
	for i := range j.IntN(8) {
		list = append(list, randomRound(j, i)...)
	}
	return j.Space() + j.Object("model", j.Text(), "messages", j.Array(list...), "max_tokens", "77", "stream", "true",
		"tools", j.Array(j.Object("type", `"function"`)), "metadata", j.Any(2), "user", j.Any(1)) + j.Space()
}

func randomRound(j wiretest.JSON, i int) []string {
	switch j.IntN(4) {
	case 0:
		return []string{j.Object("role", []string{`"system"`, `"developer"`}[j.IntN(2)], "content", j.Text())}
	case 1:
		return []string{j.Object("role", `"user"`, "content", j.Array(
			j.Object("type", `"text"`, "text", j.Text()),
			j.Object("type", `"image_url"`, "image_url", j.Object("url", `"data:image/png;base64,AAAA"`)),
			j.Object("type", `"hologram"`)))}
	case 2:
		return []string{j.Object("role", `"assistant"`, "content", j.Text(), "refusal", "null", "reasoning_content", j.Text())}
	}
	var calls, out []string
	for k := range 1 + j.IntN(3) {
		id := fmt.Sprintf(`"call_%d_%d"`, i, k)
		calls = append(calls, j.Object("id", id, "type", `"function"`, "function", j.Object("name", `"f"`, "arguments", j.Quote(`{"n":12345678901234567890}`)), "extra_content", j.Any(1)))
		content := j.Text()
		if j.IntN(3) == 0 {
			content = j.Array(j.Object("type", `"text"`, "text", j.Text()), j.Object("text", j.Text(), "type", `"text"`))
		}
		out = append(out, j.Object("role", `"tool"`, "tool_call_id", id, "content", content))
	}
	return append([]string{j.Object("role", `"assistant"`, "content", "null", "tool_calls", j.Array(calls...))}, out...)
}

func TestPropertyWireKeepsEveryByteThatIsNotEdited(t *testing.T) {
	for _, body := range wiretest.Random(t, randomBody) {
		wiretest.Body(t, openai.Wire, body)
	}
}

func TestWireReadsEveryRecordedSession(t *testing.T) {
	for _, dir := range []string{"chat", "chat_asis"} {
		n := 0
		for name, data := range corpus.Some(t, dir, func() bool { n++; return n%samples.Every(1) == 0 }) {
			body := []byte(`{"model":"m","messages":[` + strings.Join(strings.Split(strings.TrimSpace(string(data)), "\n"), ", ") + `],"n":1}`)
			r, err := openai.Wire.ParseRequest(body, nil)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			out, err := r.Write(r.Messages(), seq(len(r.Messages())))
			if err != nil || !bytes.Contains(data, []byte(`"meta"`)) && !bytes.Equal(out, body) {
				t.Errorf("%s: the written body differs from the read one; error %v", name, err)
			}
		}
	}
}

var seq = wiretest.Sources

func parse(t *testing.T, body string) wire.Request {
	t.Helper()
	return wiretest.Parse(t, openai.Wire, body)
}

func TestAboutReadsTheRestOfTheBody(t *testing.T) {
	got := parse(t, `{"messages":[],"model":"gpt-5","tools":[{"a":1}],"max_tokens":5,"max_completion_tokens":7,"stream":true,"prompt_cache_key":"k","safety_identifier":"u","metadata":{"a":"b","n":1,"user_id":"z"}}`).About()
	want := wire.About{Model: "gpt-5", Tools: []byte(`[{"a":1}]`), MaxOutput: 7, Stream: true, CacheKey: "k", User: "u", Metadata: map[string]string{"a": "b", "user_id": "z"}, Bytes: 192}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = parse(t, `{"messages":[],"tools":[2],"max_tokens":null,"metadata":7,"model":["m"],"user":"u","stream":"true","client_metadata":{"a":"b"},"tools":null}`).About()
	if diff := cmp.Diff(wire.About{User: "u", ClientMetadata: map[string]string{"a": "b"}, Bytes: 140}, got); diff != "" {
		t.Error(diff)
	}
	got = parse(t, `{"messages":[],"functions":[1],"tools":null,"max_tokens":5,"user":7,"metadata":{"user_id":"z"},"model":"a","model":"b"}`).About()
	want = wire.About{Model: "b", Tools: []byte(`[1]`), MaxOutput: 5, User: "z", Metadata: map[string]string{"user_id": "z"}, Bytes: 119}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMetaIsNotSent(t *testing.T) {
	r := parse(t, `{ "messages" : [ {"role":"user","content":"a","meta":{"protected":true}} , {"role":"user","content":"b"} ] }`)
	if !r.Messages()[0].Protected {
		t.Error("the protection in meta was not read")
	}
	out, err := r.Write(r.Messages(), seq(2))
	if want := `{ "messages" : [ {"role":"user","content":"a"} , {"role":"user","content":"b"} ] }`; err != nil || string(out) != want {
		t.Errorf("got %s and error %v, want no meta", out, err)
	}
}

func TestNewMessagesKeepTheirPlaceInTheView(t *testing.T) {
	r := parse(t, `{"messages":[
  {"role":"system","content":"s"},
  {"role":"user","content":"a"},
  {"role":"assistant","content":"b"},
  {"role":"user","content":"c"}
],"n":1}`)
	m := r.Messages()
	out, err := r.Write([]message.Message{m[0], message.Assistant("sum"), m[3]}, []int{0, -1, 3})
	want := `{"messages":[
  {"role":"system","content":"s"},
  {"role":"assistant","content":"sum"},
  {"role":"user","content":"c"}
],"n":1}`
	if err != nil || string(out) != want {
		t.Errorf("got %s and error %v, want the new messages at their places", out, err)
	}
	out, err = r.Write([]message.Message{m[0], m[3], m[2], m[1]}, []int{0, 3, 2, 1})
	want = `{"messages":[
  {"role":"system","content":"s"},
  {"role":"user","content":"c"},
  {"role":"assistant","content":"b"},
  {"role":"user","content":"a"}
],"n":1}`
	if err != nil || string(out) != want {
		t.Errorf("got %s and error %v, want the messages in the order of the view", out, err)
	}
	for _, bad := range [][]int{{0}, {0, 4, 1}, {0, -2, 1}} {
		if _, err := r.Write([]message.Message{m[0], m[1], m[2]}, bad); err == nil {
			t.Errorf("sources %v were accepted", bad)
		}
	}
	if out, err = parse(t, `{"messages":[ ]}`).Write([]message.Message{message.User("x")}, []int{-1}); err != nil || string(out) != `{"messages":[{"role":"user","content":"x"}]}` && string(out) != `{"messages":[ {"role":"user","content":"x"}]}` {
		t.Errorf("got %s and error %v, want a list with the new message", out, err)
	}
}

func TestBadBodiesNameTheField(t *testing.T) {
	for body, want := range map[string]string{
		``:                              "not valid JSON",
		`[]`:                            "an object is wanted",
		`{"messages":[}`:                "at byte 13",
		`{"model":"m"}`:                 `"messages"`,
		`{"messages":[],"messages":[]}`: `"messages": occurs twice`,
		`{"messages":"x"}`:              `"messages"`,
		`{"messages":[{"role":"user","content":"x"},{"role":"user","content":[7]}]}`: `"messages[1].content[0]"`,
		`{"messages":[7]}`: `"messages[0]"`,
	} {
		if _, err := openai.Wire.ParseRequest([]byte(body), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
}

func FuzzRequest(f *testing.F) {
	for i := range uint64(8) {
		f.Add([]byte(randomBody(i)))
	}
	f.Add([]byte(`{"messages":[{"role":"user","content":"a","meta":{"protected":true},"meta":1}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := openai.Wire.ParseRequest(body, nil)
		if err != nil {
			return
		}
		msgs := r.Messages()
		out, err := r.Write(msgs, seq(len(msgs)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(body, []byte(`"meta"`)) && !bytes.Equal(out, body) {
			t.Fatalf("%s became %s", body, out)
		}
		again, err := openai.Wire.ParseRequest(out, nil)
		if err != nil || len(again.Messages()) != len(msgs) {
			t.Fatalf("%v: %s", err, out)
		}
		r.Check(msgs, seq(len(msgs)))
		_, _ = r.Write(append(msgs[:len(msgs):len(msgs)], message.User("x")), append(seq(len(msgs)), -1))
	})
}

// megabyte returns a request of 1,000 messages and about 1 MB.
func megabyte() []byte { return rounds(333) }

// rounds returns a request of n rounds of three messages and about 3 KB.
func rounds(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"model":"gpt-4o","messages":[{"role":"system","content":"s"}`)
	for i := range n {
		text := strings.Repeat(fmt.Sprintf(`line %d of some code:\n\tfmt.Println(\"hello\")\n`, i), 56)
		fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"f%d.go\"}"}}]}`, i, i)
		fmt.Fprintf(&b, `,{"role":"tool","tool_call_id":"c%d","content":"%s"},{"role":"user","content":"%d"}`, i, text, i)
	}
	b.WriteString(`],"stream":true}`)
	return b.Bytes()
}

func BenchmarkParseRequestWarm(b *testing.B) {
	body, c := megabyte(), wire.NewCache(0)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := openai.Wire.ParseRequest(body, c)
		if err != nil || len(r.Messages()) != 1000 {
			b.Fatal(err)
		}
	}
}

// The bodies grow like those of an agent: each body is the previous body and one more round.
func BenchmarkParseRequestGrowing(b *testing.B) {
	var bodies [][]byte
	for n := range 20 {
		bodies = append(bodies, rounds(314+n))
	}
	c, i := wire.NewCache(0), 0
	b.SetBytes(int64(len(bodies[10])))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := openai.Wire.ParseRequest(bodies[i%20], c); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

func BenchmarkParseRequestCold(b *testing.B) {
	body := megabyte()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := openai.Wire.ParseRequest(body, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWriteUnchanged(b *testing.B) {
	r, err := openai.Wire.ParseRequest(megabyte(), nil)
	if err != nil {
		b.Fatal(err)
	}
	sources := seq(len(r.Messages()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Write(r.Messages(), sources); err != nil {
			b.Fatal(err)
		}
	}
}
