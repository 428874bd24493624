package redact

import "strings"

var commandRule = &rule{id: "command-line", kind: "password"}

// commands lists the programs that take a password in their arguments or from
// a pipe, with the action that finds it.
var commands = []struct {
	word string
	run  action
}{
	{"sshpass", passwordFlag("-p", true)},
	{"mysql", passwordFlag(" -p", false)},
	{"redis-cli", passwordFlag(" -a ", true)},
	{"docker login", passwordFlag(" -p ", true)},
	{"podman login", passwordFlag(" -p ", true)},
	{"mongo", passwordFlag(" -p ", true)},
	{"openssl", passwordFlag("pass:", false)},
	{"ldapsearch", passwordFlag(" -w ", true)},
	{"ldapmodify", passwordFlag(" -w ", true)},
	{"ldapadd", passwordFlag(" -w ", true)},
	{"ldappasswd", passwordFlag(" -s ", true)},
	{"7z ", passwordFlag(" -p", false)},
	{"zip ", passwordFlag("-P ", true)},
	{"keytool", passwordFlag(" -storepass ", true)},
	{"keytool", passwordFlag(" -keypass ", true)},
	{"az login", passwordFlag(" -p ", true)},
	{"az sql", passwordFlag(" -p ", true)},
	{"sqlcmd", passwordFlag(" -P ", true)},
	{"evil-winrm", passwordFlag(" -p ", true)},
	{"nxc ", passwordFlag(" -p ", true)},
	{"crackmapexec", passwordFlag(" -p ", true)},
	{"smbmap", passwordFlag(" -p ", true)},
	{"freerdp", passwordFlag(" /p:", false)},
	{"cmdkey", passwordFlag(" /pass:", false)},
	{"-generic-password", passwordFlag(" -w ", true)},
	{"-internet-password", passwordFlag(" -w ", true)},
	{"nmcli", passwordFlag(" password ", true)},
	{"snmp", passwordFlag(" -A ", true)},
	{"snmp", passwordFlag(" -X ", true)},
	{"openssl", passwordFlag(" -k ", true)},
	{"openssl", passwordFlag(" -K ", true)},
	{"ipmitool", passwordFlag(" -P ", true)},
	{"mosquitto_", passwordFlag(" -P ", true)},
	{"ssh-keygen", passwordFlag(" -N ", true)},
	{"keyvault secret set", passwordFlag(" --value ", true)},
	{"gcloud secrets", (*scan).piped},
	{"hydra", passwordFlag(" -p ", true)},
	{"smbclient", pairFlag(" -U ", '%')},
	{"rpcclient", pairFlag(" -U ", '%')},
	{"lftp", pairFlag(" -u ", ',')},
	{"http -a", pairFlag("", ':')},
	{" --auth ", func(sc *scan, _, end int) { sc.pair(skipBlanks(sc.s, end)) }},
	{"curl", pairFlag(" --proxy-user ", ':')},
	{"net user", positional(1)},
	{"net use", positional(2)},
	{"add_user", positional(1)},
	{"change_password", positional(1)},
	{"wpa_passphrase", positional(1)},
	{"htpasswd", positional(2)},
	{"vault login", positional(0)},
	{"pulumi config set", setConfig},
	{"setx", positional(1)},
	{"sqlplus", slashed},
	{"jdbc:oracle:", slashed},
	{"create secret", (*scan).fromLiterals},
	{"psexec", impacket},
	{"wmiexec", impacket},
	{"smbexec", impacket},
	{"secretsdump", impacket},
	{"expect", (*scan).expect},
	{"sudo -s", (*scan).piped},
	{"chpasswd", (*scan).piped},
	{"passwd", (*scan).piped},
	{"--password-stdin", (*scan).piped},
	{"--stdin", (*scan).piped},
	{"curl", (*scan).curl},
	{" login ", chosenFlag(" -p ")},
	{" -u ", (*scan).userFlag},
	{"keychain", chosenFlag(" -p ")},
	{"keychain", chosenFlag(" -P ")},
	{"key-partition-list", chosenFlag(" -k ")},
	{"smbpass", (*scan).piped},
	{"luks", (*scan).piped},
	{"passphrase-fd", (*scan).piped},
	{"secret put", (*scan).stored},
	{"secret set", (*scan).stored},
	{"secrets set", (*scan).stored},
	{"secret create", (*scan).stored},
	{"(echo ", (*scan).substituted},
	{"net use", positional(3)},
	{"cargo login", lastArgument},
	{"http-basic.", positional(2)},
	{"alias set ", positional(3)},
	{"/login ", positional(1)},
	{"kv put", (*scan).fields},
	{"ftp> user ", positional(1)},
	{"login: ", besideUser},
	{"login with ", login},
	{"log in with ", login},
	{"log in as ", login},
	{"logged in as ", login},
	{"sign in as ", login},
	{"sign in with ", login},
	{"login attempt", login},
	{"zugangsdaten", login},
	{"anmeldedaten", login},
	{"identifiants", login},
	{"credenciales", login},
	{"credenziali", login},
	{"wifi", login},
	{"wlan", login},
	{" to log in", loginBefore},
	{" to login", loginBefore},
	{" to sign in", loginBefore},
	{"<<", (*scan).hereDocument},
	{"<<<", (*scan).hereString},
	{":identify ", positional(1)},
	{"rocommunity ", positional(0)},
	{"rwcommunity ", positional(0)},
	{"--with-token", (*scan).piped},
	{"bw unlock", positional(0)},
	{"openssl passwd", positional(0)},
	{".tochararray()", (*scan).charArray},
	{"оступ: ", login},
	{"огин: ", login},
	{"auth-user-pass>", (*scan).linesBelow},
	{"users", (*scan).accountList},
	{"wifi", (*scan).accountList},
	{"networks", (*scan).accountList},
	{"accounts", (*scan).accountList},
	{"logins", (*scan).accountList},
	{"etcdctl", pairFlag(" --user ", ':')},
	{"etcdctl", pairFlag(" --user=", ':')},
	{"mcrcon", chosenFlag(" -p ")},
	{"racadm", passwordFlag(" -p ", true)},
	{"schtasks", passwordFlag(" /rp ", true)},
	{"schtasks", passwordFlag(" /RP ", true)},
	{"schtasks", chosenFlag(" /P ")},
	{"admin user add ", positional(2)},
	{"isql ", positional(2)},
	{"schtasks", chosenFlag(" /p ")},
	{"unrar ", passwordFlag(" -p", false)},
	{"rar a", passwordFlag(" -hp", false)},
	{"reset-admin-password", positional(0)},
	{"hdbuserstore set", positional(3)},
	{"radtest ", positional(1)},
	{"samba-tool user create ", positional(1)},
	{"samba-tool user add ", positional(1)},
	{"radtest ", positional(4)},
	{"-setcookie ", positional(0)},
	{"wandb login", lastArgument},
	{"addauth digest ", func(sc *scan, _, end int) { sc.pair(skipBlanks(sc.s, end)) }},
	{"kinit", (*scan).piped},
	{"connect to ", usingPassword},
	{"sqlldr ", slashedNames},
	{"expdp ", slashedNames},
	{"impdp ", slashedNames},
	{"rman target ", slashedNames},
	{"fndcpass ", slashedNames},
	{"> conn ", slashedNames},
	{"> connect ", slashedNames},
	{"nickserv", nickserv},
	{"createuser ", protocolPasswords},
	{"snmp-server user ", protocolPasswords},
	{"acl setuser ", aclPasswords},
	{"set password ", directive},
	{"set passwd ", directive},
	{"set psksecret ", directive},
	{" enc ", sealedDirective},
	{"neighbor ", neighborPassword},
	{"isakmp key ", encodedKey},
	{"-server key ", encodedKey},
	{"input password", typedInto},
	{"convertto-securestring", pipedLiteral},
	{".unprotect", protectedSheet},
	{".protect", protectedSheet},
	{"twilio", accountToken},
}

