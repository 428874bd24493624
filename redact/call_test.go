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
			"<tr><td>Password</td><td>%s</td></tr>", "<name>password</name><value><string>%s</string></value>", "**Password:** %s", "- **API Key**: `%s`", "    DefaultPassword    REG_SZ    %s",
			"Content-Disposition: form-data; name=\"password\"\n\n%s"),
		clean: []string{"<Password><Value>$(env)</Value></Password>", "<td>Password</td><td>required</td>", "**Password:** required", "<input type=\"password\">text</input>", "    Path    REG_SZ    C:\\bin"},
	}.check(t, newRedactor(t, Options{}))
}

func TestPasswordsInProseVanish(t *testing.T) {
	p := "Wj8n" + "R3vK6qTzB5mX"
	family{
		secret: in(p, "The password is %s and it expires.", "the new password is: %s", "I have set the admin password to %s for now.", "Password changed to \"%s\".", "The API key is `%s`.", "Your secret key is %s.", "Here is the token you asked for: %s", "ADMIN PASSWORD -> %s"),
		clean:  []string{"The password is stored as a hash.", "The token is valid for 30 days: see below.", "The key is Kubernetes-specific.", "the secret is called app-secrets-2", "password -> bool", "The token is CancellationTokenSource."},
	}.check(t, newRedactor(t, Options{}))
}
