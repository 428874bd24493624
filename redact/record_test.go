package redact

import (
	"encoding/base64"
	"strings"
	"testing"
)

func TestPasswordsOfMoreCommandsVanish(t *testing.T) {
	p := "Wj8n" + "R3vK6qTz"
	family{
		secret: in(p, "echo \"%s\" | sudo -S apt-get update", "sudo -S ls <<< '%s'", "echo 'bob:%s' | sudo chpasswd"),
		clean:  []string{"echo done | sudo tee f", "echo \"$PW\" | sudo -S ls", "net user experience improved", "net user bob /domain", "smbclient -L //h -N", "unzip a.zip -d dir1", "echo \"root:$PW\" | chpasswd", "curl --proxy-user $P https://h", "sudo -s", "vault login -method=oidc"},
	}.check(t, newRedactor(t, Options{}))
	r := newRedactor(t, Options{})
	for _, text := range []string{"printf '%s' 'PW' | docker login -u bob --password-stdin", "echo PW | helm registry login h --password-stdin", "smbclient //h/s -U bob%PW", "net user bob PW /add", "curl --proxy-user bob:PW https://h.example", "7z a -pPW a.7z f", "unzip -P 'PW' a.zip",
		"keytool -genkey -storepass PW", "az login -u x -p PW", "sqlcmd -S h -U sa -P 'PW'", "sqlplus bob/PW@h:1521/x", "psexec.py corp/bob:'PW'@10.0.0.1", "cmdkey /add:h /user:bob /pass:PW", "wpa_passphrase net PW", "lftp -u bob,PW ftp://h", "rabbitmqctl add_user bob PW",
		"xfreerdp /v:h /u:bob /p:PW", "expect \"Password:\"\nsend \"PW\\r\"", "htpasswd -bc f bob PW", "nmcli dev wifi connect net password PW", "evil-winrm -i h -u bob -p 'PW'"} {
		if got := r.Text(strings.Replace(text, "PW", p, 1)).String(); got != strings.Replace(text, "PW", Placeholder, 1) {
			t.Errorf("got %q, want only the password replaced", got)
		}
	}
	at := p[:4] + "@" + p[4:] // the last @ comes before the host
	for _, text := range []string{"psexec.py corp/bob:PW@10.0.0.1 whoami", "sqlplus bob/PW@h:1521/x", "secretsdump.py 'corp/bob:PW'@h"} {
		if got := r.Text(strings.Replace(text, "PW", at, 1)).String(); strings.Contains(got, p[:4]) || strings.Contains(got, p[4:]) || !strings.Contains(got, "bob") {
			t.Errorf("got %q, want the whole password with its @ replaced", got)
		}
	}
}

func TestPasswordsInFilesAndDialogsVanish(t *testing.T) {
	p := "Wj8n" + "R3vK6qTz"
	hash := "$6$" + letters(12) + "$" + letters(86)
	family{
		secret: samples(
			in(p, "CREATE USER a IDENTIFIED BY '%s';", "ALTER USER a IDENTIFIED BY %s ACCOUNT UNLOCK;", "ALTER USER r IDENTIFIED WITH native BY '%s';", "ConvertTo-SecureString \"%s\" -AsPlainText -Force", "ConvertTo-SecureString -String '%s' -AsPlainText",
				"db.local:5432:app:bob:%s", "#db.local:5432:app:bob:%s", "*:*:*:bob:%s", "    Key Content            : %s", "\tpsk=\"%s\"\n", "10.0.0.1 10.0.0.2 : PSK \"%s\"", "snmp-server community %s RO", "USER bob\n331 Password required\nPASS %s", "AUTH %s\n+OK", "AUTH %s\r\n-WRONGPASS invalid username-password pair", "AUTH bob %s\n+OK", "a1 LOGIN bob@example.com %s"),
			in(hash, "bob:%s:19700:0:99999:7:::", "passwd: %s"),
			in("$2b$12$"+letters(53), "bob:%s", "hash %s in the dump"),
			in(hexDigits(32), "Admin:500:aad3b435b51404eeaad3b435b51404ee:%s:::", " * NTLM     : %s"),
			in(strings.ToUpper(hexDigits(26)), "username b privilege 15 password 7 %s"),
			in(base64.StdEncoding.EncodeToString([]byte("\x00bob\x00"+p)), "AUTH PLAIN %s"),
			in(base64.StdEncoding.EncodeToString([]byte("bob:"+p)), `{"auths":{"h":{"auth":"%s"}}}`),
		),
		clean: []string{"CREATE USER a IDENTIFIED BY :password;", "each row is identified by its primary key", "ConvertTo-SecureString $plain -AsPlainText", "db.local:5432:app:bob:ro", "#hostname:5432:database:username:password", "PASS src/a.test.ts", "daemon:*:19700:0:99999:7:::", "s/$1$2/$3/", "wpa_key_mgmt=WPA-PSK", "AUTH required", "AUTH Wj8nR3vK6qTz\n", "OAUTH Wj8nR3vK6qTz\n+OK"},
	}.check(t, newRedactor(t, Options{}))
}

