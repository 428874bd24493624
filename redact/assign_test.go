package redact

import "testing"

func TestAssignmentsLoseTheirValueAndKeepTheirKey(t *testing.T) {
	key := "sk" + "-abc123def"
	pass := "hun" + "ter2!x"
	family{
		secret: samples(
			in(key, "api_key=%s", "api-key: %s", "APIKEY = \"%s\"", `{"apiKey": "%s"}`, "const apiKey = '%s';", "--api-key %s", "GET /v1?api_key=%s&limit=10 HTTP/1.1", `\"api_key\": \"%s\"`, `\\\"api_key\\\": \\\"%s\\\"`, "client_secret => '%s'", "secret_key ::= \"%s\""),
			in(pass, "password=%s", "password: %s", "db:\n  user: app\n  password: %s\n  host: db1\n", "DB_PASSWORD=%s\nDEBUG=true\n", "export PGPASSWORD='%s'", "Server=db;User ID=sa;Password=%s;Encrypt=True;", "jdbc:postgresql://db/app?user=app&password=%s&ssl=true", "psql --password=%s -h db", "machine api.example.com login bob password %s", "<password>%s</password>", `System.setProperty("db.password", "%s")`, "var password string = \"%s\"", "password: str = '%s'", `os.environ["DB_PASSWORD"] = "%s"`, `if (password == "%s") {`, `if ("%s" === password) {`, `if ("%s" == password) {`, `if ("%s" != password) {`, `{"name": "DB_PASSWORD", "value": "%s"}`, "- name: DB_PASSWORD\n  value: %s\n", "char passwd[25] = \"%s\";", "sshpass -p '%s' ssh root@10.0.0.1", "mysql -u root -p%s app"),
			in("correct-horse"+"-91", "user=bob pass=%s"),
			in(letters(44), "Cookie: theme=dark; sessionid=%s; lang=en", "set-cookie: auth_token=%s; Path=/; HttpOnly", "SECRET_TOKEN = '%s'", "session_key: %s"),
		),
		clean: []string{
			"password: string", "password: String,", "const password = req.body.password;", `api_key = os.environ["OPENAI_API_KEY"]`, "api_key: ${API_KEY}", "password=$DB_PASSWORD", `token: "<TOKEN>"`, "max_tokens: 4096", `"total_tokens": 128374`, "password = getPassword()", "password must be at least 12 characters",
			"passwordInput.value = \"\"", "auth: none", "secrets: inherit", "PASSWORD_HASHERS = [", "password_hash = bcrypt.hashpw(password, salt)", `ENV API_KEY=""`, "aws_access_key_id = YOUR_ACCESS_KEY", "foreign_key: user_id", "key: value", "PWD=/home/alice/project", "csrf_token() function", "{% csrf_token %}", "token = tokenizer.next()",
			`"password": "string"`, "password=****", "api_key=<your-api-key>", `api_key: "{{ .Values.apiKey }}"`, "token: process.env.TOKEN", "key_id: 3ab759fe-f0c1-42e3-84a5-b6c7d8e9f0a1", "passwd:x:0:0:root:/root:/bin/bash", `type PasswordHasher = "bcrypt12345"`, "cache_key: user:1234567890:profile2", "compass: n0rth-by-n0rthwest1", `"call_id":"call_` + hexDigits(32) + `"`, "git commit " + hexDigits(40),
			`<label for="password">Password:</label>`, "The password: it is in the vault.", "password=<REDACTED>", `"password": "<REDACTED:password:7f3a>"`,
			"api_key: my-key-name", "secret: my-secret-name", "pass=correct-horse-91",
		},
	}.check(t, newRedactor(t, Options{}))
}
