// Package canary makes secrets of the kinds that agents meet, and finds them in data
// in every form in which they can leak.
package canary

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
)

// A Secret is a value that must not leak, and a text that contains it.
type Secret struct {
	Text  string
	Value string
}

const (
	alnum  = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	digits = "0123456789"
	hexa   = "0123456789abcdef"
)

// Secrets returns n secrets; the same seed gives the same secrets. Their ten kinds alternate.
func Secrets(n int, seed uint64) []Secret {
	r := rand.New(rand.NewPCG(seed, 11))
	random := func(alphabet string, n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		return string(b)
	}
	kinds := []func() (format, value string){
		func() (string, string) {
			return "remote: https://x:%s@github.com/a/b refused", "ghp_" + random(alnum, 36)
		},
		func() (string, string) { return "OPENAI_API_KEY=%s is not valid", "sk-proj-" + random(alnum, 48) },
		func() (string, string) { return "aws_access_key_id = %s", "AKIA" + random(upper, 16) },
		func() (string, string) {
			return "dial postgres://app:%s@db.internal:5432/app: refused", random(alnum, 20)
		},
		func() (string, string) { return "Authorization: Bearer %s", random(alnum, 40) },
		func() (string, string) { return "password: \"%s\" does not match", random(alnum, 18) },
		func() (string, string) {
			return "slack said no to %s", "xox" + "b-" + random(digits, 12) + "-" + random(digits, 12) + "-" + random(alnum, 24)
		},
		func() (string, string) { return `{"client_secret": "%s"}`, random(hexa, 40) },
		func() (string, string) {
			return "session cookie %s expired", "eyJ" + "hbGciOiJIUzI1NiJ9" + "." + "eyJ" + random(alnum, 40) + "." + random(alnum, 43)
		},
		func() (string, string) {
			return "-----BEGIN RSA PRIVATE KEY-----\n%s\n-----END RSA PRIVATE KEY-----", random(alnum, 64)
		},
	}
	all := make([]Secret, n)
	for i := range all {
		format, value := kinds[i%len(kinds)]()
		all[i] = Secret{Text: fmt.Sprintf(format, value), Value: value}
	}
	return all
}

// Forms returns the forms in which programs write a value: verbatim, escaped, in hex,
// and the part of its base64 that is the same at every offset in a longer text.
func (s Secret) Forms() []string {
	escaped, err := json.Marshal(s.Value)
	if err != nil {
		panic(err) // not possible: it is a string
	}
	all := []string{s.Value, strings.Trim(string(escaped), `"`), url.QueryEscape(s.Value), hex.EncodeToString([]byte(s.Value))}
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		for shift := range 3 {
			// The first and the last digits also hold bits of the neighboring bytes.
			digits := enc.EncodeToString([]byte(strings.Repeat("x", shift) + s.Value))
			all = append(all, strings.TrimRight(digits, "=")[4*((shift+2)/3):len(digits)-4])
		}
	}
	return all
}

// Leaks reports whether data holds the secret in any of its forms.
func (s Secret) Leaks(data string) bool {
	for _, f := range s.Forms() {
		if strings.Contains(data, f) {
			return true
		}
	}
	return false
}
