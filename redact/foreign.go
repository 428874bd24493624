package redact

import "strings"

// foreignNames are words for a password in languages whose letters are no
// part of the names that assign reads.
var foreignNames = []string{"密码", "密碼", "口令", "パスワード", "비밀번호", "пароль", "Пароль", "contraseña", "mot de passe", "kennwort", "senha"}

// foreign looks for a password behind its name in another language.
func (sc *scan) foreign(start, end int) {
	a := assignment{s: sc.s, name: "password", from: start, to: end, op: opColon}
	i := skipBlanks(sc.s, a.closeName(end))
	i = passAny(sc.s, i, "：", ":", "=", "是", "为", "為", "は", "은", "는", "es ", "est ", "é ", "ist ")
	if i < 0 {
		return
	}
	a.start = skipBlanks(sc.s, passQuotes(sc.s, i, 0, false))
	if a.readValue() && a.val.secret(password) {
		sc.add(a.start, a.end, passwordRule)
	}
}

// passAny passes the first of the texts that stands at i; -1 if none does.
func passAny(s string, i int, texts ...string) int {
	for _, t := range texts {
		if strings.HasPrefix(s[min(i, len(s)):], t) {
			return i + len(t)
		}
	}
	return -1
}
