package redact

import (
	"strings"
	"testing"
)

func TestCommandLinesLoseTheirPasswords(t *testing.T) {
	pass := "Tr0ub" + "4dor&3"
	family{
		secret: samples(
			in(pass, "curl -u admin:%s https://example.com", "curl --user 'admin:%s' -s https://example.com", "curl -s \\\n  -u admin:%s \\\n  https://example.com", "redis-cli -h cache -a %s ping", "docker login -u bob -p %s registry.example.com", "openssl rsa -passin pass:%s -in key", "wget --password %s https://example.com", "PGPASSWORD=%s psql -h db",
				"curl -sS -u bob:'%s' https://example.com", `curl -u bob:"%s" https://example.com`, "sqlplus -s bob/%s@//h:1521/x @r.sql",
				"security set-key-partition-list -S apple-tool:,apple: -s -k %s build.keychain-db"),
			in(strings.Repeat("5E5DD"+"1A9", 16), `<machineKey validationKey="%s" decryptionKey="%s" validation="SHA1" />`),
			in(letters(40), "aws configure set aws_secret_access_key %s", "gh auth login --with-token %s", "vault login token=%s"),
		),
		clean: []string{"curl -u $USER:$PASS https://example.com", "curl -u admin https://example.com", "curl https://example.com/a:b", "mysql -u root -p app < dump.sql", "docker run -p 8080:80 nginx", "sshpass -p \"$PASS\" ssh host", "curl -u user:password https://example.com", "mkdir -p a/b/c1",
			"curl -u bob:'$PASS2' https://example.com", `curl -u bob:"${PASS}" https://example.com`, "sqlplus -s /nolog @a2.sql", "sqlplus -L"},
	}.check(t, newRedactor(t, Options{}))
}

func TestPasswordsInPlacesOfToolsVanish(t *testing.T) {
	family{
		secret: samples(
			in("plover"+"Kettle83", "openssl aes-256-cbc -a -salt -in key.txt -k '%s'", "kubectl create secret generic db -n prod --from-literal=dsn=%s", "kubectl create secret generic db --from-literal user=bob --from-literal='dsn=%s'",
				"jdbc:oracle:thin:bob/%s@db.example.com:1521/ORCL", `sql.Open("mysql", "bob:%s@tcp(db:3306)/shop")`, "DSN=bob:%s@unix(/run/mysql.sock)/shop", "jwt.sign({ id: user.id, at: { now } }, '%s', { expiresIn: '1h' })",
				"Server=db;Database=hr;Uid=bob;Pwd=%s;Encrypt=yes;", "mosquitto_pub -h h -u bob -P '%s' -t a/b", "ssh-keygen -t ed25519 -f id -N '%s'", "az keyvault secret set --vault-name v --name db --value %s", "aws ssm put-parameter --name /db --type SecureString --value '%s'"),
			in(strings.Repeat("3f9a"+"07c2", 5), "kubectl create secret generic db --from-literal=dsn=%s", "jwt.verify(token, '%s')", "echo -n '%s' | gcloud secrets create key --data-file=-", `{"Jwt":{"Issuer":"acme","Key":"%s"}}`),
		),
		clean: []string{"kubectl create secret generic db --from-literal=username=svc2 --from-literal=url=https://h2.example.com/x", "kubectl create configmap db --from-literal=dsn=abc123def", "kubectl create secret generic db --from-file=key2.pem",
			"aws ssm put-parameter --name /db --type String --value v2.beta3", `{"cache":{"key":"` + hexDigits(40) + `"}}`, "openssl req -new -key server2.key -out r2.csr", "jdbc:oracle:thin:@//db2.example.com:1521/ORCL", "%s:%s@tcp(%s:%d)/shop", "user:${PASS}@tcp(db:3306)/shop", "jwt.verify(token, publicKey, { algorithms: ['RS256'] })"},
	}.check(t, newRedactor(t, Options{}))
}

// TestPasswordsThatResembleCodeVanish has passwords with the brackets and dots of an
// expression, in an order that no expression has.
func TestPasswordsThatResembleCodeVanish(t *testing.T) {
	for _, p := range []string{"KnFW" + "G4pyw.rR-wSIE7", "x.46" + "PktymGLf", "AH(8j" + "OyX+_CfGB?34uN", "J9r(=" + "ZYDDM", "8.$-y" + "1.(?Cp?9bxOyte*N7", "q!9Jn" + ".*AI1BehL", "Pd(xj" + "gI*TRglmUvA!50VH"} {
		family{secret: in(p, "password: %s", "host = db\npassword = %s\nport = 1")}.check(t, newRedactor(t, Options{}))
	}
	family{clean: []string{"password = s3Client.getV2Object", "password = read_v2(", "password: b64decode(x1", "const pwd = pwd.slice(0, 4)", "password = rows[0]", "token = token[:-1]", "secret = keypair[:32]", "password: \"^.*[0-9]$\"", "token = f(0x1F, 2)"}}.check(t, newRedactor(t, Options{}))
}

func TestPasswordsInOtherLanguagesVanish(t *testing.T) {
	family{
		secret: in("abc"+"123xyz", "密码：%s", "密码: %s", "パスワードは %s です", "пароль: %s", "contraseña: %s", "Senha=\"%s\""),
		clean:  []string{"请输入密码。", "密码错误", "忘记密码？点击这里", "пароль не подходит", "mot de passe oublié ?"},
	}.check(t, newRedactor(t, Options{}))
}

func TestAddressesOfWebhooksAndSeedPhrasesVanish(t *testing.T) {
	family{
		secret: samples(
			in(letters(68), "https://discord.com/api/webhooks/123456789012345678/%s"),
			in("123456789:AA"+letters(33), "bot %s", "https://api.telegram.org/bot%s/sendMessage"),
			in("legal winner thank year wave sausage worth useful legal winner thank yellow", `mnemonic: "%s"`, "seed phrase: %s\n"),
		),
		clean: []string{"seed: one two three", "mnemonic devices help", "https://discord.com/api/webhooks/123", "seed = 12345", "arn:aws:sns:eu:123456789012:AA"},
	}.check(t, newRedactor(t, Options{}))
}
