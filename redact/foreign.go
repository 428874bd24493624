package redact

import "strings"

// foreignNames lists words for a password in languages other than English, which
// assign does not recognize as names. Letters beyond ASCII at their beginning and end
// are omitted: each byte that no other word has makes the automaton larger.
var foreignNames = []string{"密码", "密碼", "口令", "パスワード", "비밀번호", "пароль", "Пароль", "contraseña", "mot de passe", "kennwort", "senha", "wachtwoord", "heslo", "senord", "adgangskode", "passord", "ifre", "parola", "salasana", "jelsz", "hasło", "contrasenya", "palavra-passe", "kata sandi", "zaporka", "parool"}

// foreign finds a password after its name in another language.
func (sc *scan) foreign(start, end int) {
	a := assignment{s: sc.s, name: "password", from: start, to: end, op: opColon}
	i := skipBlanks(sc.s, a.closeName(end))
	i = passAny(sc.s, i, "：", ":", "=", "是", "为", "為", "は", "은", "는", "es ", "est ", "é ", "ist ")
	if i < 0 {
		if i = foreignColon(sc.s, end); i < 0 {
			i = predicate(sc.s, end)
		}
		if i < 0 {
			return
		}
		a.told = true
	}
	a.start = skipBlanks(sc.s, passQuotes(sc.s, i, 0, false))
	if a.readValue() && (!a.told || a.proseValue()) && a.val.secret(password) {
		sc.add(a.start, a.end, passwordRule)
	}
}

// foreignColon returns the index after the colon that follows the ending of a name and
// the words about it: "от сервера: VALUE". It returns -1 if there is none.
func foreignColon(s string, i int) int {
	to := min(len(s), i+48)
	colon := strings.Index(s[i:to], ": ")
	if colon < 0 || strings.ContainsAny(s[i:i+colon], ".,;!?()[]{}<>=\"'`\n0123456789") {
		return -1
	}
	for k := i; k < i+colon; k++ {
		if s[k] >= 0xe0 {
			return -1 // neither Latin nor Cyrillic
		}
	}
	return i + colon + 2
}

// passAny returns the index after the first of the texts that is at i, -1 if no text is
// at i.
func passAny(s string, i int, texts ...string) int {
	for _, t := range texts {
		if strings.HasPrefix(s[min(i, len(s)):], t) {
			return i + len(t)
		}
	}
	return -1
}
