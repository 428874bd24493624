package redact

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// maxFuzz bounds the length of fuzzed texts: longer ones cost time and reach no other
// code.
const maxFuzz = 16 << 10

// fuzzSeeds are texts near the borders of the rules.
func fuzzSeeds() []string {
	seeds := []string{
		"", "password=hunter2!x", `{"password": "hunter2!x"}`, `{"a":"{\"api_key\":\"` + letters(40) + `\"}"}`, pemBlock("RSA PRIVATE KEY", "\n"), pemBlock("PRIVATE KEY", `\n`)[:200], "postgres://a:b1c2d3@h/", "Authorization: Basic " + letters(20), "<REDACTED>", "<REDACTED:aws_key:7f3a>", "password=<REDACTED", "kind: Secret\ndata:\n  a: " + letters(20) + "\n", "ghp_" + letters(36), `\\\"token\\\": \\\"` + letters(24), "curl -u a:b1c2d3 http://x", "eyJ" + letters(20) + "." + letters(20) + "." + letters(20), "é\xff\x00password: 'ü'", `{"kind":"Secret","data":{"a":"b3Nz"},"password":123456}`, "[1,2,{\"name\":\"TOKEN\",\"value\":\"" + letters(22) + "\"}]",
	}
	for i := range tokenShapes {
		seeds = append(seeds, tokenShapes[i].prefix+bodyOf(&tokenShapes[i])+tokenShapes[i].prefix)
	}
	return seeds
}

// FuzzTextIsIdempotent checks that redaction never panics, and that a second redaction
// changes nothing.
func FuzzTextIsIdempotent(f *testing.F) {
	for _, s := range fuzzSeeds() {
		f.Add(s)
	}
	plain, full := newRedactor(f, Options{}), newRedactor(f, Options{PII: true, Strict: true, Patterns: []string{`[A-Z]{6,}`, `x(y)?`}, Pseudonyms: bytes.Repeat([]byte("k"), 16)})
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > maxFuzz {
			return
		}
		for _, r := range []*Redactor{plain, full} {
			once := r.Text(s).String()
			if twice := r.Text(once).String(); twice != once {
				t.Errorf("once  %q\ntwice %q", once, twice)
			}
		}
	})
}

// FuzzJSONKeepsItsStructure checks that redacted JSON stays valid, with the same keys,
// lengths and numbers, and that redaction is idempotent.
func FuzzJSONKeepsItsStructure(f *testing.F) {
	for _, s := range fuzzSeeds() {
		f.Add([]byte(s))
		f.Add(mustJSON(f, s))
		f.Add(mustJSON(f, []any{map[string]string{"content": s, "password": s}}))
	}
	r := newRedactor(f, Options{PII: true})
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) > maxFuzz {
			return
		}
		out := r.JSON(raw).String()
		if again := r.JSON([]byte(out)).String(); again != out {
			t.Errorf("once  %q\ntwice %q", out, again)
		}
		if !json.Valid(raw) {
			return
		}
		if !json.Valid([]byte(out)) {
			t.Fatalf("%q became invalid: %q", raw, out)
		}
		if in, out := skeleton(t, string(raw)), skeleton(t, out); in != out {
			t.Errorf("the structure of %q changed:\n%s\n%s", raw, in, out)
		}
	})
}

// skeleton renders the tokens of JSON: its brackets and numbers, and a mark for each
// string. Numbers and strings have the same mark, because redaction replaces a password
// that is a number by a string.
func skeleton(t *testing.T, raw string) string {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(raw))
	dec.UseNumber()
	var b strings.Builder
	for {
		tok, err := dec.Token()
		if err != nil {
			return b.String()
		}
		switch v := tok.(type) {
		case json.Delim:
			b.WriteString(v.String())
		case bool, nil:
			b.WriteString("v ")
		default:
			b.WriteString("s ")
		}
	}
}

// FuzzWalkerAgreesWithEncodingJSON compares the JSON reader with encoding/json.
func FuzzWalkerAgreesWithEncodingJSON(f *testing.F) {
	for _, s := range append(fuzzSeeds(), `{"a":[1,-0.5e+3,true,null,"\u00e9\ud83d\ude00\n"]}`, "[01]", "[1.]", `["\x"]`, "[\"\t\"]", `{"a":1,}`, `[1 2]`, "[-]") {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		w := walker{d: &document{}, s: string(raw), muted: true}
		w.skip()
		got := w.value("", 0)
		w.skip()
		got = got && w.i == len(raw)
		if want := json.Valid(raw); got != want {
			t.Errorf("valid(%q) = %v, want %v", raw, got, want)
		}
	})
}
