package redact

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"
)

// gone checks that no part of a secret is left in a text, and that redacting
// again changes nothing.
func gone(t *testing.T, text string, secrets ...string) {
	t.Helper()
	r := newRedactor(t, Options{})
	got := r.Text(text).String()
	for _, s := range secrets {
		if strings.Contains(got, s) {
			t.Errorf("Text(%q) = %q, which has %q", text, got, s)
		}
	}
	if again := r.Text(got).String(); again != got {
		t.Errorf("again: %q, first %q", again, got)
	}
	raw := mustJSON(t, map[string]string{"content": text})
	if got := decodeContent(t, r.JSON(raw).String(), 1); strings.Contains(got, secrets[0]) {
		t.Errorf("JSON(%s): %q, want text without %q", raw, got, secrets[0])
	}
}

func TestSecretsInColouredOutputVanish(t *testing.T) {
	v := "Wj8n" + "R3vK6qTz"
	for _, text := range []string{"\x1b[34mpassword\x1b[0m: \x1b[32m" + v + "\x1b[0m", "DB_\x1b[01;31m\x1b[KPASSWORD\x1b[m\x1b[K=" + v, `\u001b[32mpassword\u001b[39m=\u001b[33m` + v + `\u001b[39m`, `\033[1mPassword:\033[0m ` + v, `\x1b[32mpassword\x1b[0m=` + v} {
		gone(t, text, v)
	}
	gone(t, "password="+v[:6]+"\x1b[7m"+v[6:]+"\x1b[0m", v[:6], v[6:])
	token := "ghp_" + letters(36)
	gone(t, token[:16]+"\x1b[1m"+token[16:]+"\x1b[0m", token[4:16], token[16:])
	r := newRedactor(t, Options{})
	if got := r.Text("\x1b[34mpassword\x1b[0m: \x1b[32m" + v + "\x1b[0m").String(); got != "\x1b[34mpassword\x1b[0m: \x1b[32m<REDACTED>\x1b[0m" {
		t.Errorf("got %q, want the value replaced and the colors kept", got)
	}
	for _, text := range []string{"\x1b[32m✓\x1b[0m test_password_reset \x1b[90m(12 ms)\x1b[0m", "\x1b[31m-  password: string\x1b[m"} {
		if got := r.Text(text).String(); got != text {
			t.Errorf("got %q, want it unchanged", got)
		}
	}
}

func TestWrappedSecretsVanish(t *testing.T) {
	v := "Wj8n" + "R3vK6qTz"
	gone(t, "pass\u200bword="+v, v)
	gone(t, "password="+v[:4]+"\u200b"+v[4:], v[:4]+"\u200b", v[4:])
	gone(t, "q=user%3Dbob%26password%3D"+v+"%26next%3D%2F", v)
	gone(t, "data="+url.QueryEscape(`{"user":"bob","password":"`+v+`"}`), v)
	gone(t, "next=https%253A%252F%252Fh%252F%253Ftoken%253D"+letters(30), letters(30))
	gone(t, "&quot;password&quot;&#58; &quot;"+v+"&quot;", v)
	gone(t, "password=3D"+v, v)
	env := base64.StdEncoding.EncodeToString([]byte("APP_ENV=prod\nDB_PASSWORD=" + v + "\n"))
	gone(t, "echo "+env+" | base64 -d > .env", env[:40], env[40:])
	key := base64.StdEncoding.EncodeToString([]byte("-----BEGIN PRIVATE KEY-----\n" + letters(64) + "\n" + letters(60) + "\n-----END PRIVATE KEY-----\n"))
	gone(t, key, key[:60], key[100:])
	gone(t, key[:64]+"\n"+key[64:128]+"\n"+key[128:], key[64:128], key[128:])
	wrapped := base64.StdEncoding.EncodeToString([]byte("APP_ENV=production\nAPP_DEBUG=false_\nDB_PASSWORD=" + v + "\n")) // the value begins the second line
	for _, end := range []string{"\n", "\r\n", `\n`, `\r\n`} {
		gone(t, "env: "+wrapped[:64]+end+wrapped[64:], wrapped[64:])
	}
	gone(t, "$ base64 -w0 .env\n"+wrapped+"\ninfo: connected", wrapped[64:])
	gone(t, "$ base64 -w0 .env\n"+wrapped+"\ndone\n", wrapped[64:])
	var wide []byte
	for _, c := range []byte(`$password = "` + v + `"`) {
		wide = append(wide, c, 0)
	}
	command := base64.StdEncoding.EncodeToString(wide)
	gone(t, "powershell -EncodedCommand "+command, command)
	r := newRedactor(t, Options{})
	for _, text := range []string{base64.StdEncoding.EncodeToString([]byte("the password must be set in the settings of the application")), "https://h/search?q=forgot%20password%3F&lang=en", "a%3Db%26c%3Dd", "foo\u200bbar and password\u200b-less"} {
		if got := r.Text(text).String(); got != text {
			t.Errorf("got %q, want it unchanged", got)
		}
	}
}

