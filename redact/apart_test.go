package redact

import (
	"fmt"
	"strings"
	"testing"
)

// TestLiteralsOfCallsVanish has calls whose name says what their literals are for.
func TestLiteralsOfCallsVanish(t *testing.T) {
	p, gen := "plover"+"Kettle83!", "kT4vXq92"+"ZmWb7LrJ"
	family{
		secret: samples(
			in(p, `login("bob", "%s")`, `creds = BasicCredentials("bob", "%s")`, `conn = psycopg2.connect("db.example.com", "shop", "bob", "%s")`, `Net::SMTP.start('mail.example.com', 587, 'localhost', 'bob', '%s', :plain)`,
				`red:auth("%s")`, `CryptoJS.AES.encrypt(JSON.stringify(data), '%s')`, `Buffer.from("bob:%s")`, `curl_easy_setopt(h, CURLOPT_USERPWD, "bob:%s");`, `USERS = [("bob", "%s")]`+"\nusers = [(\"bob\", \"%s\")]", `char *wifi[] = { "HomeNet-5G", "%s" };`),
			in(gen, `cipher = AES.new(b"%s", AES.MODE_CBC, iv)`, `mac := hmac.New(sha256.New, []byte("%s"))`, `new SecretKeySpec("%s".getBytes(UTF_8), "AES")`, `let key = Key::<Aes256Gcm>::from_slice(b"%s");`, `keychain.set("%s", forKey: "apiToken")`),
		),
		clean: []string{`login(username, password)`, `login("bob", "password")`, `connect("localhost", 1883, "keepalive")`, `h.connect("mqtt.example.com", "node-2", "Sensor/Kitchen/T1")`, `AES.new(key, AES.MODE_GCM, nonce=nonce)`, `Cipher.getInstance("AES/CBC/PKCS5Padding")`, `createHash('sha256').update('9f86d081884c7d65')`,
			`jwt.verify(token, key, { algorithms: ['HS256'] })`, `open("Report2025.pdf", "w+")`, `assertEqual(login("alice", "wrong"), 401)`, `users = ["bob@example.com", "alice@example.com"]`, `Buffer.from("user:id", "utf8")`, `encrypt("Attack at 0900", key)`, `auth("IC_kwDOAb12Cd34Ef")`},
	}.check(t, newRedactor(t, Options{}))
}

// TestNamesInOtherLanguagesAreReadLikeEnglishOnes has sentences, tables, pairs and keys.
func TestNamesInOtherLanguagesAreReadLikeEnglishOnes(t *testing.T) {
	p, gen := "plover"+"Kettle83!", "kT4vXq92"+"ZmWb7LrJ31pd"
	family{
		secret: samples(
			in(p, "Пароль от базы: %s", "Новый пароль для bob «%s»", "数据库密码是%s，请不要外传。", "密码：%s", "パスワードは「%s」です。", "비밀번호는 %s 입니다", "كلمة المرور: %s", "הסיסמה היא %s", "Ο κωδικός είναι %s", "पासवर्ड: %s", "Hasło do serwera to %s.", "Het wachtwoord voor de NAS is %s.",
				"| Dienst | Kennwort |\n|---|---|\n| Mail | %s |", "| 环境 | 密码 |\n|---|---|\n| prod | %s |", `{"账号":"bob","密码":"%s"}`, "хост: db\nпароль: %s"),
			in(gen, "секретный ключ = %s", "APIキー：%s", "访问令牌: %s", "токен доступа — %s", `{"ключ_доступа":"%s"}`),
		),
		clean: []string{"密码长度至少为8位，请参考README.md。", "Пароль должен содержать не менее 8 символов, см. раздел 4.2.", "パスワードはsettings.pyで設定します。", "令牌数量：4096，模型：gpt-4o-2024-08-06", "비밀번호는 8자 이상이어야 합니다", "كلمة المرور مطلوبة (8 أحرف على الأقل)", "Hasło jest zapisane w pliku config/prod.env", "Ключ кэша: user_profile_v2", "msgid \"Password\"\nmsgstr \"Пароль\"", `passwordTooShort: "密码太短（至少8位）"`},
	}.check(t, newRedactor(t, Options{}))
}

