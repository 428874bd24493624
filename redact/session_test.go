package redact

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/cputime"
)

func TestSessionFindsKnownValues(t *testing.T) {
	for _, o := range []Options{{}, {Pseudonyms: []byte(strings.Repeat("k", MinPseudonymKey))}} {
		r := newRedactor(t, o)
		secret := letters(22) + "/" + letters(17)
		s := r.Session()
		bare := "then it printed " + secret + " and went on"
		if got := s.Text(bare).String(); got != bare {
			t.Fatalf("the session has learned nothing, and redacts %q, want %q", got, bare)
		}
		said := s.Text("DB_PASSWORD=" + secret).String()
		stand := strings.TrimPrefix(said, "DB_PASSWORD=")
		if strings.Contains(said, secret) || !strings.HasPrefix(stand, "<REDACTED") {
			t.Fatalf("got %q, want a placeholder in place of the secret", said)
		}
		twice := mustJSON(t, map[string]string{"arguments": string(mustJSON(t, map[string]string{"cmd": "echo " + secret}))})
		for name, text := range map[string]string{
			"bare": bare, "json in json": string(twice), "escaped": strings.ReplaceAll(bare, "/", `\/`),
			"base64": "data " + base64.StdEncoding.EncodeToString([]byte("xy"+secret+"z")),
		} {
			got := s.Text(text).String()
			if strings.Contains(got, secret[:12]) || !strings.Contains(got, stand) {
				t.Errorf("%s: %q, want %q in it", name, got, stand)
			}
			if again := s.Text(got).String(); again != got {
				t.Errorf("%s: again %q, want %q", name, again, got)
			}
		}
		if got := s.JSON(twice).String(); !json.Valid([]byte(got)) || strings.Contains(got, secret) {
			t.Errorf("JSON: %s, want text without %q", got, secret)
		}
		if got := s.Record(twice).String(); strings.Contains(got, secret) {
			t.Errorf("Record: %s, want text without %q", got, secret)
		}
		if got := r.Text(bare).String(); got != bare {
			t.Errorf("the redactor itself knows the secret of the session: %q, want %q", got, bare)
		}
		if got := r.Session().Text(bare).String(); got != bare {
			t.Errorf("another session knows the secret of the session: %q, want %q", got, bare)
		}
	}
}

func TestSessionLearnsBeforeItRedacts(t *testing.T) {
	s := newRedactor(t, Options{}).Session()
	secret := letters(24)
	s.Learn(mustJSON(t, map[string]string{"role": "user", "content": "password: " + secret}))
	if got := s.Text("it is " + secret).String(); got != "it is <REDACTED>" {
		t.Errorf("got %q, want the secret replaced", got)
	}
	off := newRedactor(t, Options{Disabled: true}).Session()
	off.Learn([]byte("password: " + secret))
	if got := off.Text("it is " + secret).String(); !strings.Contains(got, secret) {
		t.Errorf("redaction is off: %q, want text with %q", got, secret)
	}
}

// A word of the language must not vanish from a whole session because a user chose it
// as a password.
func TestSessionKeepsOrdinaryWords(t *testing.T) {
	s := newRedactor(t, Options{}).Session()
	for _, word := range []string{"postgres", "development", "12345678", "test"} {
		s.Text("DB_PASSWORD=" + word)
		if text := "we use " + word + " here"; s.Text(text).String() != text {
			t.Errorf("%q vanished: %s", word, s.Text(text))
		}
	}
}

func TestSessionForgetsTheOldestAndIsBounded(t *testing.T) {
	s := newRedactor(t, Options{}).Session()
	secret := func(i int) string { return fmt.Sprintf("%s%05dx", letters(16), i) }
	const n = 5 * maxRemembered
	for i := range n {
		s.Learn([]byte("password: " + secret(i)))
	}
	if got := s.Text("it is " + secret(n-1)).String(); got != "it is <REDACTED>" {
		t.Errorf("the newest secret is not known: %q", got)
	}
	if text := "it is " + secret(0); s.Text(text).String() != text {
		t.Error("the oldest secret is still known; want the number of secrets bounded")
	}
	known := 0
	for _, g := range []*generation{s.mem.recent, s.mem.older} {
		known += len(g.secrets)
	}
	if known > 2*maxRemembered {
		t.Errorf("%d secrets are remembered, %d at most", known, 2*maxRemembered)
	}
}

// BenchmarkSession redacts a text in a session that knows a hundred secrets.
func BenchmarkSession(b *testing.B) {
	clean := transcript(b, benchSize)
	for _, c := range []struct {
		name, text string
	}{{"clean", clean}, {"many", sprinkle(clean, 2<<10)}} {
		b.Run(c.name, func(b *testing.B) {
			s := newRedactor(b, Options{}).Session()
			for i := range 100 {
				s.Learn(fmt.Appendf(nil, "password: %s%d", letters(20), i))
			}
			s.Text(c.text)
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			defer reportCPU(b, len(c.text), cputime.Used())
			for b.Loop() {
				s.Text(c.text)
			}
		})
	}
}

// A session remembers only sizes, hashes, and the name of a rule of a secret.
func TestSessionKeepsNoSecret(t *testing.T) {
	s := newRedactor(t, Options{}).Session()
	secret := letters(24)
	s.Learn([]byte("password: " + secret))
	if kept := fmt.Sprintf("%+v", s.mem.recent); strings.Contains(kept, secret[:minNeedle]) || len(s.mem.recent.forms) == 0 {
		t.Errorf("the secret is kept: %.2000s", kept)
	}
}
