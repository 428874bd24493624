package redact

import "testing"

// A password of two words and a number has the form of a member of a program, or of a
// numbered name. The name of the value decides.
func TestChosenWordsWithANumberVanish(t *testing.T) {
	family{
		secret: samples(
			in("Cobalt.This"+"tle36", "spring:\n  datasource:\n    password: %s\n", "key-store-password: %s", "db_password = %s"),
			in("amber.BRE"+"EZE8", "[options]\nadmin_passwd = %s\n"),
			in("juniperfalcon"+"1998", `{"Pass": "%s"}`),
			in("quietHar"+"bor57", `{"pass": "%s"}`),
		),
		clean: []string{"password: Fields.Int32", "password = config.Basic12", "password: Resources.Password01", "pwd = settings.Remote2", "password: module.vault2", `{"pass": "looprotate12"}`, "password: self.form.field12"},
	}.check(t, newRedactor(t, Options{}))
}
