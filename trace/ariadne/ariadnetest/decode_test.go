package ariadnetest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// checkDecode compares the decoder with encoding/json, which accepts the same grammar.
// Only encoding/json refuses numbers beyond float64; JavaScript accepts them.
func checkDecode(t *testing.T, s string) {
	t.Helper()
	s = strings.ToValidUTF8(s, "\uFFFD")
	got, err := decode(s)
	if valid := json.Valid([]byte(s)); (err == nil) != valid {
		t.Fatalf("decode(%q): %v; valid JSON: %v", s, err, valid)
	}
	var want any
	if err != nil || json.Unmarshal([]byte(s), &want) != nil {
		return
	}
	if !reflect.DeepEqual(want, got.plain()) { // a diff of a deep value would take forever
		t.Errorf("decode(%.500q) = %.500q, want %.500q", s, fmt.Sprint(got.plain()), fmt.Sprint(want))
	}
}

var decodeSamples = []string{
	`{}`, `[]`, `""`, ``, ` `, `null`, `tru`, `truex`, `{"a":1,"b":[true,false,null,-0.5e+3,"x\n\u00e9\ud83d\ude00\ud800"],"a":{"c":[]}}`,
	`{"a":1,}`, `[1,]`, `[1 2]`, `{"a" 1}`, `{a:1}`, `"\x"`, "\"a\nb\"", `"a`, `01`, `-`, `1.`, `.5`, `1e`, `+1`, `[1]x`, "\t{ \"a\" : [ ] }\r\n",
	`{"\u0061":1}`, `"\u12"`, `[[[]]]`, strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
	strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), "\"\"\x00",
}

func TestDecoderReadsTheSameInputAsJSONParse(t *testing.T) {
	for _, s := range decodeSamples {
		checkDecode(t, s)
	}
}

func TestDecoderKeepsOrderAndTheLastOfTwo(t *testing.T) {
	v, err := decode(`{"z":1,"a":2,"z":3}`)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, m := range v.members {
		keys = append(keys, m.key)
	}
	if last, ok := v.get("z"); !ok || last.text != "3" || strings.Join(keys, "") != "zaz" {
		t.Errorf("keys %v, z %+v", keys, last)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range decodeSamples {
		f.Add(s)
	}
	f.Fuzz(checkDecode)
}