// TestValuesApartFromTheirNamesVanish has records in which other members, elements or lines
// stand between a name and its value.
func TestValuesApartFromTheirNamesVanish(t *testing.T) {
	p := "plover" + "Kettle83!"
	family{
		secret: in(p, `{"id":"webhook.secret","label":"Webhook secret","current":{"value":"%s","source":"env"}}`, `{"type":"random_password","instances":[{"attributes":{"length":16,"result":"%s"}}]}`, `{"columns":["login","password"],"rows":[["bob","%s"]]}`, `{"OutputKey":"AdminPassword","OutputValue":"%s"}`,
			"<setting name=\"SmtpPassword\" serializeAs=\"String\">\n  <value>%s</value>\n</setting>", "<entry><string>ldap.bind.password</string><string>%s</string></entry>", "<p>Your password is <b>%s</b>.</p>", "<li><strong>Password:</strong> <span class=\"mono\">%s</span></li>", "<dt>Password</dt><dd><code>%s</code></dd>",
			"$ passwd bob <<EOF\n%s\nEOF", "tee /etc/openvpn/auth.txt <<X\nbob\n%s\nX", "use bob / %s to log in to the staging box", "vault kv put secret/app db=%s", "Q: what's the password for the backup?\nA: %s", "I set it to %s - that's the new root password.", "process.env.APP_PASSWORD ??= `%s`", "mysqldump --password \\\n  %s \\\n  shop"),
		clean: []string{`{"name":"X-Correlation-Id","value":"9f86d081884c7d659a2feaa0c55ad015"}`, `{"name":"password","in":"formData","description":"At least 8 characters","required":true}`, `{"label":"Password","value":"Required, 8-64 characters"}`, `{"type":"token","value":"Identifier1"}`, `{"columns":["login","token_count"],"rows":[["bob","Plover83Kettle"]]}`,
			`<data name="Password_Invalid"><value>The password isn't valid (error 1042).</value></data>`, "<td>Token</td><td>Expires in 30 days</td>", `<label for="password">Password</label><input id="password" placeholder="8+ characters">`, "cat <<EOF\nPlover83Kettle\nEOF", `<password-input v-model="form.password" :rules="passwordRules" />`, "what is a password?\nIt is a word2vec"},
	}.check(t, newRedactor(t, Options{}))
}

// TestKeysInDumpsVanish has secrets that are written as numbers.
func TestKeysInDumpsVanish(t *testing.T) {
	r := newRedactor(t, Options{})
	secret := "Xq92vT7kZm"
	line := "00000010  70 61 73 73 77 6f 72 64  3d " + strings.TrimSpace(fmt.Sprintf("% x", secret)) + "  |password=..........|"
	if got, want := r.Text(line).String(), "00000010  70 61 73 73 77 6f 72 64  3d <REDACTED>  |password=..........|"; got != want {
		t.Errorf("Text(%q) = %q, want %q", line, got, want)
	}
	numbers := "99, 36, 17, 188, 167, 199, 192, 55, 25, 163, 132, 234, 65, 218, 151, 140"
	longer := numbers + ", 7, 201, 88, 143, 12, 250, 66, 31" // the 24 bytes of AES-192
	for head, key := range map[string]string{"key = bytes([%s])": numbers, "let secret_key: [u8; 16] = [%s];": numbers, "byte[] aesKey = { %s };": numbers, "aes_key = bytes([%s])": longer} {
		text := fmt.Sprintf(head, key)
		if got, want := r.Text(text).String(), fmt.Sprintf(head, "<REDACTED>"); got != want {
			t.Errorf("Text(%q) = %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"00000010  7f 45 4c 46 70 61 73 73 20 74 68 72 6f 75 67 68  |.ELFpass through|", "keys = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]", "key_sizes = [128, 192, 256]", "tokens: [101, 7592, 2088, 102]"} {
		if got := r.Text(text).String(); got != text {
			t.Errorf("Text(%q) = %q", text, got)
		}
	}
}
