package redact

import (
	"strings"
	"testing"
)

// TestPasswordsInFilesOfServersVanish has the places for passwords in the files, dialogs and
// reports of servers and of programs that test them.
func TestPasswordsInFilesOfServersVanish(t *testing.T) {
	hash := "3f9a07c2b11d4e5f" + "6a7b8c9d00112233"
	family{
		secret: samples(
			in("plover"+"Kettle83", "[smtp.example.com]:587 bob@example.com:%s", "bob:{PLAIN}%s:1000:1000::/home/bob::", "register => bob:%s@sip.example.com/1000", "register => bob:%s:auth@sip.example.com", `bob : EAP "%s"`, `bob : XAUTH "%s"`,
				"bob:%s:1105:aad3b435b51404eeaad3b435b51404ee:::", "Session: hashcat\nStatus: Cracked\n"+hash+":%s\n", `[+] corp.example\bob:%s (Pwn3d!)`, `1730455801.11 [0 10.0.0.1:53122] "AUTH" "%s"`, `1730455801.11 [0 10.0.0.1:53122] "auth" "bob" "%s"`,
				`sendto(4, "PASS %s\r\n", 18, 0, NULL, 0) = 18`, "Password for the [elastic] user successfully reset.\nNew value: %s", "config wifi-iface\n\toption ssid 'Lab'\n\toption key '%s'\n"),
			in(hash, `"bob" "md5%s"`, "    'crypt' => [\n        'key' => '%s'\n    ],", `{"username":"bob","key":"%s"}`, "$ cat kaggle.json\n{\"username\": \"bob\", \"key\": \"%s\"}\n", `{"jsonrpc":"2.0","auth":"%s","id":1}`, `Sys.setenv(TIDES_KEY = "%s")`, "TIDES_KEY=%s",
				`Authorization: Digest username="bob", realm="nas", nonce="00112233445566778899aabbccddeeff", response="%s"`),
			in("4OoUIVuS4evaIaoC6qspWIaRzj1Xi"+"/qfINe0WlE55YRFxT5vP7gD8O62Xba7e6c9s6QzhSN==", `[{"keyName": "key1", "permissions": "FULL", "value": "%s"}]`, "$ az storage account keys list\n[{\"keyName\": \"key2\", \"permissions\": \"FULL\", \"value\": \"%s\"}]"),
			in("St7zzo6kAkJ0"+"Ivp7nXjs", `{"resources":[{"type":"random_password","name":"db","instances":[{"attributes":{"length":20,"result":"%s"}}]}]}`, "      \"type\": \"random_password\",\n      \"name\": \"db\",\n          \"result\": \"%s\",\n"),
			in("K10"+strings.Repeat("9a", 32)+"::server:"+hash, "# cat node-token\n%s\n"),
			in("$9$0iz2RsCiYMyzK1"+"$kdNabPNRF0PjChNQXjTmZfk9Ngf5.Hlf/W9WU/WmfEN", "enable secret 9 %s"),
			in("$9$JFPYSWVsyzOF"+"sMMmY/6TyPne38ag8C", `set security ike policy p1 pre-shared-key ascii-text "%s"`),
			in("8cb75d33-dcc2-4452"+"-a265-c844aa843b75", "AccessorID:       1854650e-19a6-45fd-a1d7-b80b371f91fc\nSecretID:         %s\n", `{"role_id":"1854650e-19a6-45fd-a1d7-b80b371f91fc","secret_id":"%s"}`),
			in("4:[Z9Zn2!KC,XyH8ReppE[#BI"+"/I9PS)l4W.GQ!N9K6(EQ)PBS9*^y&ugS~ND_IzLx9", "define( 'LOGGED_IN_SALT',   '%s' );", "define('NONCE_KEY', '%s');"),
		),
		clean: []string{"relay=mx1[10.0.0.1]:25, delay=0.3", "connect to mx[10.0.0.1]:587: host2 refused", "sshd[1234]:587 bob logged-in2", "bob:{PLAIN}", "app.register(s2 => s2.load)", `[+] src\main2.c:42: done`, `"GET" "session2:4711"`, "The setting was reset.\nNew value: v2beta", `{"keyName":"key1","value":"StorageV2"}`,
			`{"type":"random_id","instances":[{"attributes":{"hex":"` + hexDigits(16) + `","result":"ok12"}}]}`, `{"username":"bob","key":"profile_2"}`, `{"user":"bob","key":"` + hash + `"}`, "CACHE_KEY=" + hash, "BUILD_KEY=" + hash, `{"SecretId":"prod/db-a1B2c3"}`, "SecretID: AKIDz8krbsJ5", "  option key2 'x9y8z7'", "the editor has option key 'page2'", `text" "md5 of it`,
			"proxy-authorization'] === `Basic ${Buffer.from('user:pass').toString('base64')}`", `{"auth":"` + "none" + `"}`, "cost is $9$ and $8$", "smtp_sasl_password_maps = hash:/etc/postfix/sasl_passwd2"},
	}.check(t, newRedactor(t, Options{}))
}
