package redact

import (
	"encoding/base64"
	"html"
	"net/url"
	"strings"
	"testing"
)

// A known secret is removed in every form in which programs write it.
func TestAKnownSecretIsFoundInItsForms(t *testing.T) {
	s := newRedactor(t, Options{}).Session()
	secret := `q7"T&Zk<2v9Xw+/pLm4R?>` + letters(9)
	s.Learn([]byte("DB_PASSWORD='" + secret + "'\n"))
	for what, form := range map[string]string{
		"bare":              secret,
		"HTML":              html.EscapeString(secret),
		"query":             url.QueryEscape(secret),
		"path":              url.PathEscape(secret),
		"base64":            base64.StdEncoding.EncodeToString([]byte("user:" + secret)),
		"URL-safe base64":   base64.URLEncoding.EncodeToString([]byte("a?" + secret)),
		"unpadded URL-safe": base64.RawURLEncoding.EncodeToString([]byte(secret)),
	} {
		got := s.Text("it says " + form + " and goes on").String()
		if !strings.Contains(got, Placeholder) || strings.Contains(got, form[6:20]) {
			t.Errorf("%s: %s is not removed: %s", what, form, got)
		}
	}
}
