package redact

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"
)

// jsonForm returns the form of s inside a JSON string.
func jsonForm(t *testing.T, s string) string {
	raw := mustJSON(t, s)
	return string(raw[1 : len(raw)-1])
}

// TestFoundValueIsFoundInTheRestOfTheText searches for a password that only its
// first occurrence reveals.
func TestFoundValueIsFoundInTheRestOfTheText(t *testing.T) {
	secret := "Zx9/" + letters(14) + `+"q`
	r := newRedactor(t, Options{})
	forms := map[string]string{
		"bare":                   secret,
		"in JSON":                jsonForm(t, secret),
		"in JSON twice":          jsonForm(t, jsonForm(t, secret)),
		"in a query":             url.QueryEscape(secret),
		"base64":                 base64.StdEncoding.EncodeToString([]byte(secret)),
		"base64 after one byte":  base64.StdEncoding.EncodeToString([]byte(":" + secret + "\n")),
		"base64 after two bytes": base64.StdEncoding.EncodeToString([]byte("u:" + secret)),
		"base64 for URLs":        base64.RawURLEncoding.EncodeToString([]byte("user:" + secret)),
	}
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			text := "password='" + secret + "'\nlater it says " + form + " again"
			got := r.Text(text).String()
			if survives(form, got, "password=''\nlater it says  again") {
				t.Errorf("Text(%q) = %q", text, got)
			}
			if !strings.HasSuffix(got, " again") || !strings.Contains(got, "later it says ") {
				t.Errorf("more than the secret is gone: %q", got)
			}
			if strings.HasPrefix(name, "base64 after") && strings.Contains(got, "says "+form[:3]) {
				t.Errorf("characters next to the encoded secret, which contain bits of it, are left: %q", got)
			}
			checkIdempotent(t, r, text)
		})
	}
}

func TestAFoundValueIsFoundInOtherStringsOfTheDocument(t *testing.T) {
	r := newRedactor(t, Options{})
	secret := letters(18) + `"x`
	raw := mustJSON(t, []any{map[string]string{"password": secret}, "echo " + secret, map[string]string{"out": string(mustJSON(t, map[string]string{"line": "got " + secret}))}})
	got := r.JSON(raw).String()
	if strings.Contains(got, letters(18)) || strings.Count(got, Placeholder) != 3 {
		t.Errorf("JSON(%s) = %s", raw, got)
	}
}

func TestWordsDoNotSpread(t *testing.T) {
	r := newRedactor(t, Options{})
	for _, word := range []string{"postgres", "production", "1234567890", "database2"} {
		text := "DB_PASSWORD=" + word + "\nconnect to " + word + " on " + word + "s"
		if got := r.Text(text).String(); !strings.HasSuffix(got, "connect to "+word+" on "+word+"s") {
			t.Errorf("Text(%q) = %q", text, got)
		}
	}
}

func TestShortestValueIsFoundAtBothEnds(t *testing.T) {
	r := newRedactor(t, Options{})
	secret := "x7Kq2mWp" // minNeedle
	text := secret + " password='" + secret + "' " + secret
	want := strings.ReplaceAll(text, secret, Placeholder)
	if got := r.Text(text).String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s := r.Session()
	s.Learn([]byte("password='" + secret + "'"))
	if got := s.Text(secret + " or " + secret).String(); got != Placeholder+" or "+Placeholder {
		t.Errorf("with the values of a session: %q", got)
	}
}

func TestShortValuesSpreadAsWholeWordsOnly(t *testing.T) {
	r := newRedactor(t, Options{})
	text := "password='x7Kq2mWp'\nx7Kq2mWp ax7Kq2mWpb"
	if got, want := r.Text(text).String(), "password='<REDACTED>'\n<REDACTED> ax7Kq2mWpb"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