func TestKeysToWalletsVanish(t *testing.T) {
	hex := hexDigits(64)
	family{
		secret: samples(
			in("0x"+hex, `accounts: ["%s"]`, "Private Keys\n==================\n\n(0) %s\n", `new ethers.Wallet("%s", provider)`),
			in("xprv9s21ZrQH143K"+letters(95), "%s", "key %s"),
			in("KxFC1jmwwCoAC"+"iCAWZ3eXa96mBM6tb3TYzGmf6YwgdGWZgawvrtJ", "importprivkey %s", "%s"),
			in(strings.ToUpper("adil mnc7 fvok 3p2s"), "TOTP secret: %s"),
			in("AGE-SECRET-KEY-PQ-1"+strings.ToUpper(letters(58)), "%s"),
			in("MTA"+letters(21)+".G"+letters(5)+"."+letters(38), "bot %s"),
			in(hexDigits(32), "SENTRY_DSN=https://%s@o12345.ingest.sentry.io/678"),
			in("fm2_"+letters(80), "FLY_API_TOKEN=<REDACTED> %s"),
			in("CCDB1_"+letters(22)+"_"+letters(40), "%s"),
			in("abcd1-ef2ab", "Recovery codes:\n%s\n"),
		),
		clean: []string{`accounts: ["0x` + hexDigits(40) + `"]`, "blockHash: 0x" + hex, "KxFC1jmwwCoACiCAWZ3eXa96mBM6tb3TYzGmf6YwgdGWZgawvrtK", "xpub661MyMwAqRbcF" + letters(95), "The accounts are in a list.", "secret: ABCD EFGH",
			"Recovery codes:\nPlease store them in a safe place.\n", "## Backup codes\n\n", "Backup codes:\none-time codes are shown once\n", "Scratch codes:\nsign-in\nlog-out1\n"},
	}.check(t, newRedactor(t, Options{}))
}

func TestTheMiddleOfAPrivateKeyVanishes(t *testing.T) {
	line := func(i int) string { return letters(50 + i)[i:] + "+/" + letters(12) }
	body := line(0) + "\n" + line(1) + "\n" + line(2) + "\n" + line(3)
	ssh := func(i int) string { return line(i) + letters(6 + i)[i:] } // OpenSSH writes lines of 70 characters
	r := newRedactor(t, Options{})
	for text, want := range map[string]string{
		"sed -n 5,8p id\n" + ssh(0) + "\n" + ssh(1) + "\n" + ssh(2) + "\n" + ssh(3) + "\n": "sed -n 5,8p id\n<REDACTED>\n",
		"[...]\n" + body + "\n[...]":                                       "[...]\n<REDACTED>\n[...]",
		"     9\t" + strings.ReplaceAll(body, "\n", "\n    10\t"):          "     9\t<REDACTED>",
		"-----BEGIN CERTIFICATE-----\n" + body:                             "-----BEGIN CERTIFICATE-----\n" + body,
		body + "\n-----END CERTIFICATE-----":                               body + "\n-----END CERTIFICATE-----",
		"iVBORw0KGgoAAAA\n" + body:                                         "iVBORw0KGgoAAAA\n" + body,
		line(0) + "\n" + line(1):                                           line(0) + "\n" + line(1),
		hexDigits(64) + "\n" + hexDigits(64) + "\n" + hexDigits(64) + "\n": hexDigits(64) + "\n" + hexDigits(64) + "\n" + hexDigits(64) + "\n",
	} {
		if got := r.Text(text).String(); got != want {
			t.Errorf("Text(%q) = %q, want the lines of the key replaced", text, got)
		}
	}
}