// passwordFlag returns the action that finds the value of a flag. With spaced,
// blanks may separate the two; without it, the value directly follows the flag.
func passwordFlag(name string, spaced bool) action {
	return func(sc *scan, _, end int) {
		at := sc.flag(end, name)
		if at == 0 {
			return
		}
		if spaced {
			at = skipBlanks(sc.s, at)
		}
		sc.argument(at)
	}
}

// curl finds the password of: curl -u name:password, --user name:password.
func (sc *scan) curl(start, end int) {
	if start > 0 && isAlnum(sc.s[start-1]) && !escaped(sc.s, start) {
		return
	}
	for _, name := range [...]string{" -u", " --user"} {
		at := sc.flag(end, name)
		if at == 0 || at >= len(sc.s) {
			continue
		}
		if sc.s[at] == '=' {
			at++
		}
		sc.pair(skipBlanks(sc.s, at))
	}
}

// maxCommand is the maximum number of bytes after a command that are searched
// for its flags.
const maxCommand = 1 << 10

// flag returns the start of a flag's value in the command whose name ends at
// end, 0 if the flag is missing. A backslash at the end of a line continues the
// command.
func (sc *scan) flag(end int, name string) int {
	line := sc.s[end:commandEnd(sc.s, end)]
	sc.spend(2 * len(line))
	for from := 0; ; {
		i := strings.Index(line[from:], name)
		if i < 0 {
			return 0
		}
		from += i + len(name)
		if name != " -u" && name != " --user" || from < len(line) && (isBlank(line[from]) || line[from] == '=' || isQuote(line[from])) {
			return end + from
		}
	}
}

