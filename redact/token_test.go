package redact

import (
	"strings"
	"testing"
)

// bodyOf makes a body that fits a shape.
func bodyOf(s *tokenShape) string {
	n := min(max(s.min, 24), s.max)
	if s.form != nil {
		return strings.Join([]string{hexDigits(8), hexDigits(4), hexDigits(4), hexDigits(4), hexDigits(12)}, "-")
	}
	body := letters(n)
	if !s.body('g') {
		body = hexDigits(n)
	}
	if !s.body('g') && s.body('Z') {
		body = upperDigits(n)
	}
	if s.body('g') && !s.body('G') {
		body = strings.ToLower(body)
	}
	if s.mark != 0 {
		body = body[:s.markAt] + string(rune(s.mark)) + body[s.markAt+1:]
	}
	return body
}

func TestTokensVanishInEveryPlace(t *testing.T) {
	for i := range tokenShapes {
		s := &tokenShapes[i]
		t.Run(s.prefix, func(t *testing.T) {
			token := s.prefix + bodyOf(s)
			family{
				secret: in(token, "The tool printed: %s\nDone.", "line one\\n%s\\nline three", `["%s"]`, "(%s)"),
				clean:  []string{s.prefix, s.prefix + strings.Repeat("x", s.min), "a" + token[:len(s.prefix)+3], s.prefix + "…"},
			}.check(t, newRedactor(t, Options{}))
		})
	}
}

func TestIdentifiersSurvive(t *testing.T) {
	family{clean: []string{
		"call_" + letters(24), "toolu_01" + letters(22), "msg_01" + letters(22), "req_011" + letters(21), "chatcmpl-" + letters(29), "resp_" + hexDigits(48), "3ab759fe-f0c1-42e3-84a5-b6c7d8e9f0a1", "commit " + hexDigits(40), "sha256:" + hexDigits(64), `"integrity": "sha512-` + letters(86) + `=="`, `etag: "` + hexDigits(40) + `"`, "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7" + letters(30) + " user@host", "h1:" + letters(43) + "=", "ulid 01J9Z3" + upperDigits(20),
	}}.check(t, newRedactor(t, Options{}))
}

func TestTokensWithAMarkInTheMiddleVanish(t *testing.T) {
	for i := range embeddedTokens {
		e := &embeddedTokens[i]
		token := letters(e.before) + e.exact + letters(e.after) + e.pad
		family{
			secret: in(token, "The tool printed: %s\nDone.", `["%s"]`, "key %s, region westeurope"),
			clean:  []string{e.exact, "about " + e.exact + " and others", strings.Repeat("x", e.before) + e.exact + strings.Repeat("x", e.after) + e.pad},
		}.check(t, newRedactor(t, Options{}))
	}
}

func TestContinuedTokenVanishesWhole(t *testing.T) {
	token := "glimt-" + letters(25)
	if got := newRedactor(t, Options{}).Text("mail token " + token + "_and-the-rest of it").String(); strings.Contains(got, "and-the-rest") {
		t.Errorf("half of the token stays: %s", got)
	}
}
