package redact

import "testing"

// TestPasswordsBelowTheirAnnouncementVanish has values on a line of their own, below the
// sentence, the action or the command that reveals what they are.
func TestPasswordsBelowTheirAnnouncementVanish(t *testing.T) {
	family{
		secret: samples(
			in("plover"+"Kettle83", "Your temporary password is\n\n    %s\n\nPlease change it.", "Action: click on the password field\nAction: type \"%s\"\nAction: press Enter", "$ cat /run/secrets/db_password\n%s\n$ ls", "$ pass show web/example.com\n%s\nuser: bob", "root@web1:~# op read op://prod/db/password\n%s\n"),
			in(hexDigits(32), "Use the following password to proceed to installation:\n\n%s\n\nIt is also in a file.", "$ kubectl get secret web -o jsonpath='{.data.pw}' | base64 -d\n%s", "bob@web1:~$ openssl rand -hex 16\n%s\n"),
			in("plover"+"Kettle83x2", "Password for the [elastic] user (reset with bin/elasticsearch-reset-password -u elastic):\n  %s\n", "$ argocd admin initial-password -n argocd\n%s\n\n Change it."),
			in(letters(44), "Here is the token for the deployment (valid 30 days):\n%s\n"),
			in(hexDigits(32), "secretsdump.py -hashes :%s bob@10.0.0.5"),
			in("x7Qf9"+"Zk2Lp", "API_KEY\n%s\n", "Access token:\nDEPLOY_TOKEN\n%s\n"),
			in("violet-coffee"+"-island-forest", "The new password is:\n\n%s\n"),
			in("violet coffee"+" island forest", "$ op read op://prod/db/password\n%s\n"),
		),
		clean: []string{"password (str, optional):\n    hashed2bcrypt\n", "the token (see below):\n  Tokens2Go\n", "-hashes :" + hexDigits(31) + " ", "The password must be at least:\n\n8-20 characters", "The token is\n\n    parsed later2\n", "the password to use is:\n- pass2word in the vault", "Action: click on the password field\nAction: type \"hello there\"", "$ cat VERSION\nv1.2.3-rc4\n", "$ cat docs/token.md\nTokens2Go\n",
			"$ openssl rand -hex 16 > key.txt\nplover83kettle", "concat secret_key\nplover83kettle\n", "$ cat a | base64 -d\nplover83kettle\n", "password:\n\nvalueFrom2:\n", "passwords are stored as:\n\n    bcrypt2b\n", "Click the password field\ntype \"bob@example.com\" into the email field"},
	}.check(t, newRedactor(t, Options{}))
}

