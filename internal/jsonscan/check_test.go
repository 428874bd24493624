package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/jsonscan"
)

var documents = []string{
	``, ` `, `{}`, `[]`, `{"a":1}`, ` { "a" : [ 1 , -0.5e+10 , true,false,null ] , "messages":[{"role":"user","type" : "x"},7,"s"] } `,
	`{"a":1,}`, `[1,]`, `[,]`, `{"a"}`, `{"a":}`, `{a:1}`, `{"a":1 "b":2}`, `01`, `-`, `-0`, `1.`, `.5`, `1e`, `1e+`, `1E5`, `tru`, `nul`, `nulll`,
	`"\u00e9"`, `"\u00g9"`, `"\ud800"`, `"\x"`, `"` + "\x1f" + `"`, `"` + "\x7f\x80\xff" + `"`, `"\`, `"`, `1 2`, `{}{}`, "\ufeff{}", `"abcdefg\"hijklmnop\\"`,
	strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
	strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000), `{"messages":[[],{}],"messages":[1]}`, `{"messages":7}`, `{"messages":[1],"messages":null}`,
	`{"messages":[{"role":1,"role":2,"role2":3,"typ":4,"type":{"type":5}}]}`, `{"messages":[{"role":1,"r\u006fle":2,"\u0074ype" : 3,"type\n":4,"rol\\":5}]}`, `[{"type":1}]`,
}

func TestCheckAcceptsTheSameInputAsEncodingJSON(t *testing.T) {
	for _, s := range documents {
		if err := jsonscan.Check([]byte(s)); (err == nil) != json.Valid([]byte(s)) {
			t.Errorf("%.60q: %v, but encoding/json returns %v", s, err, json.Valid([]byte(s)))
		}
	}
}

func TestSyntaxErrorsNameTheOffset(t *testing.T) {
	for in, want := range map[string]jsonscan.SyntaxError{
		`{"a":tru}`:      {Offset: 8},
		`{"a":1`:         {Offset: 6, End: true},
		`[1,]`:           {Offset: 3},
		`{"a":"b` + "\n": {Offset: 7},
		`{} x`:           {Offset: 3},
		`"\u00e9`:        {Offset: 7, End: true},
		`"\u00e`:         {Offset: 2},
		``:               {Offset: 0, End: true},
	} {
		var got *jsonscan.SyntaxError
		if err := jsonscan.Check([]byte(in)); !errors.As(err, &got) || *got != want {
			t.Errorf("%q: %v, want %v", in, err, want)
		}
	}
}

func TestSplitReturnsTheSpansOfMembersAndElements(t *testing.T) {
	data := []byte(` { "model":"m", "messages" : [ {"role":"user","content":{"type":"no"}}, 7,{"x":[], "type" : "t"} ] ,"n":1 } `)
	d, err := jsonscan.Split(data, "messages")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range d.Members {
		got = append(got, m.Key+"="+string(m.Value.Of(data)))
	}
	for _, e := range d.List {
		got = append(got, fmt.Sprintf("%s|%s|%s", e.Of(data), e.Type.Of(data), e.Role.Of(data)))
	}
	want := []string{
		`model="m"`, "messages=" + string(d.At.Of(data)), "n=1",
		`{"role":"user","content":{"type":"no"}}||"user"`, `7||`, `{"x":[], "type" : "t"}|"t"|`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q", got)
	}
}

func TestOfTwoListsTheLastCounts(t *testing.T) {
	d, err := jsonscan.Split([]byte(`{"l":[1,2,3],"l":[4]}`), "l")
	if err != nil || len(d.List) != 1 || d.At.Start != 17 {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err = jsonscan.Split([]byte(`{"l":[1,2,3],"l":null}`), "l"); err != nil || len(d.List) != 0 || d.At.End != 0 {
		t.Errorf("%+v, %v", d, err)
	}
}

// If two members have one name, the last member counts, for all spellings of the names.
func TestSplitReadsTypeAndRoleAsEncodingJSONDoes(t *testing.T) {
	for _, s := range documents {
		var members map[string]json.RawMessage
		if d, err := jsonscan.Split([]byte(s), "messages"); err == nil && json.Unmarshal([]byte(s), &members) == nil {
			compare(t, []byte(s), d, members)
		}
	}
}

func FuzzCheckAgreesWithEncodingJSON(f *testing.F) {
	for _, s := range documents {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		valid := json.Valid(data)
		err := jsonscan.Check(data)
		if (err == nil) != valid {
			t.Fatalf("%v, but encoding/json returns %v", err, valid)
		}
		var members map[string]json.RawMessage
		object := json.Unmarshal(data, &members) == nil && members != nil
		d, err := jsonscan.Split(data, "messages")
		if (err == nil) != object {
			t.Fatalf("split: %v, but encoding/json returns %v", err, object)
		}
		if err == nil {
			compare(t, data, d, members)
		}
	})
}

// compare compares a split document with the result of encoding/json.
func compare(t *testing.T, data []byte, d jsonscan.Document, members map[string]json.RawMessage) {
	t.Helper()
	last := map[string][]byte{}
	for _, m := range d.Members {
		last[m.Key] = m.Value.Of(data)
		if m.Whole.End != m.Value.End || data[m.Whole.Start] != '"' {
			t.Fatalf("member %q is %+v", m.Key, m)
		}
	}
	for k, v := range members {
		if !bytes.Equal(last[k], v) {
			t.Fatalf("%q is %s, want %s", k, last[k], v)
		}
	}
	var list []json.RawMessage
	_ = json.Unmarshal(members["messages"], &list)
	if len(list) != len(d.List) || len(last) != len(members) {
		t.Fatalf("%d elements of %d, %d keys of %d", len(d.List), len(list), len(last), len(members))
	}
	for i, e := range d.List {
		var element map[string]json.RawMessage
		_ = json.Unmarshal(list[i], &element) // an element that is not an object has no name and no text
		if !bytes.Equal(element["type"], e.Type.Of(data)) || !bytes.Equal(element["role"], e.Role.Of(data)) {
			t.Fatalf("element %d: type %s and role %s of %s", i, e.Type.Of(data), e.Role.Of(data), list[i])
		}
		if !bytes.Equal(e.Of(data), list[i]) {
			t.Fatalf("element %d is %s, want %s", i, e.Of(data), list[i])
		}
	}
}

func TestAgainAgreesWithSplitAtEveryDifference(t *testing.T) {
	before := []byte(`{"a":[1],"messages":[{"role":"user","content":"a,]}\"b"} , 12,[3], "x",{"type":"t"}],"c":{"messages":[1]}} `)
	doc, err := jsonscan.Split(before, "messages")
	if err != nil {
		t.Fatal(err)
	}
	tails := []string{``, `]}`, `,1]}`, `1]}`, `"]}`, `"}]}`, `],"d":1}`, `,{"role":"x"}],"messages":[]}`, ` ] , "e" : 2 } `, `}]}`}
	for same := range before {
		for _, tail := range tails {
			data := append(before[:same:same], tail...)
			want, wantErr := jsonscan.Split(data, "messages")
			got, err := jsonscan.Again(data, "messages", doc, same)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %+v, %v\nwant %+v, %v", data, got, err, want, wantErr)
			}
		}
	}
}

