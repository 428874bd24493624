package token_test

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/token"
)

// function wraps parameters into a tool.
func function(parameters string) []byte {
	return []byte(`[{"type":"function","function":{"name":"f","description":"d","parameters":` + parameters + `}}]`)
}

func TestToolsCountNestedSchemas(t *testing.T) {
	e := withCounter(t, "gpt-4o", token.Chars, nil)
	const frame = 7 + len("f:d") + 12
	if n := e.Tools(function(`{"type":"object","properties":{}}`)); n != frame {
		t.Fatalf("a function without parameters: %d, want %d", n, frame)
	}
	for schema, want := range map[string]int{
		`{"properties":{"a":{"type":"string","description":"x."}}}`:                                    3 + 3 + len("a:string:x"),
		`{"properties":{"a":{"type":["string","null"]}}}`:                                              3 + 3 + len("a:string|null:"),
		`{"properties":{"a":{"type":"string","enum":["p","qr"]}}}`:                                     3 + 3 + len("a:string:") - 3 + 3 + 1 + 3 + 2,
		`{"properties":{"a":{"enum":[1,null]}}}`:                                                       3 + 3 + len("a::") - 3 + 3 + 1 + 3 + 4,
		`{"properties":{"a":{"type":"object","properties":{"b":{"type":"number"}}}}}`:                  3 + 3 + len("a:object:") + 3 + 3 + len("b:number:"),
		`{"properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{}}}}}}`:        3 + 3 + len("a:array:") + 3 + 3 + len("b::"),
		`{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"number"}]}}}`:                         3 + 3 + len("a::") + 3 + len(":string:") + 3 + len(":number:"),
		`{"properties":{"a":{"oneOf":[{"type":"string"}]}}}`:                                           3 + 3 + len("a::") + 3 + len(":string:"),
		`{"properties":{"a":{"allOf":[{"type":"string"}]}}}`:                                           3 + 3 + len("a::") + 3 + len(":string:"),
		`{"properties":{"a":{"type":"integer","default": 5}}}`:                                         3 + 3 + len("a:integer:") + len("default:5"),
		`{"properties":{"a":{"type":"string","enum":null}}}`:                                           3 + 3 + len("a:string:"),
		`{"properties":{"a":true}}`:                                                                    3 + 3 + len("a:true"),
		`{"$defs":{"D":{"type":"string"}}}`:                                                            3 + 3 + len("D:string:"),
		`{"required":["a"],"additionalProperties":false,"$schema":"https://json-schema.org/anything"}`: 0,
	} {
		if n := e.Tools(function(schema)); n != frame+want {
			t.Errorf("%s costs %d, want %d", schema, n-frame, want)
		}
	}
}

// The parameters of a function cost the same under the name of each API.
func TestParametersCostUnderEveryName(t *testing.T) {
	e := withCounter(t, "gpt-4", token.Chars, nil)
	for _, name := range []string{"parameters", "input_schema", "inputSchema", "parametersJsonSchema"} {
		tools := `[{"name":"f","` + name + `":{"properties":{"a":{"type":"string","description":"x"}}}}]`
		if n, want := e.Tools([]byte(tools)), 12+10+len("f:")+3+3+len("a:string:x"); n != want {
			t.Errorf("%s costs %d, want %d", name, n, want)
		}
	}
}

func TestToolsCountOtherJSONAsText(t *testing.T) {
	e := withCounter(t, "gpt-4", token.Chars, nil)
	for tools, want := range map[string]int{
		``:                                0,
		`[]`:                              0,
		`null`:                            0,
		`[{"type": "web_search"}]`:        12 + 10 + len(`{"type":"web_search"}`),
		`{"type":"web_search"}`:           12 + 10 + len(`{"type":"web_search"}`),
		`not json`:                        12 + len(`not json`),
		`["a"]`:                           12 + len(`"a"`),
		`[{"name":"f","input_schema":7}]`: 12 + 10 + len("f:") + 1,
	} {
		if n := e.Tools([]byte(tools)); n != want {
			t.Errorf("%q costs %d, want %d", tools, n, want)
		}
	}
}

func TestToolsOfAnyDepthAreCounted(t *testing.T) {
	e := withCounter(t, "gpt-4o", token.Bytes4, nil)
	deep := strings.Repeat(`{"properties":{"a":`, 5_000) + `{}` + strings.Repeat(`}}`, 5_000)
	if n := e.Tools(function(deep)); n < len(deep)/8 || n > len(deep) {
		t.Errorf("%d tokens for %d bytes", n, len(deep))
	}
}

// The older name of a list of shared schemas costs the same as the newer name.
func TestDefinitionsCostUnderBothNames(t *testing.T) {
	e, err := token.NewEstimator("gpt-4", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	tools := func(members string) int {
		return e.Tools([]byte(`[{"name":"f","input_schema":{"type":"object","properties":{"a":{"type":"string"}}` + members + `}}]`))
	}
	const shared = `{"place":{"type":"object","description":"A place on a map, with its street and city.","properties":{"street":{"type":"string"}}}}`
	newer, older := tools(`,"$defs":`+shared), tools(`,"definitions":`+shared)
	if bare := tools(""); newer != older || newer < bare+15 {
		t.Errorf("%d tokens with $defs, %d with definitions, %d without", newer, older, bare)
	}
}

// Functions that share one tool, as those of Gemini do, cost the same as each in its own.
func TestFunctionsOfOneToolCostLikeThoseOfSeveral(t *testing.T) {
	e := withCounter(t, "gemini-2.5-pro", token.Chars, nil)
	const a, b = `{"name":"read_file","description":"Read it."}`, `{"name":"write","description":"Write all of it."}`
	for _, key := range []string{"functionDeclarations", "function_declarations"} {
		one, two := e.Tools([]byte(`[{"`+key+`":[`+a+`,`+b+`]}]`)), e.Tools([]byte(`[{"`+key+`":[`+a+`]},{"`+key+`":[`+b+`]}]`))
		if one != two || one <= e.Tools([]byte(`[{"`+key+`":[`+b+`]}]`)) {
			t.Errorf("%s: %d together, %d apart", key, one, two)
		}
	}
}
