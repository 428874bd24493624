package redact

import (
	"strings"
	"testing"
)

// TestPairsOfNameAndValueVanish has records with the name of a secret in one member, element or
// argument, and the secret in another.
func TestPairsOfNameAndValueVanish(t *testing.T) {
	words, phrase, p := "plover heron", "plover-heron-walnut-ember", "plover"+"Kettle83!"
	family{
		secret: samples(
			in(words, `{"name":"DB_PASSWORD","value":"%s"}`, `[{"value":"%s","name":"DB_PASSWORD"}]`, "- name: DB_PASSWORD\n  value: %s\n- name: PORT\n  value: 80", "- name: DB_PASSWORD\n  value: \"%s\"", `<add key="DbPassword" value="%s"/>`, `DB_PASSWORD="%s"`, "export SMTP_PASS='%s'",
				`vars: [{"name":"ADMIN_PASSWORD","masked":false,"value":"%s"}]`, `vars: [{"name":"DB_PASSWORD","value":"%s"}] done`),
			in("plovr", `{"name":"DB_PASSWORD","value":"%s"}`, "env:\n  - value: %s\n    name: DB_PASSWORD\n"),
			in(phrase, "env: [{name: DB_PASSWORD, value: %s}, {name: A, value: b}]", "env: [{value: %s, name: DB_PASSWORD}]", `  { value = "%s", name = "DB_PASSWORD" },`, "resource \"gitlab_project_variable\" \"x\" {\n  key       = \"DB_PASSWORD\"\n  value     = \"%s\"\n}", `<add value="%s" key="Password" />`,
				"<property>\n  <value>%s</value>\n  <name>ldap.bindPassword</name>\n</property>", "--set env[0].name=DB_PASSWORD --set env[0].value=%s", "--set env[0].name=DB_PASSWORD,env[0].value=%s", "║ DB_PASSWORD │ %s ║"),
			in(p, "ParameterKey=DBPassword,ParameterValue=%s", `{"Name":"/prod/main","Type":"SecureString","Value":"%s"}`, `{"id":"a1","type":"CONCEALED","label":"door","value":"%s"}`, `{"key":"main","value":"%s","type":"secret"}`, `{"outputs":{"main":{"sensitive":true,"type":"string","value":"%s"}}}`,
				"PARAMETERS\ttext\t/prod/main\tSecureString\t%s\t3"),
			in(phrase, "aws ssm put-parameter --name /prod/db/password --value '%s'", "aws ssm put-parameter --value %s --type SecureString --name main", `reg add "HKLM\SOFTWARE\A" /v Password /t REG_SZ /d "%s" /f`, "aws ssm put-parameter \\\n  --name /prod/db/password \\\n  --value '%s' \\\n  --overwrite", "aws ssm put-parameter \\\n  --type SecureString \\\n  --value '%s'", `New-ItemProperty -Value "%s" -Path HKLM:\A -Name "ApiPassword"`),
			in(phrase, "{\n  \x1b[34;1m\"name\"\x1b[0m: \x1b[32m\"DB_PASSWORD\"\x1b[0m,\n  \x1b[34;1m\"value\"\x1b[0m: \x1b[32m\"%s\"\x1b[0m\n\x1b[0m}", "- \x1b[94mname\x1b[0m: DB_PASSWORD\n  \x1b[94mvalue\x1b[0m: \x1b[92m%s\x1b[0m"),
		),
		clean: []string{`{"name":"password","value":"blue sky"}`, `{"key":"login.password","value":"neues kennwort"}`, `{"name":"DB_PASSWORD","value":"from vault"}`, `{"name":"DB_PASSWORD","value":"string"}`, `{"name":"DB_PASSWORD","value":"${DB_PASSWORD}"}`, "- name: DB_PASSWORD\n  value: required\n", "- name: DB_PASSWORD\n  value: the password of the database",
			`DB_PASSWORD="enter the password"`, `PASSWORD_LABEL="blue sky"`, `{"sensitive":true,"type":"string","value":"arn:aws:iam::123456789012:role/web"}`, `{"name":"ttl","type":"secret","value":"3600"}`, "tool --name web2 --value Blue2Sky9", "echo --name password; tool --name color --value Blue2Sky9", "dir /d C:\\Users2", "<property><value>Blue2Sky9</value><name>color</name></property>", `{ value = "Blue2Sky9", name = "COLOR" }`,
			`{"name":"DB_PASSWORD","valueFrom":{"secretKeyRef":{"name":"db-main","key":"password"}}}`},
	}.check(t, newRedactor(t, Options{}))
}

// TestLongLineOfFlagsStays has so many flags for values in one line that the scan would give up if
// each of them took the time of a whole command.
func TestLongLineOfFlagsStays(t *testing.T) {
	text := strings.Repeat("x --name color --value Blue2 ", 80<<10/29)
	if got := newRedactor(t, Options{}).Text(text).String(); got != text {
		t.Errorf("%d of %d bytes are left, want all", len(got), len(text))
	}
}
