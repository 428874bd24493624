package redact

import "testing"

func TestPasswordsInCallsAndFieldsVanish(t *testing.T) {
	p := "Wj8n" + "R3vK6qTz"
	family{
		secret: in(p, `user.setPassword("%s")`, `client.withPassword('%s').build()`, `driver.find_element(By.ID, "password").send_keys("%s")`, `password_field.send_keys("%s")`,
			`await page.fill('#password', '%s');`, `await page.fill('input[name="password"]', '%s');`, `page.getByLabel('Password').fill('%s')`, `cy.get('#password').type('%s')`, `fill_in "Password", with: "%s"`,
			`requests.get(u, auth=("bob", "%s"))`, `HTTPBasicAuth('bob', '%s')`, `new PDO('mysql:host=a;dbname=b', 'bob', '%s');`, `DriverManager.getConnection(url, "bob", "%s");`, `new NetworkCredential("bob", "%s")`,
			`let password = String::from("%s");`, `{"element":"Password field","text":"%s"}`, `{"selector":"#password","value":"%s"}`, `[{"ParameterKey":"DBPassword","ParameterValue":"%s"}]`,
			`{"db_password":{"sensitive":true,"type":"string","value":"%s"}}`, "\"db_password\": {\n  \"value\": \"%s\"\n}", "~ password = \"<REDACTED>\" -> \"%s\""),
		clean: []string{`user.setPassword(newPassword)`, `validate_password('django4242')`, `page.fill('#password', process.env.PASSWORD)`, `find("password").click()`, `t("password", "Enter it")`,
			`requests.get(u, auth=("bob", password))`, `new PDO($dsn, $user, $pass)`, `field.send_keys("hello there")`, `{"element":"Password field","text":"hello there"}`, `{"token":{"type":"string","value":"none"}}`},
	}.check(t, newRedactor(t, Options{}))
}

func TestPasswordsInTagsAndBoldVanish(t *testing.T) {
	p := "Wj8n" + "R3vK6qTz"
	family{
		secret: in(p, "<Password><Value>%s</Value></Password>", "<wsse:Password Type=\"#PasswordText\">%s</wsse:Password>", "<password><![CDATA[%s]]></password>", "<key>password</key>\n<string>%s</string>",
			"<tr><td>Password</td><td>%s</td></tr>", "<name>password</name><value><string>%s</string></value>", "**Password:** %s", "- **API Key**: `%s`", "<wsse:Username>bob</wsse:Username><wsse:Password>%s</wsse:Password>", `<property name="hibernate.connection.password">%s</property>`, "    DefaultPassword    REG_SZ    %s",
			"Content-Disposition: form-data; name=\"password\"\n\n%s"),
		clean: []string{"<Password><Value>$(env)</Value></Password>", "<td>Password</td><td>required</td>", "**Password:** required", `<string name="login_password">Kennwort</string>`, "<input type=\"password\">text</input>", "    Path    REG_SZ    C:\\bin"},
	}.check(t, newRedactor(t, Options{}))
}

func TestPasswordsInProseVanish(t *testing.T) {
	p := "Wj8n" + "R3vK6qTzB5mX"
	family{
		secret: in(p, "The password is %s and it expires.", "the new password is: %s", "I have set the admin password to %s for now.", "Password changed to \"%s\".", "The API key is `%s`.", "Your secret key is %s.", "Here is the token you asked for: %s", "ADMIN PASSWORD -> %s"),
		clean:  []string{"The password is stored as a hash.", "The token is valid for 30 days: see below.", "The key is Kubernetes-specific.", "the secret is called app-secrets-2", "password -> bool", "The token is CancellationTokenSource."},
	}.check(t, newRedactor(t, Options{}))
}

// TestPasswordsInSentencesVanish has sentences with words between the name, the verb and
// the password, and sentences with the password before its name.
func TestPasswordsInSentencesVanish(t *testing.T) {
	family{
		secret: samples(
			in("plover"+"Kettle83", "the password for the staging server is %s, and the user is bob", "The password of db2.example.com is now %s.", "Das Passwort für den Testserver lautet %s, bitte nicht weitergeben.", "Le mot de passe de la base est %s (utilisateur bob)",
				"La contraseña del servidor es: %s", "A senha do banco de produção é \"%s\".", "wachtwoord: %s", "Password (staging): %s", "Typed \"%s\" into the textbox 'Password'", "Use \"%s\" as the admin password.",
				"Log in as bob (password %s) and go on.", "I used the username bob and password %s.", "Пароль от сервера: %s", "Sunucunun şifresi: %s", "local cfg = { host = 'h', pass = '%s', port = 6379 }"),
			in("Plover"+"Kettle%83", "the password for the staging server is %s and the user is bob"),
			in("K)F^p1"+"-&cfIJ", "the password for the staging server is %s and the user is bob"),
			in("4k2t"+"B9xQ0sW7uVn3Zr", "please use %s as the API token for billing", "AWS Secret Access Key [None]: %s"),
			in(hexDigits(40), "please use %s as the API token for billing"),
			in("violet coffee"+" island forest", "The passphrase of the key is \"%s\", don't lose it."),
		),
		clean: []string{"The password for the archive is sha256-hashed.", "The password of a user is 8-20 characters long.", "the password of the service is stored in vault2/db", "Le mot de passe de la base est obligatoire.", "Das Passwort ist base64-kodiert.",
			"use deploy-key as the token", "I renamed password to pwdHash2 in the model.", "Пароль не может содержать символы: 8-20", "密码长度: 8-20位", "commit " + hexDigits(40) + " as the cache key", "password (string): 8-20 characters", "token (Optional[str]): OAuth2 token", "the token after the comma is Uint8Array", `if "abc1" in password:`},
	}.check(t, newRedactor(t, Options{}))
}

// TestPasswordsBesideTheirNameVanish has names and values without an operator.
func TestPasswordsBesideTheirNameVanish(t *testing.T) {
	p := "plover" + "Kettle83"
	family{
		secret: samples(
			in(p, "define('DB_PASSWORD', '%s');", "  storePassword '%s'\n", "ALTER ROLE bob WITH LOGIN PASSWORD '%s';", "page.fill('#password', '%s')", "bind 127.0.0.1\nrequirepass %s\nmaxmemory 2gb", "machine h\n  login bob\n  password %s\n",
				"ok\n{\"action\": \"type\", \"selector\": \"input[name=password]\", \"text\": \"%s\"}\nok"),
			in("8IFwd"+"=Ec", "machine h login bob password %s"),
			in("3qjr rwwf kwsp"+" ysym vvdr p7yw yd72 mxzr", "Enter this key: %s"),
		),
		clean: []string{`<input type="password" name="password" autocomplete="current-password" class="css-nQLBF2">`, `t('password', 'Enter 2 words')`, `Field("password", "sha256-digest")`, "password SHA-256\n", "password v2\n", "requirepass \"\"\n", "Primary key fingerprint: 3A4B 5C6D 7E8F 9012 3A4B 5C6D 7E8F 9012 3A4B 5C6D"},
	}.check(t, newRedactor(t, Options{}))
}
