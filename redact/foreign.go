package redact

import "strings"

// foreignNames lists words for a password in languages other than English, which
// assign does not recognize as names.
var foreignNames = []string{"密码", "密碼", "口令", "パスワード", "비밀번호", "пароль", "Пароль", "contraseña", "mot de passe", "kennwort", "senha", "wachtwoord", "hasło", "heslo", "lösenord", "adgangskode", "passord", "şifre", "Şifre", "parola", "salasana", "jelszó", "mật khẩu"}

// foreign finds a password after its name in another language.
func (sc *scan) foreign(start, end int) {
	a := assignment{s: sc.s, name: "password", from: start, to: end, op: opColon}
	i := skipBlanks(sc.s, a.closeName(end))
	i = passAny(sc.s, i, "：", ":", "=", "是", "为", "為", "は", "은", "는", "es ", "est ", "é ", "ist ")
	if i < 0 {
		if i = predicate(sc.s, end); i < 0 {
			return
		}
		a.told = true
	}
	a.start = skipBlanks(sc.s, passQuotes(sc.s, i, 0, false))
	if a.readValue() && (!a.told || a.proseValue()) && a.val.secret(password) {
		sc.add(a.start, a.end, passwordRule)
	}
}

// passAny returns the index after the first of the texts that is at i, -1 if
// none is.
func passAny(s string, i int, texts ...string) int {
	for _, t := range texts {
		if strings.HasPrefix(s[min(i, len(s)):], t) {
			return i + len(t)
		}
	}
	return -1
}
