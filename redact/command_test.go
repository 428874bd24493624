package redact

import "testing"

func TestCommandLinesLoseTheirPasswords(t *testing.T) {
	pass := "Tr0ub" + "4dor&3"
	family{
		secret: samples(
			in(pass, "curl -u admin:%s https://example.com", "curl --user 'admin:%s' -s https://example.com", "curl -s \\\n  -u admin:%s \\\n  https://example.com", "redis-cli -h cache -a %s ping", "docker login -u bob -p %s registry.example.com", "openssl rsa -passin pass:%s -in key", "wget --password %s https://example.com", "PGPASSWORD=%s psql -h db"),
			in(letters(40), "aws configure set aws_secret_access_key %s", "gh auth login --with-token %s", "vault login token=%s"),
		),
		clean: []string{"curl -u $USER:$PASS https://example.com", "curl -u admin https://example.com", "curl https://example.com/a:b", "mysql -u root -p app < dump.sql", "docker run -p 8080:80 nginx", "sshpass -p \"$PASS\" ssh host", "curl -u user:password https://example.com", "mkdir -p a/b/c1"},
	}.check(t, newRedactor(t, Options{}))
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
