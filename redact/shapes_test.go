package redact

import (
	"strings"
	"testing"
)

// TestSecretsOfManyShapesVanish tests the rules together: files, logs, code, commands
// and prose as agents see them. The tests of each family check which characters
// around a secret are removed.
func TestSecretsOfManyShapesVanish(t *testing.T) {
	K, H, P := letters(40), hexDigits(64), "Tr0ub"+"4dor&3"
	U := "dac6fb3d" + "-713c-4555-8a97-4089aa3849be"
	r := newRedactor(t, Options{})
	for _, s := range []secretSample{
		{"docker run -e MYSQL_ROOT_PASSWORD=my-secret-pw -d mysql", "my-secret-pw"},
		{"environment:\n  - POSTGRES_PASSWORD=s3cretpw\n  - X=1", "s3cretpw"},
		{"environment:\n  POSTGRES_PASSWORD: s3cretpw\n", "s3cretpw"},
		{"spring.datasource.password=changedsecretpw\nspring.x=1", "changedsecretpw"},
		{"DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=" + letters(86) + "==;EndpointSuffix=core.windows.net", letters(86) + "=="},
		{"Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=" + letters(43) + "=", letters(43) + "="},
		{"https://acct.blob.core.windows.net/c/b?sv=2020-08-04&sig=" + letters(43) + "%3D&se=2024", letters(43)},
		{"https://s3.amazonaws.com/b/k?X-Amz-Credential=x&X-Amz-Signature=" + H + "&X-Amz-Date=1", H},
		{"[Interface]\nPrivateKey = " + letters(43) + "=\nAddress = 10.0.0.1", letters(43) + "="},
		{"//registry.npmjs.org/:_authToken=npm_" + letters(36), "npm_" + letters(36)},
		{"//registry.example.com/:_auth=" + letters(24) + "==", letters(24)},
		{"[pypi]\nusername = __token__\npassword = pypi-" + letters(60), "pypi-" + letters(60)},
		{"{'password': '" + P + "', 'user': 'x'}", P},
		{"{\"Password\":\"" + P + "\"}", P},
		{":password => \"" + P + "\"", P},
		{"define('DB_PASSWORD', '" + P + "');", P},
		{"$config['db']['password'] = '" + P + "';", P},
		{"password_hash: foo\npassphrase: \"" + P + "\"", P},
		{"aws configure set aws_secret_access_key " + K, K},
		{"aws_session_token=" + letters(200), letters(200)},
		{"\"sessionToken\": \"" + letters(200) + "\"", letters(200)},
		{"The admin password is " + P + " please keep it", P},
		{"password is: " + P, P},
		{"Your API key: " + K, K},
		{"API Key: " + K, K},
		{"api key = " + K, K},
		{"access token: " + K, K},
		{"Token: " + U, U},
		{"client_secret=" + U, U},
		{"CLIENT_SECRET=\"" + K + "\"", K},
		{"secret_key_base: " + hexDigits(128), hexDigits(128)},
		{"SECRET_KEY = 'django-insecure-" + K + "'", "django-insecure-" + K},
		{"jwt_secret: \"my$uper-jwt-s3cret\"", "my$uper-jwt-s3cret"},
		{"ENCRYPTION_KEY=" + H, H},
		{"const token = '" + K + "';", K},
		{"headers = {\"Authorization\": f\"Bearer " + K + "\"}", K},
		{"headers: { 'X-Auth-Token': '" + K + "' }", K},
		{"-H 'X-API-KEY: " + K + "'", K},
		{"?access_token=" + K + "&x=1", K},
		{"#access_token=" + K + "&token_type=bearer", K},
		{"refresh_token: " + K, K},
		{"\\\"access_token\\\":\\\"" + K + "\\\"", K},
		{"redis://default:" + P + "@redis:6379", P},
		{"mongodb+srv://user:" + P + "@cluster0.mongodb.net/x", P},
		{"amqps://u:p4sswd@h/v", "p4sswd"},
		{"jdbc:mysql://h/db?user=root&password=p4sswd", "p4sswd"},
		{"jdbc:sqlserver://h;user=sa;password=P4sswd!;encrypt=true", "P4sswd!"},
		{"Data Source=h;User Id=sa;Password=P4ss;wd", "P4ss"},
		{"mysql://root:" + "secretword" + "@localhost/db", "secretword"},
		{"docker login -u x -p " + P + " reg.io", P},
		{"redis-cli -h x -a " + P + " ping", P},
		{"curl -u admin:" + P + " https://x", P},
		{"curl --user 'admin:" + P + "' https://x", P},
		{"wget --http-password=" + P + " x", P},
		{"wget --password " + P + " x", P},
		{"openssl rsa -passin pass:" + P + " -in k", P},
		{"git clone https://oauth2:glpat-" + letters(20) + "@gitlab.com/x", "glpat-" + letters(20)},
		{"export HF_TOKEN=hf_" + generated(34, "abcdefghijklmnopqrstuvwxyzABCDEF"), "hf_" + generated(34, "abcdefghijklmnopqrstuvwxyzABCDEF")},
		{"sk-ant-api03-" + letters(95), "sk-ant-api03-" + letters(95)},
		{"OPENROUTER sk-or-v1-" + H, "sk-or-v1-" + H},
		{"xoxc-" + "123456789012-123456789012-" + letters(24), letters(24)},
		{"xoxd-" + letters(80), letters(80)},
		{"AIzaSy" + letters(33), "AIzaSy" + letters(33)},
		{"GOCSPX-" + letters(28), "GOCSPX-" + letters(28)},
		{"ATATT3" + letters(180) + "=12345678", letters(180)},
		{"NRAK-" + upperDigits(27), "NRAK-" + upperDigits(27)},
		{"lsv2_pt_" + hexDigits(32) + "_" + hexDigits(10), hexDigits(32)},
		{"pcsk_" + letters(60), letters(60)},
		{"nvapi-" + letters(64), letters(64)},
		{"fw_" + letters(24), letters(24)},
		{"AKIA" + upperDigits(16), "AKIA" + upperDigits(16)},
		{"discord: https://discord.com/api/webhooks/123456789012345678/" + letters(68), letters(68)},
		{"bot token 123456789:AA" + letters(33), letters(33)},
		{"https://api.telegram.org/bot123456789:AA" + letters(33) + "/sendMessage", letters(33)},
		{"mnemonic: \"test test test test test test test test test test test junk\"", "test test test test"},
		{"密码：abc123xyz", "abc123xyz"}, {"密码是 hunter2x", "hunter2x"},
		{"<add key=\"Password\" value=\"" + P + "\" />", P},
		{"<Password>" + P + "</Password>", P},
		{"<property name=\"password\" value=\"" + P + "\"/>", P},
		{"<entry key=\"db.password\">" + P + "</entry>", P},
		{"password=\"" + P + "\" user=\"x\"", P},
		{"| password | " + P + " |", P},
		{"Username: bob\nPassword: " + P + "\n", P},
		{"Username: bob\nPassword: hunter\n", "hunter"},
		{"user: admin / pass: admin123", "admin123"},
		{"login: admin, pw: admin123", "admin123"},
		{"creds: admin/" + P, P},
		{"PGPASSWORD=secretpw psql -h x", "secretpw"},
		{"set PASSWORD=" + P + "\r\n", P},
		{"$env:API_KEY = \"" + K + "\"", K},
		{"setx OPENAI_API_KEY \"" + K + "\"", K},
		{"apiKey: process.env.KEY ?? '" + K + "'", K},
		{"api_key: str = Field(default='" + K + "')", K},
		{"api_key = os.getenv('KEY', '" + K + "')", K},
		{"os.environ['API_KEY'] = '" + K + "'", K},
		{"client = OpenAI(api_key='" + K + "')", K},
		{"new Client({ token: \"" + K + "\" })", K},
		{"http.Header{\"X-Api-Key\": []string{\"" + K + "\"}}", K},
		{"--api-key=" + K, K}, {"--token " + K, K}, {"-token=" + K, K},
		{"{\"name\":\"API_KEY\",\"type\":\"string\",\"value\":\"" + K + "\"}", K},
		{"- name: API_KEY\n  value: \"" + K + "\"\n", K},
		{"- key: API_KEY\n  value: " + K + "\n", K},
		{"variable \"db_password\" {\n  default = \"" + P + "\"\n}", P},
		{"Set-Cookie: sid=" + K + "; Path=/", K},
		{"Cookie: JSESSIONID=" + upperDigits(32), upperDigits(32)},
		{"Cookie: _ga=GA1.2.3; connect.sid=s%3A" + K + "." + letters(43), K},
		{"session=" + letters(120), letters(120)},
		{"PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nPrivate-Lines: 2\n" + letters(64) + "\n" + letters(64) + "\nPrivate-MAC: " + hexDigits(40), letters(64)},
		{"ansible_become_pass: " + P, P}, {"ansible_ssh_pass=" + P, P},
		{"smtp_pass: '" + P + "'", P}, {"auth: { user: 'x', pass: '" + P + "' }", P},
		{"pwd=\"" + P + "\"", P}, {"UID=sa;PWD=" + P + ";", P},
		{"PASSWORD: \"" + P + "\",\\n", "Tr0ub4dor"},
	} {
		if got := r.Text(s.text).String(); strings.Contains(got, s.secret) {
			t.Errorf("Text(%q) = %q, want text without %q", s.text, got, s.secret)
		}
		checkIdempotent(t, r, s.text)
		checkInside(t, r, s)
	}
}

