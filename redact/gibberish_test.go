package redact

import "testing"

func TestGeneratedLettersAreDistinguishedFromWords(t *testing.T) {
	for _, s := range []string{"Fr" + "nihAtspgvahLugpiLC", "vHqZr" + "TjbWkXpLsN", "qdctb" + "tjtnnia", "BBcWyhNB" + "CdmtTpwlFGF"} {
		if !isGibberish(s, 8) {
			t.Errorf("%s is mistaken for words", s)
		}
	}
	for _, s := range []string{"PasswordResetTokenGenerator", "KubernetesServiceAccount", "development", "getSessionByID", "CancellationTokenSource", "sunshine", "ContinueWithGoogle", "XMLHttpRequest", "authentication", "javaScriptObject"} {
		if isGibberish(s, 8) {
			t.Errorf("%s is mistaken for letters of a generator", s)
		}
	}
}

func TestPassphrasesAreDistinguishedFromNames(t *testing.T) {
	for _, s := range []string{"correct-" + "horse-battery-staple", "amber falcon " + "ribbon valley", "Amber_Falcon_" + "Ribbon_Valley", "amber-falcon-ribbon-42"} {
		if !isPassphrase(s) {
			t.Errorf("%s does not count as gibberish", s)
		}
	}
	for _, s := range []string{"my-app-production-secrets", "enter your new password", "one-two", "amber-falcon", "github-actions-deploy-token", "e2e-test-fixture-value", "must be at least eight", "user.account.login.form"} {
		if isPassphrase(s) {
			t.Errorf("%s counts as gibberish", s)
		}
	}
}

// TestPasswordsInDataVanishWhateverTheirLetters checks values after an exact key in
// data and in literals of code.
func TestPasswordsInDataVanishWhateverTheirLetters(t *testing.T) {
	random, phrase, dollar, human := "Fr"+"nihAtspgvahLugpiLC", "amber-falcon"+"-ribbon-valley", "$"+"Wj8nR3vK6qT", "Autumn"+"1987!"
	var all []secretSample
	for _, v := range []string{random, phrase, dollar, human} {
		all = append(all, in(v, `{"password": "%s"}`, `{"passwd":"%s","port":1}`, "db:\n  password: '%s'\n", "password = \"%s\"\n", "DB_PASSWORD=\"%s\"", "const password = '%s';", "const pwd = `%s`;", `'password' => "%s",`)...)
	}
	all = append(all, in(random, `{"secret": "%s"}`, "token: '%s'", "api_key = \"%s\"", "SECRET=%s", "  password: %s\n", "spring.datasource.password: %s\n")...)
	all = append(all, in(human, "password: %s", "password: %s\nuser: bob", "ADMIN_PASSWORD=%s")...)
	all = append(all, in("your-"+"Wj8nR3vK", "API_TOKEN=%s")...)
	all = append(all, in("change"+"me482", "password: %s", "DB_PASSWORD=%s")...)
	all = append(all, in("${"+"Wj8nR3vKq", "DB_PASSWORD=%s")...)
	all = append(all, in("amber falcon "+"ribbon valley", `password: "%s"`)...)
	all = append(all, in("abcd"+" qzvx ktrw mjfh", `MAIL_PASSWORD="%s"`)...)
	all = append(all, in(random, "password: |\n  %s\nuser: bob", "password: !!str %s", "password: &db %s\nother: *db")...)
	family{
		secret: all,
		clean: []string{
			"password: string", "token: identifier", `"token": "comma"`, "secret: opaque", "password: $DB_PASSWORD2", "password: ${DB_PASSWORD}", "password: \"${DB_PASSWORD}\"", "token: CancellationTokenSource", "secret: my-app-production-secrets",
			"password: your_password", "API_KEY=changeme", "password = getPassword()", "password: config.dbPassword", "$password = $newPassword;", "password: &str", "const P: &str = name;",
			"--- PASS: TestGetSessionByID (0.04s)", "PWD=/home/bob/work", "$env:PASSWORD", "password: |\n", "token_color: #f41e91", "password: arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-Ab3dEf",
		},
	}.check(t, newRedactor(t, Options{}))
}

// TestValuesRevealedOnceAreFoundElsewhere has values of eight or more characters. A name reveals
// their first occurrence, and the second occurrence has no name.
func TestValuesRevealedOnceAreFoundElsewhere(t *testing.T) {
	r := newRedactor(t, Options{})
	for _, v := range []string{"Fr" + "nihAtspgvahLugpiLC", "amber-falcon" + "-ribbon-valley", "$" + "Wj8nR3vK6qT", "Autumn" + "1987!", "qdctb" + "tjtnnia", "Wj8n" + "R3vK"} {
		text := "password: \"" + v + "\"\nthen it typed " + v + " there"
		if got := r.Text(text).String(); got != "password: \"<REDACTED>\"\nthen it typed <REDACTED> there" {
			t.Errorf("got %q, want both occurrences replaced", got)
		}
	}
}
