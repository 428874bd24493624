package redact

import "testing"

// TestValuesBelowTheirHeadsVanish has values whose name is in the head of a list or a table,
// in the command that prints them, or in the line above.
func TestValuesBelowTheirHeadsVanish(t *testing.T) {
	family{
		secret: samples(
			in("plover"+"Kettle83", "# Secrets for CHAP\n# client\tserver\tsecret\t\t\tIP addresses\nbob\tpptpd\t%s\t*\n", "<table><tr><th>Login</th><th>Password</th></tr><tr><td>bob</td><td>%s</td></tr></table>", "<TABLE>\n<TR><TH>Host</TH><TH>Passwort</TH></TR>\n<TR><TD>h1</TD><TD><code>%s</code></TD></TR>\n</TABLE>",
				"$ cat /etc/rsyncd.secrets\nbob:%s\n", "# cat /etc/vpn/auth.txt\nbob\n%s\n", `PS C:\> $cred.GetNetworkCredential().Password`+"\n%s\nPS C:\\> ", "[12/03/2026, 10:12] Ann: whats the wifi pw?\n[12/03/2026, 10:13] Tom: %s", "Array\n(\n    [host] => h1\n    [password] => %s\n)",
				`\newcommand{\ftppassword}{%s}`, "[db]\nUID = bob\nPWD = %s", "pass_phrase=%s", `.basic_auth("bob", Some("%s"))`, "Your password=3A %s=20\nRegards"),
			in("Walnut"+"-4821", `login failed for user "bob" with password "%s" from 10.0.0.1`, "#define WIFI_PASS \"%s\"\nvoid setup() {", "the password is `%s` (rotate it)"),
			in("20d47"+"-3770b", "Save these recovery codes in a safe place:\n\n1. %s\n", "Your recovery codes:\n- %s\n", "Save your recovery codes:\n\n    %s      %s\n    %s      %s\n", "Backup codes:\n1. %s\t2. %s\n3. %s\t4. %s\n"),
			in("CactusPlum"+"2021", "hostname,login,pass,notes\nweb06,root,%s,rack 4\n", "| User | Pass |\n|---|---|\n| bob | %s |\n"),
			in("eyJ2ZXIiOiI4LjE0LjAiLCJhZHIiOlsiMTcyLjE4"+"LjAuMjo5MjAwIl0sImZnciI6IjhhNmU1NjBjZTBmZmFk", "Copy the enrollment token and paste it into the browser (valid for the next 30 minutes):\n  %s\n"),
			in("O2TyUTGU"+"OH0j", "Noua parolă este: %s.", "Kata sandi baru Anda adalah %s.", "Parola d'ordine: %s"),
			in("0x1E, 0x93, 0xBD, 0x61, 0x77, 0x80, 0xB8, 0x4A, 0xDC, 0xCE, 0xE2, 0x4B, 0x6A, 0x00, 0xAB, 0xE3", "static const u1_t PROGMEM APPKEY[16] = { %s };"),
			in("{AQAAABAAAAAhb6nVARuj"+"Lgsk0wI0cFGt2++e6v0HSFqpMbH3Blf=}", "<username>bob</username>\n<password>%s</password>"),
		),
		clean: []string{"# name\ttoken\tmeaning\nfoo\tbar\tbaz\n", "<table><tr><th>Field</th><th>Password</th></tr><tr><td>rule</td><td>at least 12 characters</td></tr></table>", "<tr><td>password</td></tr><tr><td>user2name</td></tr>", "$ cat credentials.txt\nregion:eu-west-1\noutput:json2\n", "$ cat auth2.go\nbob\nfoo(v2)\n", "what is the token?\nBob: no idea, ask Ann2",
			"{Host:h1 User:bob Password: SSLMode:verify-full2}", "<password>{env:DB_PASSWORD_2}</password>", "u1_t DEVKEY[8] = { 0x1E, 0x93, 0xBD, 0x61, 0x77, 0x80, 0xB8, 0x4A };", "the password policy changed in RFC-7231", "the password is from Winter-2024", "recovery codes are in a safe place:\n\n1. print them\n", "[token_type] => bearer2", "| Stage | Pass |\n|---|---|\n| opt | FoldPass2021 |\n", "recovery codes:\n  see page 12-b  and 13-c\n"},
	}.check(t, newRedactor(t, Options{}))
}
