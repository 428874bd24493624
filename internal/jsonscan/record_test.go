package jsonscan_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
)

type record struct {
	Int    int                 `json:"int"`
	Int64  int64               `json:"int64,omitempty"`
	Uint32 uint32              `json:"uint32,omitempty"`
	True   bool                `json:"true,omitempty"`
	String string              `json:"string,omitempty"`
	Word   string              `json:"word,omitempty"`
	Text   message.Fingerprint `json:"text"`
	JSON   map[string]float64  `json:"json,omitempty"`
	List   []record            `json:"list"`
}

func readRecord(r *jsonscan.Record, to *record) {
	r.Object(func(r *jsonscan.Record) {
		r.Int("int", &to.Int)
		r.Int64("int64", &to.Int64)
		r.Uint32("uint32", &to.Uint32)
		r.True("true", &to.True)
		r.String("string", &to.String)
		r.Word("word", &to.Word)
		r.Text("text", &to.Text)
		r.JSON("json", &to.JSON)
		jsonscan.List(r, "list", &to.List, readRecord)
	})
}

const noFingerprint = `"text":"00000000000000000000000000000000"`

// If a Record reads its data to the end, the data is JSON, and the values equal the
// values that encoding/json reads.
func FuzzRecordAgreesWithEncodingJSON(f *testing.F) {
	full := record{1, -2, 3, true, "a<b>\n\u00e4", "w", message.Fingerprint{1, 15: 255}, map[string]float64{"x": 1.5}, []record{{Word: "w"}, {List: []record{}}}}
	b, _ := json.Marshal(full)
	f.Add(b)
	for _, s := range []string{
		``, `{}`, `{`, `{"int":1`, `{"int":01}`, `{"int":-0}`, `{"int":-}`, `{"int":1.5}`, `{"int":1e3}`, `{"int":123456789012345678901}`,
		`{,"int":1}`, `{"int":1,}`, `{"int":1"int64":2}`, `{"int":1,"int":2}`, `{"int64":1,"int":2}`, `{"Int":1}`, `{"int":null}`, `{"int":"1"}`,
		`{"uint32":-1}`, `{"uint32":-0}`, `{"uint32":4294967296}`, `{"true":false}`, `{"true":true}`, `{"true":tru}`, `{"string":"\u00zz"}`, "{\"string\":\"a\nb\"}",
		"{\"string\":\"\xff\"}", `{"string":"\ud800"}`, `{"word":"a\tb"}`, `{"string":"a`, `{` + noFingerprint + `}`, `{"text":"0"}`, `{"text":null}`,
		`{"json":{"a":1}}`, `{"json":{"a":}}`, `{"json": {}}`, `{"json":null}`, `{"list":[]}`, `{"list":null}`, `{"list":[{}]}`, `{"list":[{},{}]}`,
		`{"list":[,{}]}`, `{"list":[{},]}`, `{"list":[{}{}]}`, `{"list":[{}`, `{"list":{}}`, `{"list":[]"int":1}`, `{"more":1}`, `{} `, `{}}`, ` {}`, `[]`, `null`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var got, want record
		r := jsonscan.NewRecord(data)
		readRecord(r, &got)
		if !r.Done() {
			return
		}
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatalf("%q is read, and no JSON: %v", data, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q\nis  %+v\nnot %+v", data, got, want)
		}
	})
}

// A Record can read the output of encoding/json; otherwise every record would
// be read twice.
func TestRecordReadsTheOutputOfEncodingJSON(t *testing.T) {
	for _, want := range []record{
		{},
		{Int: -1 << 40, Int64: 1 << 59, Uint32: 1<<32 - 1, True: true, String: "\"quoted\" & <é>", Word: "\x00", Text: message.Fingerprint{7}},
		{JSON: map[string]float64{"a": 1}, List: []record{{}, {Int: 1, List: []record{{Word: "inner"}}}}},
	} {
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got record
		r := jsonscan.NewRecord(b)
		readRecord(r, &got)
		if !r.Done() || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read (%v) as %+v", b, r.Done(), got)
		}
	}
}

// A record that could not be read has no effect on the next one.
func TestResetClearsAFailedRecord(t *testing.T) {
	var first, second record
	r := jsonscan.NewRecord([]byte(`{"word":"w","int":"x"}`))
	readRecord(r, &first)
	if r.Done() {
		t.Fatal("the broken record was read")
	}
	r.Reset([]byte(`{"word":"w"}`))
	if readRecord(r, &second); !r.Done() || second.Word != "w" {
		t.Fatalf("%+v", second)
	}
}
