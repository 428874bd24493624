package redact

import "testing"

// TestPublicFormsAreLeftAlone: the form of these values shows that they are not
// secrets, though the names before them suggest secrets.
func TestPublicFormsAreLeftAlone(t *testing.T) {
	const hex40, hex64 = "62b2cac7ed8198b15735ed49ab1e5cf35480ba46", "3b1f0b1d2b5c4f0e9b2a7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a0b9c8d7e6f"
	family{clean: []string{
		// versions and packages
		`"parse-passwd": "^1.0.0"`, `password = "0.3.1"`, "password: 1.2.3-alpha.1", `"@scope/secret": "~2.1.0-beta.14"`, "- token: v1alpha2",
		"auth==2.3.0.dev80590506+g74eb5ab0", `"session": "1.15.0-canary.20250101a1b2c3d"`, "kpasswd_server = 127.0.0.1:464",
		"github.com/x/token v0.0.0-20250101000000-c0ddbf3c8b2c/go.mod h1:dt4i0Gf4buuDKUVA9MF9cy6GMOVYevZK89IkCJXVWrE=",
		"github.com/x/secret v1.2.4-0.20250101000000-c0ddbf3c8b2c h1:dt4i0Gf4buuDKUVA9MF9cy6GMOVYevZK89IkCJXVWrE=",
		`"secret-stack": "github:ssbc/secret-stack#` + hex40 + `"`, `"jsonwebtoken": "git+https://github.com/auth0/x.git#` + hex40 + `"`,
		`"token": "workspace:^1.2.0"`, `"x-token": "npm:@x/token@2.0.1"`,
		`"grant": ["refresh_token", "urn:ietf:params:oauth:grant-type:device_code"]`, "Token: `urn:uuid:e71d4fae-5dec-22d6-fea5-00a0c91e6be4`",
		"\t\"go/printer\",\n\t\"go/token\",\n\t\"hash/adler32\",",
		// names of Kubernetes, builds and buckets
		"Mountable secrets:   default-token-n98vf\nTokens:              default-token-n98vf", "Image pull secrets:  regcred-x7k2p",
		`Error: secret "app-cfg-7d4b9c6f5-9zq4d" not found`, `secret "app-4d8719ee" not found`, `Error: secret "app-4d8719ee" already exists`, "annotations:\n  checksum/secret: " + hex64,
		"Cache restored from key: Linux-build-" + hex64, "Cache hit for restore-key: v1-npm-" + hex40, "    key: Linux-pip-3.11-" + hex64,
		"Key: uploads/2025/05/9615af55-691f-4f9f-b5a0-6cdff77d0487.png", `"Key": "logs/2025-05-01/5ee8da99c6180bbb.gz"`, "s3 key: builds/app-4f2a9c1b-linux-amd64.tar.gz",
		// addresses and public keys
		"#0  next (token=0x5555557a12b0, n=3) at token.c:12", "if windows.TOKEN_ALL_ACCESS != 0xF01FF {", "token: 0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
		"# public key: age1xmwwc06ly3ee5rytxm9mflaz2u56jjj36s0mypdrwsvlul66mv4q47ryef", "foreign key: fk_rails_3b5e73d655", "cache key: a1b2c3d4e5f6a7b8c9d0e1",
		"apt-key adv --keyserver keyserver.ubuntu.com --recv-keys A1715D88E1DF1F24",
		// code
		"tok := &oauth2.Token{AccessToken: t}", "token := oauth2.Token{}", "cred := s2av2pb.Cred{", "Key: cfg.EncryptionKeySHA256,", "secret: &'a [u8],",
		`req.Header.Set("Authorization", "Bearer "+string(signed))`, `h["Authorization"] = "Bearer " + s3tok2`,
		"tiktoken: cl100k_base", "| tiktoken | o200k_base | 54642 ns |", "password_encryption = scram-sha-256", `{"password": "Kennwort"}`,
		// help
		"  -p, --passphrase            Encrypt with a passphrase.", "      --password\tPrompts for it", "  --api-key KEY_ID2     Set the value to use", "usage: x [--password KEY1] [--b]",
	}}.check(t, newRedactor(t, Options{}))
}

// TestSecretsInNearlyPublicFormsAreFound has secrets that resemble the values that
// [value.isPublic] keeps.
func TestSecretsInNearlyPublicFormsAreFound(t *testing.T) {
	family{secret: samples(
		in("1.2.3-Xk9mQ2vR7p", `password: "%s"`, "DB_PASSWORD=%s"),
		in("v1Xk9mQ2vR7pLw4", "token: %s", `"api_key": "%s"`),
		in("npmXk9mQ2vR7p", `password: "%s"`),
		in("workspace:Xk9mQ2vR7p", "DB_PASSWORD=%s"),
		in("github:Xk9mQ2vR7p", "DB_PASSWORD=%s"),
		in("app-tls-4flltqwvks", "password: %s", "DB_PASSWORD=%s", "token: %s", "Bearer %s", `{"secret": "%s"}`),
		in("lucky/d0esdzdr", `("/db/password", "%s")`),
		in("Xk9mQ2vR7pLwZt4BnH8s", "Primary key: %s", "first_pass: %s", `{"second_pass": "%s"}`),
		in("app-x7K2pQ9v", "token: %s"),
		in("0x3b1f0b1d2b5c4f0e9b2a7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a0b9c8d7e6f", "private_key: %s", "PRIVATE_KEY=%s"),
		in("0xdeadbeef", "SECRET=%s", "x --secret %s"),
		in("3b1f0b1d2b5c4f0e9b2a7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a0b9c8d7e6f", "api_key: %s", "secret: %s"),
		in("a9Xk2mQ/vR7pLw4Zt8.cN", "secret: %s"),
		in("Xk9mQ2vR7pLw", "curl --password %s https://example.com", "  --password   %s", "x --password %s --user bob", `the password "%s"`, `("/prod/db/password", "%s")`, `p = "password: %s" + x`),
		in("hunter2horse", "mysql --password   %s db1", "x -u bob --password %s db"),
	)}.check(t, newRedactor(t, Options{}))
}