// commandEnd returns the end of the command that continues at i.
func commandEnd(s string, i int) int {
	limit := min(len(s), i+maxCommand)
	for ; i < limit; i++ {
		switch s[i] {
		case ';', '|':
			return i
		case '\n':
			if s[i-1] != '\\' {
				return i
			}
		}
	}
	return limit
}

// argument adds the argument at i if it is a password.
func (sc *scan) argument(i int) {
	s := sc.s
	a := assignment{s: s, to: i, op: opFlag, start: i}
	if i >= len(s) || isBlank(s[i]) || s[i] == '-' || !a.readValue() {
		return
	}
	a.val.env = true
	if a.val.secret(password) {
		sc.add(a.start, a.end, commandRule)
	}
}

// pair adds the password if the argument at i is name:password.
func (sc *scan) pair(i int) {
	sc.pairBy(i, ":")
}

// hasQuoted reports whether sep and a quote are at i.
func hasQuoted(s string, i int, sep string) bool {
	return strings.HasPrefix(s[i:], sep) && i+len(sep) < len(s) && isQuote(s[i+len(sep)])
}

// pairBy adds the password if the argument at i is a name and a password with
// sep between them.
func (sc *scan) pairBy(i int, sep string) {
	if from := run(sc.s, i, maxName, isNameByte); from > i && hasQuoted(sc.s, from, sep) {
		sc.argument(from + len(sep)) // bob:'…'
		return
	}
	a := assignment{s: sc.s, to: i, op: opFlag, start: i}
	if i >= len(sc.s) || !a.readValue() {
		return
	}
	name, pass, both := strings.Cut(a.val.text, sep)
	if !both || name == "" && pass == "" {
		return
	}
	from := a.start + len(name) + 1
	if pass == "" { // the name is a key, and the password is empty
		pass, from = name, a.start
		if !looksRandom(name) {
			return
		}
	}
	pass = strings.Trim(pass, `"'`)
	from += strings.Index(sc.s[from:a.end], pass)
	v := value{text: dropPlaceholders(pass), env: true}
	if len(v.text) >= 3 && !isStandIn(v.text) && !isReference(v.text) && v.password() {
		sc.add(from, from+len(pass), commandRule)
	}
}
