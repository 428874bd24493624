package redact

import (
	"strings"
	"testing"
)

// TestSecretsInClausesVanish has sentences in which other words stand between a name and
// its value, or the value comes first.
func TestSecretsInClausesVanish(t *testing.T) {
	sym, gen := "Rj7!kWq"+"?Vd4#tZ", "kT4vXq92"+"ZmWb7LrJ31pd"
	family{
		secret: samples(
			in(sym, "Trying password %s for the user bob ... done", "When it asks for the password, type %s and press enter", "I tried the old one, but the actual password turned out to be '%s'.", "the secret password, for reference, is \"%s\"", "Password (staging) — %s",
				"A temporary password is generated for root@localhost: %s", "[sudo] password for bob: %s", "Enter passphrase for key '/home/bob/.ssh/id_ed25519': %s", "log in with bob / %s to see it", "creds for the wiki: bob / %s", "Use %s as the password for the staging server."),
			in(gen, "just paste this in: %s, it is the webhook secret", "We rotated the token yesterday and %s replaces it from now on"),
			in(hexDigits(40), "just paste this in: %s, it is the webhook secret"),
			in("2048"+"15", "Your one-time code is %s."), // not a year
			in("4815"+"16", "Your one-time code is %s. Do not share it.", "PIN for the door: %s", "verification code: %s", "The gate code is %s, ring twice.", "le code du portail est le %s", "Der Türcode ist %s."),
			in("48"+"21A", "le code de la porte est le %s"),
			in(gen+gen, "https://example.com/cb?code=%s&state=abc"),
			in(sym, "hasło: %s", "contrasenya: %s", "kata sandi: %s"),
		),
		clean: []string{"The token test Base64Url2Decode runs for every password in the list", "The MLDSA44PublicKey is derived from the private key of the user", "The password check in auth_v2 fails for the user bob since v1.24.3-rc1", "the token fix of the login page landed in commit " + hexDigits(40),
			"the secret id is 0674c84b-0304-47fe-8728-c6bff46af8fc", "the API key ID is 0674c84b-0304-47fe-8728-c6bff46af8fc", "the secret version is 0674c84b-0304-47fe-8728-c6bff46af8fc",
			"password for user bob: incorrect", "Password for the elastic user: ask the admin", "The password must be a base64url2 string", "aws cognito-idp sign-up --client-id 3n4b5urk1ft4fl3mg5e62d9ado --username bob --password", "Pin 13 is an output: the LED is on pin 1300", "PIN for the door: see the wiki", "the security code is 3 digits", "the exit code is 4821", "block code: 481516", "log in with bob / alice or carol",
			"creds for the wiki: see docs/wiki2024", "https://example.com/cb?code=404&state=abc", `{"token": "none", "id": "toolu_01Xk9mQ2vR7pLw3NzYb8TcDf", "role": "the password of a user is never logged here"}`},
	}.check(t, newRedactor(t, Options{}))
}

// TestAnswersBelowPromptsVanish has the answers of shells, interpreters and debuggers.
func TestAnswersBelowPromptsVanish(t *testing.T) {
	p, gen := "plover"+"Kettle83", "kT4vXq92"+"ZmWb7LrJ31pd"
	family{
		secret: samples(
			in(p, "$ printenv DB_PASSWORD\n%s\n", ">>> settings.DB_PASSWORD\n'%s'", "(gdb) p cfg->password\n$1 = 0x55d0 \"%s\"", "jshell> cfg.getPassword()\n$3 ==> \"%s\"", "$ terraform output -raw admin_password\n%s"),
			in(gen, "In [4]: os.environ['API_KEY']\nOut[4]: '%s'", "(lldb) po apiKey\n%s", "irb> credentials.aws[:secret_access_key]\n=> \"%s\"", "$ gcloud auth print-access-token\n%s", "password\n%s\n"),
		),
		clean: []string{"$ grep -rl password\nsrc/auth2/login5.go", "$ git log -1 --format=%H --grep token\n" + hexDigits(40), ">>> len(token)\n1024768", "$ ls secrets\ntlsCert2Key.pem", ">>> type(password)\n<class 'str'>", "password\nusername\nuser_id2\n", "token\nbase64url2\n", "> quoted: the password\n> is kept in the vault2"},
	}.check(t, newRedactor(t, Options{}))
}

