package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

// secretSample is a text with a secret that must vanish, and nothing else.
type secretSample struct{ text, secret string }

// family is one group of rules with its own samples.
type family struct {
	secret []secretSample
	clean  []string // texts that must stay unchanged
}

// in makes samples of one secret in several texts; %s is the place of the secret.
func in(secret string, texts ...string) []secretSample {
	var all []secretSample
	for _, t := range texts {
		all = append(all, secretSample{strings.ReplaceAll(t, "%s", secret), secret})
	}
	return all
}

func samples(groups ...[]secretSample) []secretSample {
	var all []secretSample
	for _, g := range groups {
		all = append(all, g...)
	}
	return all
}

func newRedactor(t testing.TB, o Options) *Redactor {
	t.Helper()
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// check runs the samples of a family as text, and inside of JSON once and twice.
func (f family) check(t *testing.T, r *Redactor) {
	t.Helper()
	for _, s := range f.secret {
		want := strings.ReplaceAll(s.text, s.secret, Placeholder)
		if got := r.Text(s.text).String(); got != want {
			t.Errorf("Text(%q)\n got %q\nwant %q", s.text, got, want)
		}
		checkIdempotent(t, r, s.text)
		checkInside(t, r, s)
	}
	for _, text := range f.clean {
		if got := r.Text(text).String(); got != text {
			t.Errorf("Text(%q) = %q, want it unchanged", text, got)
		}
		raw := mustJSON(t, map[string]string{"content": text})
		if got := r.JSON(raw).String(); got != string(raw) {
			t.Errorf("JSON(%s) = %s, want it unchanged", raw, got)
		}
	}
}

func checkIdempotent(t *testing.T, r *Redactor, text string) {
	t.Helper()
	once := r.Text(text).String()
	if twice := r.Text(once).String(); twice != once {
		t.Errorf("redacting %q twice\nonce  %q\ntwice %q", text, once, twice)
	}
}

// checkInside embeds the text in JSON, twice, and searches for the secret in the
// decoded result.
func checkInside(t *testing.T, r *Redactor, s secretSample) {
	t.Helper()
	raw := mustJSON(t, map[string]any{"n": json.Number("12345678901234567890"), "content": s.text})
	for depth := 1; depth <= 2; depth++ {
		got := r.JSON(raw).String()
		if !json.Valid([]byte(got)) {
			t.Fatalf("JSON(%s) is not valid: %s", raw, got)
		}
		if text := decodeContent(t, got, depth); strings.Contains(text, s.secret) {
			t.Errorf("depth %d: the secret of %q survives: %s", depth, s.text, got)
		}
		raw = mustJSON(t, map[string]string{"content": string(raw)})
	}
}

func decodeContent(t *testing.T, raw string, depth int) string {
	t.Helper()
	var v struct {
		Content string `json:"content"`
	}
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		t.Fatal(err)
	}
	if depth > 1 {
		return decodeContent(t, v.Content, depth-1)
	}
	return v.Content
}

func mustJSON(t testing.TB, v any) []byte {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}

// letters makes n characters that look random, and are the same in each run.
func letters(n int) string {
	return generated(n, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
}

func hexDigits(n int) string { return generated(n, "0123456789abcdef") }

func upperDigits(n int) string { return generated(n, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") }

func generated(n int, alphabet string) string {
	var b strings.Builder
	x := uint64(0x9E3779B97F4A7C15) * uint64(n+len(alphabet))
	for range n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b.WriteByte(alphabet[x%uint64(len(alphabet))])
	}
	return b.String()
}
