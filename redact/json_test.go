package redact

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestJSONKeepsEveryByteOutsideOfTheSecrets checks that redaction keeps key
// order, white space, big numbers and escapes.
func TestJSONKeepsEveryByteOutsideOfTheSecrets(t *testing.T) {
	key := "sk" + "-" + letters(24)
	r := newRedactor(t, Options{})
	for name, text := range map[string]string{
		"order and space":   "{ \"z\" : 1 ,\n\t\"api_key\" : \"%s\" , \"a\":2 }",
		"big numbers":       `{"n":12345678901234567890.1230e+05,"m":-0,"token":"%s"}`,
		"escapes":           `{"a":"\u00e9\/\ud83d\ude00\u0000","password":"%s","b":"\\"}`,
		"arguments":         `{"tool_calls":[{"function":{"arguments":"{\"api_key\": \"%s\", \"n\": 3}"}}]}`,
		"arguments twice":   `{"content":"{\"body\": \"{\\\"apiKey\\\": \\\"%s\\\"}\"}"}`,
		"arguments thrice":  `["[\"[\\\"{\\\\\\\"token\\\\\\\":\\\\\\\"%s\\\\\\\"}\\\"]\"]"]`,
		"after a new line":  `{"content":"first\n%s\nlast"}`,
		"in an array":       `{"api_keys":["%s"],"n":[]}`,
		"name and value":    `[{"name":"API_TOKEN","value":"%s"},{"value":"%s","key":"API_TOKEN"}]`,
		"header":            `{"headers":{"Authorization":"Bearer %s","Accept":"*/*"}}`,
		"kubernetes":        `{"data":{"x":"%s"},"kind":"Secret","metadata":{"name":"n"}}`,
		"kubernetes string": `{"kind":"Secret","stringData":{"a":"%s"}}`,
		"key of an object":  `{"%s":true}`,
		"a mere string":     `"%s"`,
		"one a line":        "{\"token\":\"%s\"}\n{\"password\":\"%s\"}\n",
		"duplicate keys":    `{"token":"%s","token":"%s"}`,
	} {
		t.Run(name, func(t *testing.T) {
			raw, want := strings.ReplaceAll(text, "%s", key), strings.ReplaceAll(text, "%s", Placeholder)
			if diff := cmp.Diff(want, r.JSON([]byte(raw)).String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestJSONReplacesSecretsWrittenWithEscapes(t *testing.T) {
	r := newRedactor(t, Options{})
	for raw, want := range map[string]string{
		`{"password":"pa\"ss\\w0rd!","n":1}`:                            `{"password":"<REDACTED>","n":1}`,
		`{"t":"a\u0067hp_` + letters(36) + ` b"}`:                       `{"t":"a<REDACTED> b"}`,
		`{"t":"a \u0067hp_` + letters(36) + `\n"}`:                      `{"t":"a <REDACTED>\n"}`,
		`{"aws_secret_access_key":"` + letters(20) + `\/` + "a1" + `"}`: `{"aws_secret_access_key":"<REDACTED>"}`,
		`{"a":"{\"password\":\"x\\\"y1z\"}"}`:                           `{"a":"{\"password\":\"<REDACTED>\"}"}`,
		`{"password":20261121,"pin_count":7}`:                           `{"password":"<REDACTED>","pin_count":7}`,
		`{"db":{"password":4711},"pwd":471,"pass_rate":4711}`:           `{"db":{"password":"<REDACTED>"},"pwd":471,"pass_rate":4711}`, // four digits, as of a device
		`{"a":"log: {\"password\":20261121} end"}`:                      `{"a":"log: {\"password\":\"<REDACTED>\"} end"}`,
		`{"a":"{\"password\":20261121}"}`:                               `{"a":"{\"password\":\"<REDACTED>\"}"}`,
	} {
		got := r.JSON([]byte(raw)).String()
		if got != want {
			t.Errorf("JSON(%s)\n got %s\nwant %s", raw, got, want)
		}
		if !json.Valid([]byte(got)) {
			t.Errorf("JSON(%s) is not valid: %s", raw, got)
		}
	}
}

func TestJSONKeepsHarmlessText(t *testing.T) {
	r := newRedactor(t, Options{})
	for _, raw := range []string{
		`{}`, `[]`, ` null `, `"text"`, `{"max_tokens":4096,"usage":{"total_tokens":128374}}`, `{"id":"call_` + letters(24) + `","type":"function"}`, `{"password":{"type":"string","minLength":8}}`, `{"required":["password","token"]}`, `{"kind":"ConfigMap","data":{"a":"` + strings.Repeat("plain ", 4) + `"}}`, `{"token":null,"secret":false,"api_key":""}`,
	} {
		if got := r.JSON([]byte(raw)).String(); got != raw {
			t.Errorf("JSON(%s) = %s, want it unchanged", raw, got)
		}
	}
}

func TestANumberInTextThatIsNearlyJSONBecomesAString(t *testing.T) {
	r := newRedactor(t, Options{})
	for text, want := range map[string]string{
		`12: {"password": 20261121}`:  `12: {"password": "<REDACTED>"}`,
		`x "{\"password\":20261121}"`: `x "{\"password\":\"<REDACTED>\"}"`,
		"password: 20261121":          "password: <REDACTED>",
	} {
		if got := r.Text(text).String(); got != want {
			t.Errorf("Text(%s) = %s, want %s", text, got, want)
		}
		checkIdempotent(t, r, text)
	}
	r = newRedactor(t, Options{Patterns: []string{`1121\} END`}})
	if got, want := r.Text(`12: {"password": 20261121} END`).String(), `12: {"password": <REDACTED>`; got != want {
		t.Errorf("with a pattern for more than the number: %s, want %s", got, want)
	}
}

// JSON in a string of JSON, and so on, has twice as many backslashes each time.
func TestSecretsInTextThatQuotesJSONVanish(t *testing.T) {
	r := newRedactor(t, Options{})
	for depth, text := range []string{`"`, `\"`, `\\\"`, strings.Repeat(`\`, 7) + `"`, strings.Repeat(`\`, 15) + `"`} {
		text = strings.ReplaceAll(`log: {"password": "swordfish", "note": "correct"}`, `"`, text)
		if got, want := r.Text(text).String(), strings.Replace(text, "swordfish", Placeholder, 1); got != want {
			t.Errorf("depth %d: %s, want only the password removed", depth, got)
		}
	}
}

func TestInvalidJSONIsTreatedAsText(t *testing.T) {
	r := newRedactor(t, Options{})
	key := letters(24)
	for _, raw := range []string{`{"token": "%s"`, `{'token': '%s'}`, `{"token": "%s",}`, `{"token": "%s"} trailing`, "1\t{\"token\": \"%s\"}"} {
		raw = strings.ReplaceAll(raw, "%s", key)
		if got, want := r.JSON([]byte(raw)).String(), strings.ReplaceAll(raw, key, Placeholder); got != want {
			t.Errorf("JSON(%s) = %s, want %s", raw, got, want)
		}
	}
}

func TestRecordLeavesDigestsAlone(t *testing.T) {
	r := newRedactor(t, Options{Patterns: []string{`[0-9a-f]{12,}`}})
	raw := `{"hash":"` + hexDigits(64) + `","ref":"` + hexDigits(12) + `","text":"see ` + hexDigits(40) + `"}`
	want := strings.Replace(raw, "see "+hexDigits(40), "see "+Placeholder, 1)
	if got := r.Record([]byte(raw)).String(); got != want {
		t.Errorf("Record\n got %s\nwant %s", got, want)
	}
	r = newRedactor(t, Options{Patterns: []string{`[0-9a-f]{11,}`}})
	for _, n := range []int{11, 65, 128} { // lengths that no digest of this project has
		if got, want := r.Record([]byte(`{"ref":"`+hexDigits(n)+`"}`)).String(), `{"ref":"<REDACTED>"}`; got != want {
			t.Errorf("Record of %d digits: %s, want %s", n, got, want)
		}
	}
	if got := r.JSON([]byte(raw)).String(); strings.Contains(got, hexDigits(64)) {
		t.Errorf("JSON keeps a match of the user's pattern: %s", got)
	}
}

func TestJSONFieldChangesOnlyThatField(t *testing.T) {
	r := newRedactor(t, Options{})
	key := letters(30)
	line := ` {"id":"password=` + key + `", "text" : "token=` + key + `\n", "meta":{"text":"token=` + key + `"}, "n":1.0} `
	got, err := r.JSONField([]byte(line), "text")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(line, `"token=`+key+`\n"`, `"token=<REDACTED>\n"`, 1)
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
}

// The other members of the object do not affect the field.
func TestJSONFieldAtTheEndLeavesTheOthers(t *testing.T) {
	line := `{"kind":"Secret","data":{"x":"` + letters(20) + `"},"name":"password","value":"` + letters(24) + `","text":"%s"}`
	got, err := newRedactor(t, Options{}).JSONField([]byte(strings.Replace(line, "%s", "password=hunter2!x", 1)), "text")
	if want := strings.Replace(line, "%s", "password="+Placeholder, 1); err != nil || got.String() != want {
		t.Errorf("%s, %v, want %sand no error", got, err, want)
	}
}

func TestJSONFieldReachesEverythingBelowTheField(t *testing.T) {
	r := newRedactor(t, Options{})
	key := letters(30)
	line := `{"a":{"token":"` + key + `","b":[{"kind":"Secret","data":{"x":"` + key + `"}}]},"c":"` + key + `"}`
	got, err := r.JSONField([]byte(line), "a")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"a":{"token":"<REDACTED>","b":[{"kind":"Secret","data":{"x":"<REDACTED>"}}]},"c":"` + key + `"}`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
}

func TestJSONFieldRefusesOnlyLinesThatAreNoObject(t *testing.T) {
	r := newRedactor(t, Options{})
	if got, err := r.JSONField([]byte(`{"a":"token=`+letters(30)+`"}`), "text"); err != nil || strings.Contains(got.String(), "REDACTED") {
		t.Errorf("a line without the field: %v, %v", got, err)
	}
	for _, line := range []string{"", "[]", `"text"`, `{"text":`, `{"text":"a"`, `{"text":"a"} x`} {
		if _, err := r.JSONField([]byte(line), "text"); !errors.Is(err, ErrNotObject) {
			t.Errorf("JSONField(%q): %v, want ErrNotObject", line, err)
		}
	}
}