// TestSecretsInExpressionsVanish has values in the syntax of several languages.
func TestSecretsInExpressionsVanish(t *testing.T) {
	p, gen := "plover"+"Kettle83", "kT4vXq92"+"ZmWb7LrJ31pd"
	family{
		secret: samples(
			in(p, "const char* passwd =\n    \"%s\";", "export \\\n  DB_PASSWORD=\\\n%s", "cfg = {\n  'user': 'bob',\n  'pass': (\n     '%s'\n  )\n}", "    12\tDB_USER: bob\n    13\tDB_PASSWORD:\n    14\t  %s\n", `Dim strPassword As String = "%s"`, `password CONSTANT VARCHAR2(40) := '%s';`,
				`user, password = 'bob', '%s'`, `const [user, password] = ['bob', '%s'];`, "  password = {str} '%s'", "Driver={ODBC Driver 18};UID=bob;PWD={%s};", "UPDATE settings SET value='%s' WHERE name='smtp_password';", `{name: 'DB_PASSWORD', secured: true, value: '%s'}`, "keytool -list -storepass %s -v"),
			in(gen, `Environment.GetEnvironmentVariable("API_KEY") ?? "%s"`, `env::var("API_KEY").unwrap_or("%s".to_string())`, `parser.add_argument('--api-key', type=str, default='%s')`, `Field('token', default="%s")`, "consul kv get -token %s config", `subprocess.run(["curl", "--token", "%s", url])`, "SECRETS = {\n  'ci': '%s',\n}", `&lt;token&gt;%s&lt;/token&gt;`),
		),
		clean: []string{"def expect(self, expr: str) -> Token:\n    \"\"\"Returns the token2 of the stream.\"\"\"", "user, password = 'bob', os.environ['PW']", `parser.add_argument('--token-file', default='secrets2.txt')`, "publicKeyToken=b77a5c561934e089, Culture=neutral", `"NextLockToken": "0674c84b-0304-47fe-8728-c6bff46af8fc"`, `os.getenv("API_KEY") or exit("no API key2 set")`,
			"UPDATE users SET value='plover83kettle' WHERE name='bob';", `find_user_pass("f", "http://g.example.com:100")`, "go test -token\n", "gcc -pass-exit-codes a.c", "7za a -m0=copy -ppassword test.7z", "TokenVersionV1Token GlobalEndpointTokenVersion = \"v1Token\"", `password = "a" + suffix`, `["password", "password2", "remember"]`, `{"required": ["token", "token_v2"]}`},
	}.check(t, newRedactor(t, Options{}))
}

// TestPartsOfAComposedSecretVanish has a secret in several literals.
func TestPartsOfAComposedSecretVanish(t *testing.T) {
	r := newRedactor(t, Options{})
	a, b := "kT4vXq92"+"ZmWb7LrJ", "n5Rw8Yc3"+"HsGf6Dz1"
	for _, text := range []string{`token = "` + a + `" + "` + b + `"`, "API_TOKEN = (\"" + a + "\"\n             \"" + b + "\")"} {
		if out := r.Text(text).String(); strings.Contains(out, a) || strings.Contains(out, b) {
			t.Errorf("Text(%q) = %q, which has a part of the secret", text, out)
		}
	}
}

// TestArraysAreReadAsCommandsAndPairs has JSON arrays in which one string tells what another
// string is.
func TestArraysAreReadAsCommandsAndPairs(t *testing.T) {
	p := "plover" + "Kettle83"
	family{
		secret: in(p, `{"cmd":["mysql","-u","bob","-p%s","shop"]}`, `{"argv":["curl","-u","bob:%s","https://example.com"]}`, `{"args":["--registry","h","--password","%s"]}`, `{"form":[["email","bob@example.com"],["password","%s"]]}`),
		clean:  []string{`{"required":["password","password2"]}`, `{"columns":["token","oauth2_state","secret"]}`, `{"args":["-p","8080","--name","web2"]}`, `{"pair":["password","remember"]}`, `[["token",1],["secret",2]]`},
	}.check(t, newRedactor(t, Options{}))
}

// TestArgumentsWithBlanksAreRedactedAsAWhole has passwords of several words, and command
// lines within arguments, whose other words stay.
func TestArgumentsWithBlanksAreRedactedAsAWhole(t *testing.T) {
	r := newRedactor(t, Options{})
	p := "plover" + "Kettle83"
	for text, gone := range map[string]bool{
		`{"args":["--password","` + p + ` heron"]}`:                                true,
		`{"args":["--registry","h","--password=` + p + ` heron"]}`:                 true,
		`{"argv":["curl","-u","bob:` + p + ` heron","https://example.com"]}`:       true,
		`{"cmd":["mysql","-u","bob","-p` + p + ` heron","shop"]}`:                  true,
		`{"cmd":["bash","-c","PGPASSWORD=` + p + ` heron --list"]}`:                false,
		`{"cmd":["bash","-lc","mysql -u bob -p` + p + ` heron"]}`:                  false,
		`{"cmd":["docker","run","-e","PGPASSWORD=` + p + `","heron","--rm"]}`:      false,
		`{"cmd":["ssh","-p","22","host","mysql --password=` + p + ` heron"]}`:      false,
		`{"args":["--password","` + p + `","--name","heron","--comment","a b c"]}`: false,
		`{"cmd":["sh","-ec","sshpass -p ` + p + ` heron"]}`:                        false,
	} {
		out := r.Text(text).String()
		if strings.Contains(out, p) || strings.Contains(out, "heron") == gone {
			t.Errorf("Text(%s) = %s, want text without %q", text, out, p)
		}
	}
	key := "AKIA" + "QYLPMN5HFIQR7XYA"
	if out := r.Text(`{"cmd":["git","commit","-m","` + key + ` was revoked"]}`).String(); strings.Contains(out, key) || !strings.Contains(out, "was revoked") {
		t.Errorf("a message that begins with a key: %s, want the key removed and the rest kept", out)
	}
}

// TestVendorTokensMayBeFollowedByPunctuation has tokens in brackets and sentences.
func TestVendorTokensMayBeFollowedByPunctuation(t *testing.T) {
	token := "pul-" + hexDigits(40)
	family{
		secret: in(token, "connected (%s)", "use %s, please", "<code>%s</code>", "[%s]"),
		clean:  []string{"func read(s *String) { s.ReadUint16LengthPrefixed(&x) }", "// like s.ReadUint16LengthPrefixed, but faster"},
	}.check(t, newRedactor(t, Options{}))
}
