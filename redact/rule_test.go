package redact_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentcompact/compact/redact"
)

// badge is a rule of a company's own.
var badge = redact.Rule{
	ID: "acme-badge", Words: []string{"acme"}, Pattern: `\b(ACME-[0-9]{6})\b`,
	Secrets: []string{"ACME-" + "123456"}, Clean: []string{"ACME-12", "acme has six doors"},
}

func withRules(t *testing.T, o redact.Options) *redact.Redactor {
	t.Helper()
	r, err := redact.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCustomRulesApplyEverywhere(t *testing.T) {
	r := withRules(t, redact.Options{Rules: []redact.Rule{badge}})
	secret := "ACME-" + "778899"
	for _, text := range []string{
		"the door opens with " + secret + " today",
		`{"door":"` + secret + `"}`,
		`{"inner":"{\"door\":\"` + secret + `\"}"}`,
	} {
		got := r.Text(text).String()
		if strings.Contains(got, secret) || !strings.Contains(got, "<REDACTED>") || strings.Contains(got, "door\":\"<REDACTED>") != strings.HasPrefix(text, `{"door`) {
			t.Errorf("Text(%q) = %q, want text without %q and text with %q", text, got, secret, "<REDACTED>")
		}
		if again := r.Text(got).String(); again != got {
			t.Errorf("redacted again: %q, want %q", again, got)
		}
	}
	if f := r.Find("see " + secret); len(f) != 1 || f[0] != (redact.Finding{Rule: "acme-badge", Start: 4, End: 4 + len(secret)}) {
		t.Errorf("Find returns %+v, want one finding of acme-badge from 4 on", f)
	}
	key := withRules(t, redact.Options{Rules: []redact.Rule{badge}, Pseudonyms: []byte(strings.Repeat("k", redact.MinPseudonymKey))})
	if got := key.Text(secret).String(); !strings.HasPrefix(got, "<REDACTED:acme_badge:") || key.Text(got).String() != got {
		t.Errorf("with pseudonyms: %q, and again %q, want text that begins with %q", got, key.Text(got), "<REDACTED:acme_badge:")
	}
}

func TestRuleIsCheckedAgainstItsSamples(t *testing.T) {
	for want, change := range map[string]func(r *redact.Rule){
		"not 1 to 32 characters: words of": func(r *redact.Rule) { r.ID = "Two Words" },
		"ID of a built-in":                 func(r *redact.Rule) { r.ID = "aws-access-token" },
		"needs a sample":                   func(r *redact.Rule) { r.Clean = nil },
		"not a regular expression":         func(r *redact.Rule) { r.Pattern = "(" },
		"an empty text":                    func(r *redact.Rule) { r.Pattern = "x*" },
		"the placeholder of redacted text": func(r *redact.Rule) { r.Pattern = "RED[A-Z]+" },
		"find its sample":                  func(r *redact.Rule) { r.Words, r.Pattern, r.Secrets = nil, `badge=(\w*)`, []string{"badge= 1234"} },
		"has an empty word":                func(r *redact.Rule) { r.Words = []string{""} },
		"does not find its sample":         func(r *redact.Rule) { r.Words = []string{"other"} },
		"finds something in its sample Cl": func(r *redact.Rule) { r.Clean = append(r.Clean, r.Secrets[0]) },
	} {
		r := badge
		change(&r)
		var e *redact.RuleError
		if _, err := redact.New(redact.Options{Rules: []redact.Rule{r}}); !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		} else if err.Error() != r.Check().Error() {
			t.Errorf("Check returned %v, New %v", r.Check(), err)
		}
	}
	if _, err := redact.New(redact.Options{Rules: []redact.Rule{badge, badge}}); err == nil {
		t.Error("two rules with one ID cause no error")
	}
}

// The error states the maximum length.
func TestTooLongDetectorNameIsRefused(t *testing.T) {
	_, err := redact.New(redact.Options{Detectors: []redact.Detector{longName{}}})
	if err == nil || !strings.Contains(err.Error(), "has a name that is not 1 to 32 characters") {
		t.Error(err)
	}
}

type longName struct{ detector }

func (longName) Name() string { return strings.Repeat("a", 40) }

type detector func(text string) []redact.Range

func (detector) Name() string { return "own-list" }

func (d detector) Detect(text string) []redact.Range { return d(text) }

