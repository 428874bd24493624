package redact

import (
	"strings"
	"testing"
)

// pemLines makes the lines of a key.
func pemLines(n int) []string {
	var lines []string
	for i := range n {
		lines = append(lines, letters(64 + i)[i:])
	}
	return append(lines, letters(30)+"==")
}

func pemBlock(label, newline string) string {
	return "-----BEGIN " + label + "-----" + newline + strings.Join(pemLines(8), newline) + newline + "-----END " + label + "-----"
}

func TestPrivateKeysVanishWhole(t *testing.T) {
	var all []secretSample
	for _, label := range []string{"RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK"} {
		all = append(all, in(pemBlock(label, "\n"), "$ cat key\n%s\n$ ", "%s")...)
		all = append(all, in(pemBlock(label, `\n`), `{"type": "service_account", "private_key": "%s\n", "client_id": "1"}`)...)
		all = append(all, in(pemBlock(label, "\r\n"), "%s\r\n")...)
	}
	family{
		secret: all,
		clean: []string{
			"-----BEGIN PUBLIC KEY-----\n" + strings.Join(pemLines(2), "\n") + "\n-----END PUBLIC KEY-----",
			"-----BEGIN CERTIFICATE-----\n" + strings.Join(pemLines(2), "\n") + "\n-----END CERTIFICATE-----",
			"look for a line -----BEGIN RSA PRIVATE KEY----- in the file",
			"-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
		},
	}.check(t, newRedactor(t, Options{}))
}

func TestTruncatedPrivateKeysVanish(t *testing.T) {
	lines := pemLines(6)
	for name, text := range map[string]string{
		"end of text":  "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Join(lines, "\n"),
		"marker":       "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Join(lines[:5], "\n") + "\n[truncated: kept first ~8000 tokens]",
		"prose":        "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Join(lines[:5], "\n") + "\n\nand so on for many lines",
		"escaped":      `-----BEGIN RSA PRIVATE KEY-----\n` + strings.Join(lines[:5], `\n`) + `\n`,
		"line numbers": "     1\t-----BEGIN RSA PRIVATE KEY-----\n     2\t" + strings.Join(lines[:5], "\n     3\t") + "\n",
		"no beginning": strings.Join(lines, "\n") + "\n-----END RSA PRIVATE KEY-----\nnext",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRedactor(t, Options{})
			got := r.Text(text).String()
			for _, line := range lines[:5] {
				if strings.Contains(got, line) {
					t.Fatalf("a line of the key survives in %q", got)
				}
			}
			for _, rest := range []string{"[truncated: kept first ~8000 tokens]", "and so on for many lines", "\nnext"} {
				if strings.Contains(text, rest) && !strings.Contains(got, rest) {
					t.Errorf("the text after the key is missing: %q", got)
				}
			}
			checkIdempotent(t, r, text)
		})
	}
}