func FuzzAgainAgreesWithSplit(f *testing.F) {
	for i, s := range documents {
		f.Add([]byte(s), []byte(documents[(i+1)%len(documents)]))
	}
	f.Add([]byte(`{"a":1,"messages":[{"b":1},12,"x"],"c":2}`), []byte(`{"a":1,"messages":[{"b":1},12,"x",{"d":3}] ,"e":2}`))
	f.Add([]byte(`{"messages":[1,2]}`), []byte(`{"messages":[1,23]}`))
	f.Add([]byte(`{"messages":[1],"messages":[2,3]}`), []byte(`{"messages":[1],"messages":[2,3,4],"messages":7}`))
	f.Fuzz(func(t *testing.T, before, data []byte) {
		doc, err := jsonscan.Split(before, "messages")
		if err != nil {
			return
		}
		same := 0
		for same < len(before) && same < len(data) && before[same] == data[same] {
			same++
		}
		want, wantErr := jsonscan.Split(data, "messages")
		got, err := jsonscan.Again(data, "messages", doc, same)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%+v, %v\nwant %+v, %v", got, err, want, wantErr)
		}
	})
}

func FuzzUnquoteAgreesWithEncodingJSON(f *testing.F) {
	for _, s := range []string{`"a"`, `"\ud83d\ude00\ud83d\ud83dx\ude00\u00e9\n"`, "\"\xff\xc3(\\n\xf0\x9f\"", `"\u12"`, `"\`, `"a\"`, `"\/\b\f\t\r\\\""`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, quoted []byte) {
		got, err := jsonscan.Unquote(quoted)
		if jsonscan.Check(quoted) != nil || len(quoted) == 0 || quoted[0] != '"' || quoted[len(quoted)-1] != '"' {
			return
		}
		var want string
		if json.Unmarshal(quoted, &want) != nil {
			t.Fatalf("%q was checked, but is not a string", quoted)
		}
		if err != nil || got != want {
			t.Fatalf("%q: %q, %v, want %q", quoted, got, err, want)
		}
	})
}

// The texts in the body for benchmarks: code, with an escape every
// ten bytes, and prose, with one every two hundred.
const (
	code  = `func main() {\n\tfmt.Println(\"hello\")\n}\n// and then some prose that has no escapes at all, as most of it `
	prose = `What has no quotes and no line breaks is looked at eight bytes at a time, and nothing of it is copied, decoded or kept; so it goes on for a while, until there comes the end of a line, as it has to.\n`
)

// body returns a request of 1,000 messages of about 1,000 bytes each.
func body(text string) []byte {
	text = strings.TrimRight(strings.Repeat(text, 1+1000/len(text))[:1000], `\`)
	var b strings.Builder
	b.WriteString(`{"model":"gpt-4o","messages":[`)
	for i := range 1000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"role":"user","content":"%d %s"}`, i, text)
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

func BenchmarkSplit(b *testing.B) {
	for name, text := range map[string]string{"code": code, "prose": prose} {
		data := body(text)
		if !json.Valid(data) {
			b.Fatal("the body is not JSON")
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if d, err := jsonscan.Split(data, "messages"); err != nil || len(d.List) != 1000 {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEncodingJSONValid(b *testing.B) {
	data := body(code)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if !json.Valid(data) {
			b.Fatal("no JSON")
		}
	}
}

// Naming the first byte would not help, because the input is not JSON at all.
func TestErrorsAtTheBeginningNameTheExpectedForm(t *testing.T) {
	for in, want := range map[string]string{"": "it is empty", "hello": "such as { or [", "{]": "at byte 1", "[1,": "it ends at byte 3"} {
		if err := jsonscan.Check([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", in, err, want)
		}
	}
}
