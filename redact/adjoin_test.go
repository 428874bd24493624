package redact

import "testing"

// TestPasswordsWithoutANameVanish has passwords that only their place identifies, without
// a name.
func TestPasswordsWithoutANameVanish(t *testing.T) {
	family{
		secret: samples(
			in("dcQy0f"+"-pWQpsq27", "steghide extract -sf pic.jpg -p %s", "signtool sign /f cert.pfx /p %s /fd sha256 app.exe", "echo '%s' | p4 -u bob login", `echo -n "%s" | adcli join --stdin-password`),
			in("plover"+"Kettle83", "WIFI:T:WPA;S:Lab;P:%s;;", "WIFI:S:Lab;T:WPA;P:%s;H:false;;", `AT+CWJAP="Lab","%s"`, "EXEC sp_addlogin 'bob', '%s', 'master';", "splunk add monitor /x -auth admin:%s", "cache_peer p1 parent 3128 0 login=bob:%s", "curl -ubob:%s -T a.jar https://h/a.jar",
				"check_snmp -H 10.0.0.1 -C %s -o x", "snmpget -v2c -c %s 10.0.0.1 x", "BasicAuth bob %s", "steamcmd +login bob %s +quit", "prosodyctl register bob meet.example.com %s", "kamctl add bob@sip.example.com %s", "zmprov sp bob@example.com %s", "murmurd -ini m.ini -supw %s",
				"MONITOR ups@10.0.0.1 1 bob %s slave", ".logon td1/bob,%s;", "K 8\npassword\nV 14\n%s\nK 15\n", "<password>Encrypted %s</password>", "[10:22] Luis: cual era la clave del wifi?\n[10:23] Marta: %s"),
			in("plover"+"Kettle83", "ALTUSER ANNA PASSWORD(%s) NOEXPIRED", "CHLTYPE(CLNTCONN) USERID(app) PASSWORD(%s)", "3) \"password\"\n4) \"%s\"\n", "#cloud-config\nchpasswd:\n  list: |\n    bob:%s\n  expire: false\n", "rootpw --plaintext %s\ntimezone UTC", "auth_server_shared_secret=%s", "synouser --setpw bob %s"),
			in("raven_"+"winter367", "sharedSecret: %s", "shared_secret = %s"),
			in("dcQy0f"+"pWQpsq27", "the server pass is %s dont tell max", `Connection(server, "cn=admin,dc=acme", "%s", auto_bind=True)`),
			in("37"+"6187", "The key box is left of the door, the code is %s and then #.", "garage code: %s"),
		),
		clean: []string{"ssh -p 2222 bob@h2", "minisign -Vqm m -P RWTx5Zr1tiHQLwG9keckT0c45M3AGeHD6IvimQHpyRywVWGbP1aVSGav", "RESET PASSWORD(OPTIONAL)", "ENCODE_PASSWORD(user2)", "PASSWORD(sha256)", "3) \"password\"\n4) \"string\"", "the first pass is level2", "the second pass is O2Level3 only", "chpasswd:\n  expire: false\n  users: []", "rootpw --lock", "sharedSecret: string", "sharedSecret := x25519(a2, b2)", "connection('shop2', 'utf8mb4')", "mkdir -p Project2024/Sub", "docker run -p 8080:80 img2", "echo 'Xk9mQ2vR7p' | base64 -d", `echo "v1.2.3" | tee login2.txt`, "WIFI:T:nopass;S:Lab2;;", `AT+CIPSTA="10.0.0.1"`, "EXEC sp_addrolemember 'db_owner2', 'bob'", "cache_peer p1 parent 3128 0 login=PASSTHRU", "curl -u bob https://h/a:b2c3d4",
			"curlinfo_speed_upload -ubob:x1y2", "snmpget -v2c -c public 10.0.0.1 x", "steamcmd +login anonymous +app_update2 740", "the exit code is 1234567", "status code: 40401", "the door has code 12", "monitor ups@10.0.0.1 1 time each2 day", "K 8\npassword\nV 4\n", "is it on wifi?\nBob: iPhone15Pro", "--password @keychain:AC_PASSWORD2", ".logon td1/bob"},
	}.check(t, newRedactor(t, Options{}))
}
