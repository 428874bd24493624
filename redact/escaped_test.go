package redact

import (
	"encoding/base64"
	"testing"
)

// The letter of an escape before a base64 text is not part of that text. With the
// letter, the text could not be decoded, and the password in it would be stored.
func TestEncodedSecretsAfterAnEscapeVanish(t *testing.T) {
	env := base64.StdEncoding.EncodeToString([]byte("APP_ENV=prod\nDB_PASSWORD=" + "Wj8n" + "R3vK6qTz" + "\n"))
	for _, text := range []string{`printf "` + env + `"`, `printf "env:\n` + env + `\n"`, `printf "env:\t` + env + `"`, `printf "env:\r\n` + env + `"`} {
		gone(t, text, env[:40], env[40:])
	}
}
