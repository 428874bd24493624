package redact

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/internal/cputime"
	share "github.com/agentcompact/compact/internal/samples"
)

// hostile are texts that could make the redactor read them again and again.
func hostile() map[string]string {
	k8s := strings.Repeat(`{"kind":"Secret","data":`, 300) + `"x"` + strings.Repeat("}", 300)
	nest := `"x"`
	for range 12 {
		nest = fmt.Sprintf("%q", "["+nest+"]")
	}
	texts := map[string]string{
		"assignments":           "password=",
		"quotes":                `password="`,
		"triple quotes":         `password="""password='''`,
		"escapes":               `\\\"token\\\": \"`,
		"tokens":                "eyJ-",
		"schemes":               "a://b:c",
		"keys":                  "-----BEGIN RSA PRIVATE KEY-----\n",
		"key ends":              letters(60) + "\n-----END PRIVATE KEY-----",
		"vendor prefix":         "EAACEAAC",
		"vendor names":          "cloudflare=",
		"curl":                  "curl ",
		"basic":                 "basic a",
		"manifests":             "kind: Secret\n---\n",
		"manifest data":         "kind: Secret\ndata:\n",
		"numbers":               "4111-",
		"placeholders":          "<REDACTED",
		"same beginning":        " token=abcdefgh1" + letters(20),
		"secrets of secrets":    "token=" + letters(24) + "token=",
		"backslashes":           `\`,
		"nested manifests":      k8s,
		"nested strings":        nest,
		"brackets":              "[",
		"dots":                  "s.",
		"colors":                "\x1b[1mpassword\x1b[0m=",
		"one line":              "\x1b[1mtoken ",
		"heads":                 "id,password\n",
		"bars":                  "| password |\n|--|\n",
		"cookies":               "Cookie: a=b; ",
		"percent":               "password%3D",
		"entities":              "&quot;password&quot;",
		"encoded":               base64Form("DB_PASSWORD=", 0),
		"pipes":                 "echo a1b2c3 | sudo -S ",
		"inserts":               "INSERT INTO t (password) VALUES ('a'),",
		"lines":                 letters(64) + "\n",
		"accounts":              "accounts: [0x",
		"crypt":                 "$6$",
		"calls":                 "auth=('a',",
		"fields":                "password').fill('",
		"pgpass":                "a:5432:b:c:",
		"groups":                "secret: ABCD EFGH ",
		"sentences":             "password for ",
		"clauses":               "use the password a1b2c3d4 ",
		"prompts":               "$ x token\n",
		"arguments":             `["-a",`,
		"expressions":           `token("a" + `,
		"foreign names":         "пароль",
		"foreign characters":    "密码",
		"foreign sentences":     "пароль от a1b2c3d4E ",
		"literals":              `login("a",`,
		"open literals":         `aes("`,
		"here-documents":        "auth <<a\n",
		"account lists":         `users = ["a","b",`,
		"dumps":                 "70 61 73 73 ",
		"dump lines":            "0000: 70 61 73 73 3d\n",
		"byte lists":            "key=[1,2,",
		"elements":              "<string>password</string><string>",
		"emphasis":              "password is <b><b><b>",
		"named members":         `{"name":"password","a":` + strings.Repeat(`{"name":"token","b":`, 200) + `{"value":"x"}` + strings.Repeat("}", 201),
		"tables in arrays":      `["login","password"],`,
		"questions":             "password?\n",
		"pairs":                 "a / b to log in ",
		"literals before names": `password ("a", key: "token`,
		"minified":              "token:function(a){return key.b},secret:c,",
		"arguments of tools":    "connect to a user b ACL SETUSER a createuser SHA snmp-server user a expdp a/b ",
		"services of chats":     "nickserv identify a ",
		"fields of robots":      "Input Password  a=b  c",
		"ids of accounts":       "twilio AC",
		"registrations":         "register => a:b",
		"cracked hashes":        "hashcat\n" + letters(30) + ":a1\n",
		"names of users":        `"username": "a", `,
		"keys of accounts":      `"keyName": "a" "value" "random_password" "result" `,
		"heads in comments":     "# a\ttoken\tb\n",
		"rows below comments":   "# a\ttoken\tb\n" + strings.Repeat("a b c\n", 30),
		"heads in HTML":         "<tr><th>a</th><th>password</th></tr><tr><td>b</td>",
		"open heads in HTML":    "<tr><th>password</th>",
		"printed accounts":      "$ cat auth.txt\na:b\n",
		"chats":                 "password?\n[1] a: ",
		"announced tokens":      "the token (1) is in a b c d:\n",
		"lists of codes":        "recovery codes, in a list:\n",
		"digests":               "Authorization: Digest response=\"a ",
		"macros":                `\\password}{`,
		"cracked users":         "a:b:1:aad3b435b51404eeaad3b435b51404ee:",
		"flags":                 "x -p a1b2c3d4 -auth a:b login=a:b ",
		"echoed":                "echo 'a1b2c3' | x ",
		"curl with a user":      "curl -ua:b ",
		"questions about wifi":  "key wifi?\n",
		"counted values":        "password\nV 9\n",
		"codes of networks":     "WIFI:T:a;P:b MONITOR a@b 1 c d .logon a/b,c AT+CWJAP='a',",
		"relays":                "]:587 a:b ]:25 c:d ",
		"piped literals":        "'a' | ConvertTo-SecureString ",
	}
	return texts
}

// TestHostileTextIsReadInLinearTime fails if four times the text takes far more
// than four times the time.
func TestHostileTextIsReadInLinearTime(t *testing.T) {
	r := newRedactor(t, Options{PII: true})
	size, slack := 128<<10, 50*time.Millisecond
	if share.All() {
		size, slack = 256<<10, 100*time.Millisecond
	}
	for name, unit := range hostile() {
		t.Run(name, func(t *testing.T) {
			took := func(n int) time.Duration {
				text := strings.Repeat(unit, n/len(unit)+1)
				start := cputime.Used()
				r.Text(text)
				return cputime.Used() - start
			}
			took(size / 16)
			large := took(size)
			if large <= slack {
				return // fast enough, so the time for a quarter of the text has no effect
			}
			if small := took(size / 4); large > 12*small+slack {
				t.Errorf("%d KB took %v, %d KB took %v, want at most 12 times as long", size>>12, small, size>>10, large)
			}
		})
	}
}

func TestDistinctSecretsWithOneBeginningAreSearchedInLinearTime(t *testing.T) {
	r := newRedactor(t, Options{})
	text := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "token=sameprefix%06dx%s\n", i, letters(8))
		}
		return b.String()
	}
	took := func(n int) time.Duration {
		s := text(n)
		start := cputime.Used()
		r.Text(s)
		return cputime.Used() - start
	}
	took(100)
	small, large := took(2000), took(8000)
	t.Logf("%v, four times as much %v", small, large)
	if large > 12*small+100*time.Millisecond {
		t.Errorf("2000 secrets took %v, 8000 took %v, want at most 12 times as long", small, large)
	}
}

func TestTextThatIsTooExpensiveCountsAsASecret(t *testing.T) {
	r := newRedactor(t, Options{})
	found := r.Find(strings.Repeat("password=", 100_000))
	if n := len(found); n == 0 || found[n-1].Rule != "unscanned" || found[n-1].End != 900_000 {
		t.Errorf("the last of %d findings is %v, want a finding of rule unscanned that ends at 900000", n, found[max(0, n-1):])
	}
	if got := r.Text(strings.Repeat("password=", 100_000)).String(); strings.Count(got, "=") > 50_000 {
		t.Errorf("%d bytes are left, want the rest of the text removed", len(got))
	}
	for _, f := range r.Find(strings.Repeat("an ordinary line with token=abc and key: value\n", 20_000)) {
		if f.Rule == "unscanned" {
			t.Fatalf("ordinary text is not scanned from byte %d on", f.Start)
		}
	}
}
