package redact

import (
	"strings"
	"testing"
)

// TestPasswordsOfToolsVanish has the passwords in the arguments of tools for databases,
// devices and directories.
func TestPasswordsOfToolsVanish(t *testing.T) {
	pass := "plover" + "Kettle83"
	family{
		secret: samples(
			in(pass, "etcdctl --endpoints=https://10.0.0.1:2379 --user root:%s endpoint status", "etcdctl --user=root:%s get /x", "mcrcon -H 10.0.0.1 -P 25575 -p %s list", "racadm -r 10.0.0.9 -u root -p %s getsysinfo",
				`schtasks /create /tn nightly /sc daily /ru CORP\bob /rp %s`, "unrar x -p%s in.rar /srv/in", "rar a -hp%s out.rar dir", "grafana-cli admin reset-admin-password %s", "hdbuserstore SET BACKUP hana.example.com:30015 SYSTEM %s",
				"radtest bob %s 127.0.0.1 0 $SECRET", "radtest bob $PW 127.0.0.1 0 %s", "addauth digest bob:%s", "echo '%s' | kinit bob@CORP.EXAMPLE", "db2 connect to SAMPLE user db2inst1 using %s",
				"expdp hr/%s schemas=HR directory=DUMP", "sqlldr userid=hr/%s@orcl control=a.ctl", "FNDCPASS apps/%s 0 Y system/$PW SYSTEM APPLSYS $NEW", "SQL> conn hr/%s@orcl",
				"/msg NickServ IDENTIFY bob %s", "[10:00] -> NickServ: IDENTIFY %s", `createUser bob SHA "%s" AES`, "snmp-server user bob grp v3 auth sha %s priv aes 128 $PRIV", "ACL SETUSER bob on >%s ~cache:* +@read",
				"pulumi config set --secret db:dsn %s", "pulumi config set dbPassword %s", "    set psksecret %s\n", "fw # set password %s", "  neighbor 10.0.0.2 password 7 %s", "crypto isakmp key %s address 10.0.0.3", "crypto isakmp key 0 %s address 10.0.0.3", "tacacs-server key 7 %s",
				"    Input Password    id=pass    %s\n    Click Button    Login", "Input Password\t${FIELD}\t%s", "[pscredential]::new('bob', ('%s' | ConvertTo-SecureString -AsPlainText -Force))", `Sheets("Budget").Unprotect "%s"`, `sheet.protect("%s")`),
			in("3f9a07c2"+"3f9a07c2b11d4e5f6a7b8c9d00112233", "$ wandb login %s"),
			in("3f9a07c2b11d4e5f"+"6a7b8c9d00112233", "require('twilio')('AC00112233445566778899aabbccddeeff', '%s')", "algoliasearch('ACMEAPP1', '%s')", "models.execute_kw(db, uid, '%s', 'res.partner', 'search', [[]])"),
			in("QDREHWST"+"LBNPKJFGPLGH", "erl -name app@h1 -setcookie %s -detached"),
			in("wNzFjorTE0MQ/f9n8"+"Jap6w8tVSRuQ8A2zap6QWZmQw39", "        set psksecret ENC %s\n"),
		),
		clean: []string{"connect to the server as user bob using ssh2", "connect to db1 user bob using tls1", "connect to " + strings.Repeat(" ", 1100) + "a", "connect to a user" + strings.Repeat(" ", 1100) + "b using ", "pulumi config set aws:region eu-west-1", "pulumi config set app:replicas web3", "Set password SHA256 hashing is slow", "set password policy2", "we set password rules2 for the page",
			"The neighbor 10.0.0.2 password rotation2", "Input password    string    min8", `csrf.protect("form2")`, `Sheets("Budget2").Activate`, "expdp hr schemas=HR2 dumpfile=a/hr2.dmp", "sqlldr control=data/file2.ctl", "ACL SETUSER bob on nopass ~cache2:* +@read",
			"createUser bob with SHA256 support", "wandb login --relogin", "the nickserv service knows identify", "unrar x -p- in2.rar", "ibmcloud login --apikey @/home/ops/key2.json -r eu-de", "require('twilio')('AC00112233445566778899aabbccddeeff', process.env.TOKEN2)", "kinit -kt /etc/krb5.keytab2 bob@CORP"},
	}.check(t, newRedactor(t, Options{}))
}
