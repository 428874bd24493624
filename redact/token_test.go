package redact

import (
	"strings"
	"testing"
)

// bodyOf makes a body that fits a shape.
func bodyOf(s *tokenShape) string {
	n := min(max(s.min, 24), s.max)
	switch {
	case !s.body('g'):
		if s.body('Z') {
			return upperDigits(n)
		}
		return hexDigits(n)
	}
	return letters(n)
}

func TestTokensVanishWhereverTheyStand(t *testing.T) {
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
