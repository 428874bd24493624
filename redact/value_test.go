package redact

import (
	"strings"
	"testing"
)

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

// A dump names the columns of a table only in its definition.
func TestValuesOfADumpVanishByTheDefinitionOfTheirTable(t *testing.T) {
	schema := "CREATE TABLE `users` (\n  `id` int NOT NULL,\n  `login` varchar(60),\n  `pwd` varchar(255) DEFAULT NULL,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB;\n"
	family{
		secret: samples(
			in("ember6306"+"violet", schema+"INSERT INTO `users` VALUES (1,'bob','%s','x'),\n(2,'eve','%s','y');\n", "create table if not exists public.users (login text, password text);\ninsert into public.users values ('bob', '%s');\n"),
			in("14005"+"110", "| Device | Login | Password |\n|---|---|---|\n| ups | apc | %s |\n"),
			in("minaivory"+"1962", "hdbsql -i 90 -u SYSTEM -p %s \"SELECT 1\"\n"),
		),
		clean: []string{schema, schema + "INSERT INTO `orders` VALUES (1,'bob','ember6306violet');\n", "CREATE TABLE users (id int, login varchar(60), password varchar(255), created date);\n", "CREATE TABLE t (id int);\nINSERT INTO t VALUES (1, 'ember6306violet');\n",
			"| Year | Password |\n|---|---|\n| a | 2024 |\n", "docker run -u node -p 8080 img\n"},
	}.check(t, newRedactor(t, Options{}))
}

// The place of a password in a command decides, and not only the look of the password.
func TestWordsWithANumberInPlacesOfPasswordsVanish(t *testing.T) {
	family{
		secret: samples(
			in("walnut4821"+"harbor", "db2 connect to SAMPLE user db2inst1 using %s", "config vpn\n  set psksecret %s\n", "mytool -u bob -p %s run", "schtasks /Create /TN x /RU d\\\\bob /RP %s", "mc admin user add backup bob %s", "isql -v DSN bob %s",
				"# client        server  secret                  IP addresses\nbob-vpn       *       %s          *\n",
				"password = abc\npassword2 = %s\n", `"password1": "%s"`, "DB_PASSWORD1=%s", `user "sales" pass "%s" is "sales" here`, "samba-tool user create scanner %s --description=x"),
			in("hCsi*iE"+"ljA+mLk4", `user "bob" there with password "%s" is bob here`),
			in("-----BEGIN OpenVPN Static key V1-----\n573c71f90e945572c8e7a3a7d6631141\ne0297e8d5a5086eab96ffc8e45777ada\n4445e1e0957638a2de98db66a9cca5ee\n-----END OpenVPN Static key V1-----", "<tls-auth>\n%s\n</tls-auth>\n"),
		),
		clean: []string{"resetPassword(token: String!, newPassword: String!): Boolean!", "password.encoder.iterations=4096", "- cli: `--password-stdin` reads the password (4de60c2)", "pass \"mem2reg\" is \"x\"", "password2 = form.password1", "if password1 != password2 {", "Pw8 = 0x90", "token0: 0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "mytool -u bob -p web4821 run", "mytool -u bob -p sprint24review", "schtasks /Query /TN x /FO LIST", "isql -v DSN bob", "# name        secret  use\nfoo       bar  x\n"},
	}.check(t, newRedactor(t, Options{}))
}

// Each code of a line is removed by its place, and no text makes a rule panic or
// run forever.
func TestEveryRecoveryCodeOfALineVanishes(t *testing.T) {
	r := newRedactor(t, Options{})
	if got := r.Text("Save your recovery codes:\n\n  25ff2-a1eea    3a6ba-bc3ad\n  1. d0035-4db7d\t2. b8b74-32888\nEach works once.\n").String(); strings.Count(got, "<REDACTED>") != 4 || strings.Contains(got, "-") {
		t.Errorf("a recovery code is left: %q", got)
	}
	for _, text := range []string{"recovery codes:\nabcd1-efgh2   ", "recovery codes:\nabcd1-efgh2\t", "recovery codes:\nabcd1-efgh2  \n", "password: abcd.5", "password = a.5", "password: .5", "password: abcd.", "create table", "create table t", "create table t (", "create table t (password", "insert into", "insert into t values", "INSERT INTO t (id, password) VALUES (1, 'abc12d')", "create table t (password text);\ninsert into t values ('$2y$10$abc')", "sqlplus -", "sqlplus --", "curl -u bob:", "curl -u bob:'", "security code is le ", "password1", "password: 1.2.3!x", "password = 1.2.3$aB4"} {
		for i := range len(text) + 1 {
			r.Text(text[:i])
			r.Text(text[i:])
		}
	}
}
