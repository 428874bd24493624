package redact

import (
	"bytes"
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"testing"
)

func TestNewNamesTheBadPattern(t *testing.T) {
	_, err := New(Options{Patterns: []string{`ok`, `(unclosed`}})
	var bad *PatternError
	if !errors.As(err, &bad) || bad.Index != 1 || bad.Pattern != `(unclosed` {
		t.Fatalf("New returns %#v, want a PatternError for patterns[1]", err)
	}
	var cause *syntax.Error
	if !errors.As(err, &cause) {
		t.Errorf("%v does not wrap the error of the expression", err)
	}
}

func TestPatternsRedactTheirFirstGroupOrTheWholeMatch(t *testing.T) {
	r := newRedactor(t, Options{Patterns: []string{`ACME-\d{4}`, `ticket=(\w+);`, `x*`, `PIN( \d+)?!`}})
	for text, want := range map[string]string{
		"id ACME-1234 and ACME-12": "id <REDACTED> and ACME-12",
		"ticket=abc; ticket=d;":    "ticket=<REDACTED>; ticket=<REDACTED>;",
		"no match":                 "no match",
		"a PIN! and a PIN 42!":     "a <REDACTED> and a PIN<REDACTED>!", // without its group, the whole match
	} {
		if got := r.Text(text).String(); got != want {
			t.Errorf("Text(%q) = %q, want %q", text, got, want)
		}
	}
	found := r.Find("ACME-1234")
	if len(found) != 1 || found[0] != (Finding{Rule: "patterns[0]", Start: 0, End: 9}) {
		t.Errorf("Find returns %v, want one finding of patterns[0] from 0 to 9", found)
	}
}

func TestStrictAppliesThePatternsWithoutTheFilter(t *testing.T) {
	plain, strict := newRedactor(t, Options{}), newRedactor(t, Options{Strict: true})
	for text, want := range map[string]string{
		"password: string":        "password: <REDACTED>",
		"api_key=${API_KEY}":      "api_key=<REDACTED>",
		"API-Key : os.environ[x]": "API-Key : <REDACTED>",
		"password = getpass()":    "password = <REDACTED>",
	} {
		if got := strict.Text(text).String(); got != want {
			t.Errorf("strict: Text(%q) = %q, want %q", text, got, want)
		}
		if got := plain.Text(text).String(); got != text {
			t.Errorf("Text(%q) = %q, want it unchanged", text, got)
		}
	}
}

func TestDisabledRedactionIsReported(t *testing.T) {
	r := newRedactor(t, Options{Disabled: true})
	text := "password=" + letters(12)
	if r.Enabled() || r.Text(text).String() != text || len(r.Find(text)) != 0 {
		t.Errorf("disabled: enabled %v, %q, want redaction off and the text unchanged", r.Enabled(), r.Text(text))
	}
	if !newRedactor(t, Options{}).Enabled() {
		t.Error("a Redactor of the zero Options is not enabled")
	}
}

func TestPseudonymsAreTheSameForTheSameSecret(t *testing.T) {
	key := bytes.Repeat([]byte("k"), MinPseudonymKey)
	r := newRedactor(t, Options{Pseudonyms: key})
	aws, other := "AKIA"+upperDigits(16), "AKIA"+upperDigits(17)[1:]
	out := r.Text("a " + aws + " b " + other + " c " + aws).String()
	form := regexp.MustCompile(`<REDACTED:aws_key:[0-9a-f]{4}>`)
	names := form.FindAllString(out, -1)
	if len(names) != 3 || names[0] != names[2] || names[0] == names[1] {
		t.Fatalf("got %q, want the same pseudonym only for the same secret", out)
	}
	if got := r.JSON(mustJSON(t, map[string]string{"x": "key " + aws})).String(); !strings.Contains(got, names[0]) {
		t.Errorf("in JSON %s, want the pseudonym %s of the text", got, names[0])
	}
	if r.Text(out).String() != out {
		t.Errorf("pseudonyms change when they are redacted again: %q", r.Text(out))
	}
	elsewhere := newRedactor(t, Options{Pseudonyms: bytes.Repeat([]byte("j"), MinPseudonymKey)})
	if strings.Contains(elsewhere.Text(aws).String(), names[0]) {
		t.Error("another key gives the same pseudonym")
	}
	key[0] = 'x'
	if got := r.Text(aws).String(); got != names[0] {
		t.Errorf("the Redactor kept the caller's slice: %s, want %s", got, names[0])
	}
}

func TestNewRefusesAKeyThatCouldBeGuessed(t *testing.T) {
	for _, n := range []int{1, MinPseudonymKey - 1} {
		if _, err := New(Options{Pseudonyms: bytes.Repeat([]byte("k"), n)}); !errors.Is(err, ErrShortKey) {
			t.Errorf("New with a key of %d bytes: %v, want ErrShortKey", n, err)
		}
	}
}

func TestOverlappingFindingsAreReplacedWhole(t *testing.T) {
	for _, patterns := range [][]string{{`ab\d+`, `\d+yz`}, {`\d+yz`, `ab\d+`}, {`ab\d+yz`, `\d`}} {
		r := newRedactor(t, Options{Patterns: patterns})
		if got, want := r.Text("see ab123yz there").String(), "see <REDACTED> there"; got != want {
			t.Errorf("%q: got %q, want %q", patterns, got, want)
		}
		if got := r.Find("see ab123yz there"); len(got) != 1 || got[0].Start != 4 || got[0].End != 11 {
			t.Errorf("%q: Find returns %v, want one finding from 4 to 11", patterns, got)
		}
	}
}

func TestFindAgreesWithText(t *testing.T) {
	r := newRedactor(t, Options{})
	text := "password=" + letters(12) + " and https://a:" + letters(9) + "@h/ then {\"token\": \"" + letters(24) + "\"}"
	var b strings.Builder
	at := 0
	found := r.Find(text)
	for _, f := range found {
		b.WriteString(text[at:f.Start] + Placeholder)
		at = f.End
	}
	if got, want := b.String()+text[at:], r.Text(text).String(); got != want {
		t.Errorf("by Find %q, by Text %q", got, want)
	}
	stats := Stats{}
	stats.Count(found)
	stats.Count(found)
	if stats.Total() != 6 || stats["password"] != 2 || stats["url-userinfo"] != 2 {
		t.Errorf("stats %v, want 6 findings, 2 of them password and 2 url-userinfo", stats)
	}
}

func TestRedactorIsSafeForConcurrentUse(t *testing.T) {
	r := newRedactor(t, Options{PII: true})
	text := "password=" + letters(12) + " ghp_" + letters(36) + " cloudflare_key=" + letters(40)
	want := r.Text(text).String()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if got := r.Text(text).String(); got != want {
					t.Errorf("got %q, want %q", got, want)
					return
				}
			}
		})
	}
	wg.Wait()
}