func TestDetectorsFindTheirValues(t *testing.T) {
	list := detector(func(text string) (found []redact.Range) {
		if i := strings.Index(text, "sesame"); i >= 0 {
			found = append(found, redact.Range{Start: i, End: i + len("sesame")}, redact.Range{Start: i, End: i})
		}
		return found
	})
	r := withRules(t, redact.Options{Detectors: []redact.Detector{list}})
	if got := r.Text("say open sesame, please").String(); got != "say open <REDACTED>, please" {
		t.Errorf("got %q, want only the secret replaced", got)
	}
	if got := r.JSON([]byte(`{"n":1,"say":"open sesame"}`)).String(); got != `{"n":1,"say":"open <REDACTED>"}` {
		t.Errorf("got %q, want only the secret replaced", got)
	}
}

// If a detector fails on a text, the text is not shown.
func TestFailingDetectorReplacesTheText(t *testing.T) {
	for name, d := range map[string]detector{
		"panics":            func(string) []redact.Range { panic("a fault") },
		"ends beyond":       func(text string) []redact.Range { return []redact.Range{{0, len(text) + 1}} },
		"begins before":     func(string) []redact.Range { return []redact.Range{{-1, 1}} },
		"ends before start": func(string) []redact.Range { return []redact.Range{{2, 1}} },
	} {
		r := withRules(t, redact.Options{Detectors: []redact.Detector{d}})
		if got := r.Text("nobody knows what this is").String(); got != "<REDACTED>" {
			t.Errorf("%s: got %q, want the whole text replaced", name, got)
		}
	}
	for _, all := range [][]redact.Detector{{nil}, {detector(nil), detector(nil)}} {
		if _, err := redact.New(redact.Options{Detectors: all}); err == nil {
			t.Errorf("%d invalid detectors cause no error", len(all))
		}
	}
}

// If a detector fails on a decoded part, the encoded part around it is removed.
func TestFailingDetectorReplacesTheView(t *testing.T) {
	faults := map[string]func(text string) []redact.Range{
		"panics":      func(string) []redact.Range { panic("a fault") },
		"ends beyond": func(text string) []redact.Range { return []redact.Range{{0, len(text) + 1}} },
	}
	for name, fault := range faults {
		r := withRules(t, redact.Options{Detectors: []redact.Detector{detector(func(text string) []redact.Range {
			if strings.Contains(text, "BADGE77") {
				return fault(text)
			}
			return nil
		})}})
		for _, text := range []string{"a BADGE77 b", "a BAD\x1b[31mGE77 b", "a BAD\u200bGE77 b", "https://x/?q=%22%3aBADGE%37%37", `{"a":"{\"b\":\"BADGE77\"}"}`} {
			got := r.Text(text).String()
			if strings.Contains(got, "GE77") || strings.Contains(got, "%37%37") || !strings.Contains(got, "<REDACTED>") {
				t.Errorf("%s: Text(%q) = %q, want text without %q, text without %q and text with %q", name, text, got, "GE77", "%37%37", "<REDACTED>")
			}
			if again := r.Text(got).String(); again != got {
				t.Errorf("%s: redacted again: %q, want %q", name, again, got)
			}
		}
	}
}

// If a range ends within a character, the whole character is removed.
func TestDetectorThatCutsACharacterRemovesTheWholeOne(t *testing.T) {
	for name, at := range map[string]redact.Range{"its begin": {0, 1}, "its end": {1, 2}, "both": {0, 2}, "nothing of it": {1, 1}} {
		r := withRules(t, redact.Options{Detectors: []redact.Detector{detector(func(text string) (found []redact.Range) {
			if i := strings.Index(text, "\u00e9"); i >= 0 {
				found = append(found, redact.Range{Start: i + at.Start, End: i + at.End})
			}
			return found
		})}})
		want := "x<REDACTED>y"
		if at.Start == at.End {
			want = "x\u00e9y"
		}
		if got := r.Text("x\u00e9y").String(); got != want {
			t.Errorf("%s: got %q, want the whole character removed", name, got)
		}
		if got := r.JSON([]byte(`{"a":"x\u00e9y"}`)).String(); !json.Valid([]byte(got)) || !utf8.ValidString(got) || at.Start < at.End && got != `{"a":"x<REDACTED>y"}` {
			t.Errorf("%s: got %q, want valid JSON and UTF-8 without the character", name, got)
		}
	}
	odd := withRules(t, redact.Options{Detectors: []redact.Detector{detector(func(text string) []redact.Range { return []redact.Range{{1, 2}} })}})
	if got := odd.Text("a\x80\xffb").String(); !strings.HasPrefix(got, "a<REDACTED>") {
		t.Errorf("invalid UTF-8: %q, want text that begins with %q", got, "a<REDACTED>")
	}
}
