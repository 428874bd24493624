package canary

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

func TestLeakIsFoundInEveryForm(t *testing.T) {
	for _, s := range Secrets(50, 1) {
		if !strings.Contains(s.Text, s.Value) {
			t.Fatalf("%q does not hold its secret", s.Text)
		}
		quoted, err := json.Marshal("say " + s.Text)
		if err != nil {
			t.Fatal(err)
		}
		for form, data := range map[string]string{
			"plain": s.Text, "json": string(quoted), "query": url.QueryEscape(s.Text), "hex": hex.EncodeToString([]byte(s.Text)),
			"base64 0": base64.StdEncoding.EncodeToString([]byte("abc" + s.Value + "abc")),
			"base64 1": base64.StdEncoding.EncodeToString([]byte("abcd" + s.Value + "ab")),
			"base64 2": base64.URLEncoding.EncodeToString([]byte("abcde" + s.Value)),
		} {
			if !s.Leaks(data) {
				t.Errorf("%s is not found in %s", form, data)
			}
		}
		if s.Leaks(strings.ReplaceAll(s.Text, s.Value, "<REDACTED>")) {
			t.Errorf("%q leaks after redaction", s.Text)
		}
	}
}

func TestSecretsAreDeterministicAndDistinct(t *testing.T) {
	seen := map[string]bool{}
	for i, s := range Secrets(50, 7) {
		if s != Secrets(50, 7)[i] || seen[s.Value] {
			t.Errorf("secret %d", i)
		}
		seen[s.Value] = true
	}
}