// Secrets of the smallest and of the largest size of a shape vanish. A text with one
// character more, less or different is something else.
func TestShapesEndAtTheirBounds(t *testing.T) {
	const id = "MTIzNDU2Nzg5MDEyMzQ1Njc4" // the id of a bot, in base64
	signed := func(n int) string { return id + ".Xa1b2c." + letters(n) }
	bot := func(n int) string { return "12345678:AA" + letters(n) }
	cookie := func(n int) string { return "a1b2c3d4e5f6g7h8"[:n] }
	family{
		secret: samples(
			in(signed(27), "log in with %s"), in(signed(41), "log in with %s"),
			in(bot(32), "bot %s"), in(bot(34), "bot %s"),
			in(cookie(16), "Cookie: pref=%s"),
			in(hexDigits(32)+"-us19", "key %s"),
			in("thequickbrownfoxjump", "token=%s"),
			in("Quiet-Otter-Plays-Loud", "secret=%s"),
			in("x7q", "curl -u admin:%s https://example.com"),
			in("HunterFox", "sshpass -p '%s' ssh host"), // an argument needs no digit
		),
		clean: []string{
			signed(26), signed(42), bot(31), bot(35), bot(36), "Cookie: pref=" + cookie(15), "-us1", "key-us19", hexDigits(31) + "-us1",
			"token=thequickbrownfoxjum", "curl -u admin:x7 https://example.com",
		},
	}.check(t, newRedactor(t, Options{}))
}
