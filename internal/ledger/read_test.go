package ledger

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
)

// fill sets every exported field that is written to a value other than its zero value: a
// list gets two elements, and a pointer is set.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
				fill(v.Field(i), n)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), reflect.ValueOf("value").Convert(v.Type().Elem()))
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d <é>", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.5)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n) % 256)
	default:
		panic("what is a " + v.Kind().String())
	}
}

// A record with all fields, and an empty record, are read without reflection. A field
// that the reader does not know would make the reading of every ledger slow.
func TestLedgerReaderKnowsEveryField(t *testing.T) {
	var full Edit
	n := 0
	fill(reflect.ValueOf(&full).Elem(), &n)
	for _, want := range []Edit{full, {}} {
		line, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Edit
		l := NewReader()
		l.r.Reset(line)
		if readEdit(l.r, &got); !l.r.Done() {
			t.Errorf("the record is left to encoding/json: %s", line)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("read as\n%+v\nnot\n%+v", got, want)
		}
	}
}

// A ledger with its summary inserted from another file is read without reflection,
// and so are texts with escapes.
func TestLedgerReaderReadsTheFileOfASummary(t *testing.T) {
	r, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	info := &policy.SummaryInfo{Version: 2, Strategy: "task_state", Text: "one\n\"two\" <three>", Retention: 0.5, Errors: []string{"a"}}
	data := fmt.Appendf(nil, `{"v":1,"step":3,"recipes":[{"stage":"summarize","cut":{"removed":[[1,5]],"recent":7,"decision":"summarized","summary":%s}}]}`, SummaryFile(3, info, r.Session()).String())
	var got, want Step
	l := NewReader()
	l.r.Reset(data)
	if readStep(l.r, &got); !l.r.Done() {
		t.Errorf("the ledger is left to encoding/json: %s", data)
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(got.Recipes[0].Cut.Summary, info) {
		t.Errorf("read as\n%+v\nnot\n%+v", got, want)
	}
}

// Any ledger and any edits.jsonl is read in the same way as by encoding/json.
func FuzzLedgerReaderAgreesWithEncodingJSON(f *testing.F) {
	var full Edit
	n := 0
	fill(reflect.ValueOf(&full).Elem(), &n)
	for _, e := range []Edit{full, {}} {
		line, err := json.Marshal(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	for _, s := range []string{
		`{"edit":{"v":1,"from":"another program","recipes":[]}}`, `{"edit":{"V":1}}`, `{"edit":{"v":1,"v":2}}`, `{"edit":null}`, `{"edit":{"keep":null}}`,
		`{"edit":{"recipes":[{"stage":"mask","texts":[{"segments":[{"mark":null}]}]}]}}`, `{"edit":{"recipes":[{"cut":null}]}}`, `{"edit":{"v":"1"}}`, `{"edit":{`,
		`{"edit":{"in":{"n":1,"hash":"0"}}}`, `{"edit":{"evicted":[{"turn":-1}]}}`, `{"edit":{"v":1}} {}`, "{\"edit\":{\"note\":\"\xff\"}}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var got, want Edit
		err, wanted := NewReader().Edit(line, &got), json.Unmarshal(line, &want)
		if (err == nil) != (wanted == nil) {
			t.Fatalf("%q: %v, not %v", line, err, wanted)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q\nis  %+v\nnot %+v", line, got, want)
		}
	})
}

// Thousands of edits contain the same few words, and memory has each word once.
func TestLedgerReaderSharesWords(t *testing.T) {
	line, err := json.Marshal(Edit{Edit: Step{Session: "a long name of a session", Model: "a long name of a model", Kind: "always", Evicted: []Eviction{{FP: message.Fingerprint{1}, Is: "masked"}}}})
	if err != nil {
		t.Fatal(err)
	}
	l := NewReader()
	var e Edit
	if err := l.Edit(line, &e); err != nil {
		t.Fatal(err)
	}
	allocs := testing.AllocsPerRun(100, func() {
		e = Edit{}
		if err := l.Edit(line, &e); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 1 { // the list
		t.Errorf("%v allocations for a line whose words are known", allocs)
	}
}

// A ledger of a later version may hold edits that this program does not know. Without
// these edits the program would show another view.
func TestParseRefusesUnknownVersions(t *testing.T) {
	for v, ok := range map[int]bool{0: false, 1: true, Version: true, Version + 1: false} {
		for name, form := range map[string]string{"quickly": `{"v":%d,"step":3}`, "by reflection": `{"v":%d,"step":3,"later":true}`} {
			if step, err := Parse(fmt.Appendf(nil, form, v)); (err == nil) != ok {
				t.Errorf("version %d, %s: %+v, %v", v, name, step, err)
			}
		}
	}
}
