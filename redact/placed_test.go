package redact

import (
	"strings"
	"testing"
)

// TestPasswordsInPlacesOfMoreToolsVanish has commands, files and dialogs whose grammar says where
// a password stands.
func TestPasswordsInPlacesOfMoreToolsVanish(t *testing.T) {
	phrase, p := "plover-heron-walnut-ember", "plover"+"Kettle83"
	seed := strings.Repeat("VFXT"+"IPK3", 4)
	family{
		secret: samples(
			in(phrase, "uci set wireless.default_radio0.key='%s'", "psexec \\\\srv1 -u A\\bob -p %s cmd", "netdom join PC1 /domain:a.local /userd:admin /passwordd:%s", "cypher-shell -u neo4j -p %s", "beeline -u jdbc:hive2://h:10000 -n bob -p %s", "dotnet nuget add source https://h -n a -u bob -p %s", "pdftk in.pdf output out.pdf user_pw %s",
				"        set passwd %s", "Xauth password %s", "d-i passwd/user-password password %s", "gh variable set DB_PASSWORD -b %s", `echo -n "%s" | vercel env add DB_PASSWORD production`, "##vso[task.setvariable variable=dbPassword;issecret=true]%s", "ENV DB_PASSWORD %s", `onView(withId(R.id.password)).perform(typeText("%s"))`, `(string) (len=8) "password": (string) (len=25) "%s"`),
			in(p, "tacacs-server host 10.0.0.1 key %s", "stats auth bob:%s", "bundle config set --global gems.a.io bob:%s", "rclone obscure '%s'", "echo %s | zfs load-key tank/x", `circleci context store-secret a c DB_PASSWORD <<< "%s"`, "- tapOn: \"Password\"\n- inputText: \"%s\"", "IMAPAccount a\nUser bob\nPass %s", "127.0.0.1:6379> AUTH %s",
				"npmAuthIdent: \"bob:%s\"", "user = \"bob:%s\"\nurl = \"https://a.io\"", `find_element(By.ID, "com.a:id/password_field").send_keys("%s")`, "remoteuser = bob\nremotepass = %s", "try logging in with bob / %s", "@bob root pw for db01: %s", "Le mot de passe est : %s", "Heslo je %s", `{password, "%s"}`, "$ gopass show -o web/x\n%s\n"),
			in("kT4vXq92"+"ZmWb7LrJ", `tmux send-keys -t 0 "%s" Enter`, `{"query":"q","variables":{"e":"bob@a.io","p":"%s"}}`),
			in("Ocean"+"17", `SetEnv DB_PASSWORD "%s"`),
			in("kF4W@fWB"+"kM9vR0#=Oc", "rabbitmqctl add_user app %s"),
			in(seed, "oathtool --totp -b %s", `{"username":"bob","totp":"%s"}`),
			in("yAqmjYhsmiV1wt6/51TbF8qDsLTsP4"+"Ykljc6iYSfFxs=", "nsupdate -y hmac-sha256:k:%s"),
		),
		clean: []string{"radius-server host 10.0.0.1 timeout 5", "uci set wireless.radio0.channel='11'", "bundle config set --global jobs 4", "tmux send-keys -t 0 \"make test2 && ls\" Enter", "- tapOn: \"Name\"\n- inputText: \"Bob Smith 3rd\"", "{token.FLOAT, \"1e+100\", literal}", "{password, string}", "{token, \"IDENT\"}",
			`user = "bob:admin"`, "oathtool --help", "nsupdate -v file2.txt", "ENV PASSWORD_FILE /run/secrets/db", "ENV DB_PASSWORD $PW", "env add FOO production", `{"totp":true}`, `{"e":"bob@a.io","p":"2"}`, "heslo je povinné", "pw for the wiki: see docs/wiki2024", "rabbitmqctl add_user app name=Blue2Sky9", "userauthident: none"},
	}.check(t, newRedactor(t, Options{}))
	r := newRedactor(t, Options{})
	if got, want := r.Text("qpdf --encrypt "+p+"a "+p+"b 256 -- in.pdf").String(), "qpdf --encrypt <REDACTED> <REDACTED> 256 -- in.pdf"; got != want {
		t.Errorf("got %q", got)
	}
}