func TestColumnsOfPasswordsVanish(t *testing.T) {
	p := "Wj8n" + "R3vK6qTz"
	family{
		secret: in(p, "username,password,email\nbob,%s,b@example.com\n", "name,password\n\"Baker, Bob\",%s\n", "\"id\",\"password\"\n\"1\",\"%s\"\n", "user;passwd;role\nbob;%s;admin", "user\tpassword\nbob\t%s", "| User | Password |\n|---|---|\n| bob | `%s` |", " id | password\n----+---------\n  1 | %s\n",
			"+----+----+\n| id | password |\n+----+----+\n|  1 | %s |\n", "USER   PASSWORD      ROLE\nbob    %s  admin", "NAME          PASSWORD\nbob       %s\n", "User    Password        Role\nbob     %s    admin\n", "┌──────┬──────────┐\n│ user │ password │\n├──────┼──────────┤\n│ bob  │ %s │\n└──────┴──────────┘", "┏━━━━━━┳━━━━━━━━━━┓\n┃ User ┃ Password ┃\n┡━━━━━━╇━━━━━━━━━━┩\n│ bob  │ %s │\n└──────┴──────────┘",
			"========  ============\nUser      Password\n========  ============\nbob       %s\n========  ============", "Name      Password\n----      --------\nbob       %s\n",
			"-[ RECORD 1 ]--\nid       | 1\npassword | %s\n", "INSERT INTO users (id, name, password) VALUES (1, 'bob', '%s');", "COPY users (id, password) FROM stdin;\n1\t%s\n\\."),
		clean: []string{"column,type,nullable\npassword,varchar,false\ntoken,text,true\n", "| Field | Type |\n|---|---|\n| password | string |\n| api_key | string |\n", "| API_KEY | none |\n| E2E_MODEL_2 | x |\n", "import {\n  token,\n  loadTestById2,\n}",
			"model,prompt_tokens,total_tokens\ngpt-4o,12,13\n", "NAME      SECRETS   AGE\ndefault   0         12d\n", "INSERT INTO users (id, password) VALUES (?, ?);", "f(secret,\n  print('a2'),\n", "┌──────────┬─────────┐\n│ column   │ type    │\n├──────────┼─────────┤\n│ password │ varchar │\n└──────────┴─────────┘"},
	}.check(t, newRedactor(t, Options{}))
}

func TestCookiesVanish(t *testing.T) {
	v := letters(43)
	family{
		secret: in(v, "Cookie: theme=dark; app_sess=%s; lang=en", "Cookie: app_sess=\"%s\"; lang=en", "Set-Cookie: any=%s; Path=/; Secure", "curl -b 'session=%s' https://h.example", "curl https://h -H 'cookie: x_auth=%s; locale=en'", ".example.com\tTRUE\t/\tTRUE\t1767225600\tany\t%s",
			`{"domain":".example.com","httpOnly":true,"name":"any","value":"%s"}`, `cookies = {"any": "%s"}`, "document.cookie = \"any=%s; path=/\""),
		clean: []string{"Cookie: theme=dark; lang=en; consent=true", "Set-Cookie: theme=light; Path=/; Expires=Wed, 05 Mar 2025 10:00:00 GMT", "Cookie: name=value", "cookies = {\"theme\": \"dark\"}", "Cookie: _ga=GA1.2.1234567890.1234567890"},
	}.check(t, newRedactor(t, Options{}))
	line := ".example.com\tTRUE\t/\tTRUE\t1767225600\tany\t%s\r\n" // the end of the line is not part of the value
	if got, want := newRedactor(t, Options{}).Text(strings.Replace(line, "%s", v, 1)).String(), strings.Replace(line, "%s", Placeholder, 1); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