// TestPasswordsInStoresAndLoginsVanish has values that a command sends to a store of
// secrets or to a server.
func TestPasswordsInStoresAndLoginsVanish(t *testing.T) {
	p := "plover" + "Kettle83"
	family{
		secret: samples(
			in(p, `gh secret set DEPLOY --body "%s" --repo acme/web`, `doppler secrets set HOOK="%s" --project web`, `echo "%s" | npx wrangler secret put SESSION`, `echo -n "%s" | cryptsetup luksFormat /dev/sdb1 -`, "rsync --password-file=<(echo %s) bob@h::data /srv",
				"helm registry login r.example.com -u bob -p %s", "psexec \\\\h -u CORP\\bob -p %s cmd.exe", "cqlsh -u bob -p %s h 9042", "security unlock-keychain -p \"%s\" build.keychain", "security import a.p12 -k b.keychain -P \"%s\" -T /usr/bin/codesign", "net use Z: \\\\h\\share /user:CORP\\bob %s",
				"composer config --global http-basic.repo.example.com bob %s", "mc alias set store https://h bobsvc %s", "/login bob %s", "Staging login: bob / %s (basic auth)", "127.0.0.1:6379> AUTH %s\nOK\n", "enable secret 0 %s\n", "npm config set //r.example.com/:_authToken %s", `dotnet user-secrets set "Smtp:Password" "%s"`),
			in(hexDigits(40), "crane auth login r.example.com -u bob -p %s", "cargo login --registry acme %s\n", "npm config set //r.example.com/:_authToken %s"),
			in(p, "setenv PGPASSWORD %s\n", "set -gx GITLAB_TOKEN %s\n", "  SetEnv APP_SECRET %s\n"),
			in(p, `my $dbh = DBI->connect('dbi:Pg:dbname=a;host=h', 'bob', '%s', { RaiseError => 1 });`, `WiFi.begin("home-net", "%s");`, `hash_hmac('sha256', $body, '%s')`),
			in("violet coffee"+" island forest", `new PDO('mysql:host=a;dbname=b', 'bob', '%s');`),
			in(hexDigits(40), "Reset it: https://example.com/reset-password/%s", "https://example.com/auth/verify?magic=%s&next=/", "posted to https://example.com/hooks/incoming/%s"),
		),
		clean: []string{"docker run -u 1000 -p 8080:80 nginx", "psql -h db -U bob -p 5432", "virtualenv -U -p python3.11 env", "docker compose -u ci -p my-web-app up", "gh secret set DEPLOY --body \"$DEPLOY\"", "gh secret set DEPLOY < deploy2.key", "wrangler secret put SESSION_KEY2", "login to web -p 2222",
			"echo \"abc123def\" | sha256sum", "diff <(echo abc123def) out.txt", "set -gx EDITOR vim2x", "setenv TOKEN_TTL 3600s", "db.connect('10.0.0.1', 'bob', password)", "https://example.com/docs/hooks/on-release-2024", "GET /reset-password/confirm 302", "/login bob", "Staging login: violet / coffee", "creds: see / wiki200"},
	}.check(t, newRedactor(t, Options{}))
}

// TestPasswordsInFieldsAndClausesVanish has snapshots of pages, and sentences and logs
// with other words between a name and its value.
func TestPasswordsInFieldsAndClausesVanish(t *testing.T) {
	p := "plover" + "Kettle83"
	family{
		secret: samples(
			in(p, `- textbox "Password" [active] [ref=e14]: %s`, `browser_type(element="Password field", ref="s1e4", text="%s")`, `cy.get('#password').type('%s{enter}')`, "Log in as **bob** with password **%s**.", "[DEBUG] Authenticating user [bob] with password [%s]", "Rotated the DB password, the new one is %s (the old one stays).",
				"setting DB_PASS changed from %s to %s", "wifi password - %s", "Webhook password → %s", `Config { host: "h", api_key: Some("%s"), retries: 3 }`, "ldap_default_authtok = %s\n", "  user bob insecure-password %s\n", "ssh to web with user=bob pwd=%s and restart"),
			in(hexDigits(40), "I use the token %s for this call.", "my api key %s for the tests", "smtp.password -> %s", "Unseal Key 1: %s"),
			in("violet coffee"+" island forest", `(setq acme-api-token "%s")`, `os.environ.setdefault("FLASK_SECRET", "%s")`, "app.use(session({ secret: '%s' }))", `(def db {:user "bob" :password "%s"})`),
			in("violet-coffee"+"-island-forest", "Das neue Passwort lautet %s, bitte ändern.", "ssh to web with user=bob pwd=%s and restart"),
			in("Espresso"+"2006", "client h {\n\tsecret = %s\n}", "API_SECRET=%s\n"),
			in("plover"+"Kettle83", `[{"ParameterKey":"HookToken","ParameterValue":"%s"}]`),
		),
		clean: []string{`- textbox "Password" [ref=e337]`, `- textbox "Password" [ref=e337]: Enter your password`, `browser_type(element="Search field", ref="s1e4", text="plover83kettle")`, "with password [required]", "the digest of the token is " + hexDigits(32), "secret = TestSecret01", "token = OAuth2Token12", "token: Token2024\n", "wifi password - ask bob", "the token " + hexDigits(32) + " of the commit", "The password, it is said, is short.", "secret: Some(secret)", `t("token", "Please wait for more of it")`, `t("auth.password", "Bitte geben Sie ein neues Passwort ein")`, `"error.token", "island hunter circle zipper"`},
	}.check(t, newRedactor(t, Options{}))
}
