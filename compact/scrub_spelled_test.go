package compact_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// spell writes a text in randomly chosen spellings, which can be nested.
type spell struct{ *rand.Rand }

func (r spell) one(of ...string) string { return of[r.IntN(len(of))] }

// secret draws a secret of 4 to 20 characters.
func (r spell) secret() string {
	all := []rune(`abcXYZ0123456789"'\/ äößÜ漢😀<>&+-=%.,:`)
	var b strings.Builder
	for b.Len() < 4 || r.IntN(20) > 0 && b.Len() < 20 {
		b.WriteRune(all[r.IntN(len(all))])
	}
	return "k" + strings.TrimSpace(b.String()) + r.one("7", "Q", "z")
}

// json escapes s as a JSON string, as one of several programs does.
func (r spell) json(s string) string {
	ascii, web, slash, hex := r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0, r.one("%04x", "%04X")
	var b strings.Builder
	for _, c := range s {
		switch {
		case c == '"' || c == '\\' || c == '/' && slash:
			b.WriteString(`\` + string(c))
		case c < ' ' || web && strings.ContainsRune("<>&", c) || ascii && c > '~':
			for _, u := range utf16.Encode([]rune{c}) {
				fmt.Fprintf(&b, `\u`+hex, u)
			}
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// url escapes s as a part of a URL.
func (r spell) url(s string) string {
	switch r.IntN(3) {
	case 0:
		s = url.QueryEscape(s)
	case 1:
		s = url.PathEscape(s)
	default:
		s = strings.ReplaceAll(url.QueryEscape(s), "%2F", "/") // as Python does
		s = strings.ReplaceAll(s, "+", "%20")
	}
	if r.IntN(2) == 0 {
		s = regexp.MustCompile(`%..`).ReplaceAllStringFunc(s, strings.ToLower)
	}
	return s
}

// html escapes s as one of several programs does.
func (r spell) html(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, r.one("&quot;", "&#34;", "&#x22;"), "'", r.one("'", "&#39;", "&#x27;", "&apos;"), "ä", r.one("ä", "&auml;", "&#xE4;")).Replace(s)
}

func (r spell) base64(s string) string {
	enc := []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding}[r.IntN(4)]
	return enc.EncodeToString([]byte("user:xx"[:r.IntN(8)] + s + "\nand more"[:r.IntN(9)]))
}

// written writes s in up to two spellings inside of each other, and then into a
// message of an archive.
func (r spell) written(s string) string {
	if r.IntN(5) == 0 {
		s = r.base64(s)
	}
	for range r.IntN(3) {
		switch r.IntN(3) {
		case 0:
			s = `{"pw": "` + r.json(r.one("", "it is ")+s) + `"}`
		case 1:
			s = "https://host/?q=" + r.url(s) + "&r=1"
		default:
			s = `<b title="` + r.html(s) + `">`
		}
	}
	return `{"role":"user","content":"` + r.json("See "+s+" there.") + `"}`
}

var (
	inMessage = regexp.MustCompile(`"content":(".*")`)
	inObject  = regexp.MustCompile(`{"pw": (".*")}`)
	inURL     = regexp.MustCompile(`q=(.*)&`)
	inTag     = regexp.MustCompile(`title="(.*)">`)
	base64Run = regexp.MustCompile(`[A-Za-z0-9+/_-]{4,}`)
)

// says reports whether a written text contains a secret, according to the decoders of
// the standard library.
func says(text, secret string, depth int) bool {
	if strings.Contains(text, secret) {
		return true
	}
	if depth == 0 {
		return false
	}
	var inner []string
	for _, re := range []*regexp.Regexp{inMessage, inObject} {
		for _, m := range re.FindAllStringSubmatch(text, -1) {
			var s string
			if json.Unmarshal([]byte(m[1]), &s) == nil {
				inner = append(inner, s)
			}
		}
	}
	for _, m := range inURL.FindAllStringSubmatch(text, -1) {
		for _, unescape := range []func(string) (string, error){url.QueryUnescape, url.PathUnescape} {
			if s, err := unescape(m[1]); err == nil {
				inner = append(inner, s)
			}
		}
	}
	for _, m := range inTag.FindAllStringSubmatch(text, -1) {
		inner = append(inner, html.UnescapeString(m[1]))
	}
	for _, run := range base64Run.FindAllString(text, -1) {
		run = strings.NewReplacer("-", "+", "_", "/").Replace(run)
		if raw, _ := base64.RawStdEncoding.DecodeString(run); len(raw) > 0 {
			inner = append(inner, string(raw))
		}
	}
	for _, s := range inner {
		if s != text && says(s, secret, depth-1) {
			return true
		}
	}
	return false
}

// journal returns the lines of the journal of a session.
func journal(t *testing.T, s *record.Session) []string {
	t.Helper()
	key, err := storage.ParseKey(s.Key().String() + "/journal.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Archive().Open(t.Context(), key, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(f)
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

func TestScrubRemovesEverySpelling(t *testing.T) {
	nothing, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(40) {
		r := spell{rand.New(rand.NewPCG(seed, 1))}
		s, err := record.OpenSession(t.Context(), memory.New(), "s")
		if err != nil {
			t.Fatal(err)
		}
		var secrets []string
		var lines []redact.Text
		for range 50 {
			secret := r.secret()
			secrets, lines = append(secrets, secret), append(lines, nothing.JSON([]byte(r.written(secret))))
		}
		if err := s.Journal(t.Context(), lines); err != nil {
			t.Fatal(err)
		}
		for i, line := range journal(t, s)[:len(lines)] {
			if !says(line, secrets[i], 5) {
				t.Fatalf("the decoder of the test does not find %q in %s", secrets[i], line)
			}
		}
		if _, err := compact.Scrub(t.Context(), s, compact.ScrubOptions{Secrets: secrets}); err != nil {
			t.Fatal(err)
		}
		for i, line := range journal(t, s)[:len(lines)] {
			if says(line, secrets[i], 5) {
				t.Errorf("seed %d: %q was in %s and is in %s", seed, secrets[i], lines[i], line)
			}
			if !strings.Contains(line, "See ") || !strings.Contains(line, " there.") {
				t.Errorf("seed %d: more than %q was removed from %s: %s", seed, secrets[i], lines[i], line)
			}
		}
	}
}

// A text that only resembles a secret does not prevent the removal of the
// others.
func TestScrubIgnoresHarmlessText(t *testing.T) {
	s, err := record.OpenSession(t.Context(), memory.New(), "s")
	if err == nil {
		err = s.Journal(t.Context(), []redact.Text{redact.Lit(`{"role":"user","content":"restart\nginx-pass and nginx-pass","ok":true,"n":["true","x"]}`)})
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := compact.Scrub(t.Context(), s, compact.ScrubOptions{Secrets: []string{"nginx-pass", "true", `,"n":[`}}); err != nil {
		t.Fatal(err)
	}
	if got := journal(t, s)[0]; !strings.Contains(got, `"restart\nginx-pass and **********","ok":true,"n":["****","x"]`) {
		t.Error(got)
	}
}
