package redact

import "testing"

// TestOutputOfToolsAboutCodeStays has places in files, constants and names in programs, which an
// agent needs, and which look like the value of a password or a token.
func TestOutputOfToolsAboutCodeStays(t *testing.T) {
	p := "kT4vXq92" + "ZmWb7LrJ"
	family{
		secret: samples(
			in("hunter"+"2", "backup/password.txt:%s", "password: %s"),
			in(p, "backup/password.txt:%s", "password.go:%s", "password.go:12:\tpassword := \"%s\"", "--password %s", "CREATE USER bob IDENTIFIED BY %s;", "create user bob identified by %s", "Authorization: Bearer %s", "TransportCreds: %s,", "'db_password', '%s'", "password: %s"),
			in("www."+p, `secret = "%s"`),
			in("abc="+"def123ghi", "Authorization: Bearer %s"),
			in("0xDEAD"+"BEEF", "password: %s", "PASSWORD=%s"),
		),
		clean: []string{"auth/password.go:42:13: undefined: hashPassword", "password_test.go:2042: want 3", "  File passwords.py:1204", "* src/gpasswd.c: log_gpasswd_success_gshadow only exists", "pwd.h:101:1", "tests/test_password.py::test_reset_v2 FAILED [ 45%]", "use the --username and --password options instead of", "the new user is identified by key/value pairs", "it was identified as CVE-2021-33560", "a series that is identified by `filter`",
			"TransportCreds: transportCredsForS2A,", "AccessToken: newAccessTokenV2,", "token: useSelfSignedJWT,", "cipher_TLS_PSK_WITH_AES uint16 = 0xC036", "SIOCSLIFTOKEN = -0x7f879679", ":type passphrase: :py:data:`bytes`", "awk -F: </etc/passwd '$3 >= 1000 && $3 < 65000 {print $3}'", "token_type=Bearer expires_in=3600", "'curle_ftp_password_incorrect', 'curle_ftp_weird_227_format'",
			`"GenerateKey768": "GenerateKey1024"`, "fixed if pwdCheckModuleArg is not set (ITS#9656)", `client.create("case", {"id": "100IK2AKCLHMGRJ9CDGMOCGP8DM6UTB4BT262T31"})`, "https://user:password:www.google.com/ is wrong",
			"\tInputToken            *int64\n\tRequest *Request", "func PFXImportCertStore(pfx *Blob, password *uint16, flags uint32)", "\tTokenProperties *GoogleCloudRecaptchaV1TokenProperties `json:\"tokenProperties,omitempty\"`", "\tBasicAuth *BasicAuth `json:\"basicAuth,omitempty\"`", "AllowedKeyType_EcKeyType_ECDSA_P384 = src.CaPool_Policy_AllowedKeyType_EcKeyType_ECDSA_P384", "by using a Secret Manager secret: `projects/*/secrets/*/versions/*`",
			"ConnDis.c: In function 'XSetAuthorization':\n    ConnDis.c:677: warning: old-style", `run("end2end/server.key", "spiffe_end2end/ca.pem")`, `s3.WithCredentials(os.Getenv("S3_ACCESS_KEY"), os.Getenv("S3_SECRET_KEY"))`, `case "sslclientcertificatekeypassword", "tlscertificatekeyfilepassword":`, "type Vec0Token = TVec0Token", "use crate::auth::password::hash_v2;", "exports.X509SubjectKeyIDExtension = exports.X509AuthorityKeyIDExtension = X509AuthorityKeyIDExtension;", "\tpw := &pickerWrapper{}", "gcloud builds triggers create --secret=projects/my-project/secrets/my-secret/versions/2",
			`newidtoken "cloud.google.com/go/auth/credentials/idtoken"`, "confinement of login and password changing services", "the fields are name:pw_passwd:pw_uid:pw_gid:pw_dir:pw_shell",
			"the gateway answered with error code: 50213", "{ failCommands: [aggregate], errorCode: 13436 }", "alarm fired, status code: 50213", "we navigate to the page, the code is 2048"},
	}.check(t, newRedactor(t, Options{}))
}

// TestPasswordsLikeTextAboutCodeVanish has passwords that come close to the forms of locations,
// pointers, roles, hosts, scopes and members in code.
func TestPasswordsLikeTextAboutCodeVanish(t *testing.T) {
	named, phrase := "word5146", "otter-pebble-4248"
	pin, door := "548"+"422", "48"+"21"
	family{
		secret: samples(
			in("Pass"+named, `password = "%s"`, "PASSWORD=%s", "--password %s", `{"password": "%s"}`, `password2 = "%s"`),
			in("db_pass"+named, "DB_PASSWORD=%s", `db_password: "%s"`),
			in("*Saffron"+"738", "password: %s", `"apiKey": "%s"`, "DB_PASSWORD=%s"),
			in("&Garnet-"+"913", "password: %s", `password = "%s"`),
			in(":garnet:"+"bramble23", `password = "%s"`, "DB_PASSWORD: %s"),
			in("www.quartz"+"385", "PASSWORD=%s", `{"password": "%s"}`),
			in(phrase+".raven", "password: %s", "api_key: %s"),
			in("acme_bramble"+"95", "db.password.sql: %s"),
			in("lXZnbjMZW/"+"NUT5cdfk1iFy5TcP", "api.token.ts: %s"),
			in(pin, "backup/password.txt:%s", "secrets/db_password.txt: %s"),
			in("acme_live_"+"u9VeJn9V0WrH7G8GWEZU", "'acme_token', '%s'"),
			in("Otter"+"1267", "password::%s", "create user bob\n  identified by %s;", "mysql> grant all on *.* to bob\n    -> identified by %s;"),
			in("ofanlttogq"+"vahlxnvggx", "token::%s"),
			in("x:"+"ofanlttogqvahlxnvggx", "db:password:%s"),
			in(door, "gate_code: %s", "gateCode: %s", "doorcode: %s", "the lockbox code is %s"),
		),
		clean: []string{"alarm: errorCode: 50213", "the gate is open, exit_code: 50213", "safe mode, myStatusCode: 50213"},
	}.check(t, newRedactor(t, Options{}))
}
