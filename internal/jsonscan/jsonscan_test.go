package jsonscan_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/agentcompact/compact/internal/jsonscan"
)

func TestObjectReturnsTheSpanOfEachValue(t *testing.T) {
	data := []byte(` { "a" : [1, {"b":"}"}] ,"c":"\"", "d":-1.5e3,"e":null } `)
	whole, err := jsonscan.Value(data, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	err = jsonscan.Object(data, whole, func(m jsonscan.Member) error {
		got[m.Key] = string(m.Value.Of(data))
		return nil
	})
	want := map[string]string{"a": `[1, {"b":"}"}]`, "c": `"\""`, "d": "-1.5e3", "e": "null"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestWithoutCutsOneMemberAndItsComma(t *testing.T) {
	for in, want := range map[string]string{
		`{"x":1}`:                 `{}`,
		`{"x":1,"b":2}`:           `{"b":2}`,
		`{"a":1,"x":1}`:           `{"a":1}`,
		`{"a":1 , "x":1 }`:        `{"a":1  }`,
		`{"a":1, "x":[1], "b":2}`: `{"a":1, "b":2}`,
	} {
		var at jsonscan.Span
		whole, _ := jsonscan.Value([]byte(in), 0)
		_ = jsonscan.Object([]byte(in), whole, func(m jsonscan.Member) error {
			if m.Key == "x" {
				at = m.Whole
			}
			return nil
		})
		if got := string(jsonscan.Without([]byte(in), at)); got != want || !json.Valid([]byte(got)) {
			t.Errorf("%s without x is %s, want %s", in, got, want)
		}
	}
}

func TestBrokenInputIsAnErrorAndNoPanic(t *testing.T) {
	for _, in := range []string{``, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a" 1}`, `{a:1}`, `{"a":1 "b":2}`, `{"a":"`, `{"a":[1}`, `"\`} {
		whole, err := jsonscan.Value([]byte(in), 0)
		if err == nil {
			err = jsonscan.Object([]byte(in), whole, func(jsonscan.Member) error { return nil })
		}
		if err == nil {
			t.Errorf("%q was accepted", in)
		}
	}
}

func FuzzQuoteAgreesWithEncodingJSON(f *testing.F) {
	f.Add("a\"b\\c\n\x00\x7f\u2028é😀\xff")
	f.Fuzz(func(t *testing.T, s string) {
		quoted := jsonscan.AppendQuote(nil, s)
		var want string
		raw, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		var got string
		if err := json.Unmarshal(quoted, &got); err != nil || got != want {
			t.Fatalf("%q: %v, %q", s, err, got)
		}
		if mine, err := jsonscan.Unquote(quoted); err != nil || mine != want {
			t.Fatalf("unquote %q: %v, %q", quoted, err, mine)
		}
	})
}

func FuzzScanAgreesWithEncodingJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"\u00e9"}],"c":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var want map[string]json.RawMessage
		valid := json.Unmarshal(data, &want) == nil && want != nil
		whole, err := jsonscan.Value(data, 0)
		if err == nil {
			got := map[string]bool{}
			err = jsonscan.Object(data, whole, func(m jsonscan.Member) error {
				got[m.Key] = true
				if valid && !json.Valid(m.Value.Of(data)) {
					t.Fatalf("the value of %q is not JSON: %s", m.Key, m.Value.Of(data))
				}
				return nil
			})
			if valid && len(got) != len(want) {
				t.Fatalf("keys %v, want %v", got, want)
			}
		}
		if valid && err != nil {
			t.Fatalf("valid JSON was refused: %v", err)
		}
	})
}

func TestStripCutsEveryMemberOfAName(t *testing.T) {
	for in, want := range map[string][2]string{
		`{"a":1}`:                               {`{"a":1}`, ""},
		`{}`:                                    {`{}`, ""},
		`[1]`:                                   {`[1]`, ""},
		`{"m":1}`:                               {`{}`, "1"},
		`{"m":1,"m":2}`:                         {`{}`, "2"},
		` {"m":1 , "a":2} `:                     {` {"a":2} `, "1"},
		`{"a":1, "m":{"m":3} }`:                 {`{"a":1 }`, `{"m":3}`},
		`{"a":1,"m":2,"m":3,"b":4,"m":5,"m":6}`: {`{"a":1,"b":4}`, "6"},
		`{"m":1,"a":{"m":2},"m":3}`:             {`{"a":{"m":2}}`, "3"},
		"{\"\\u006d\":1,\n\t\"a\":2}":           {"{\"a\":2}", "1"},
	} {
		rest, value := jsonscan.Strip([]byte(in), "m")
		if string(rest) != want[0] || string(value) != want[1] {
			t.Errorf("%s: %s and %s, want %s and %s", in, rest, value, want[0], want[1])
		}
		if err := jsonscan.Check(rest); err != nil {
			t.Errorf("%s: %s: %v", in, rest, err)
		}
	}
}
