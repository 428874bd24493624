package redact

import "strings"

// foreignNames lists words for secrets in other languages than English, which assign does not
// recognize as names, under the English name that they stand for. Capital letters beyond ASCII at
// the beginning of a word are omitted, and so are endings.
var foreignNames = []struct {
	name  string
	words []string
}{
	{"password", []string{
		"密码", "密碼", "口令", "パスワード", "パスフレーズ", "暗証番号", "비밀번호", "패스워드", "암호", "ароль", "арола", "ωδικός", "ωδικό ", "υνθηματικό",
		"كلمة المرور", "كلمة السر", "كلمة مرور", "الرقم السري", "رمز عبور", "گذرواژه", "סיסמ", "पासवर्ड", "পাসওয়ার্ড", "รหัสผ่าน", "mật khẩu",
		"contraseña", "mot de passe", "mots de passe", "code secret", "kennwort", "senha", "wachtwoord", "heslo", "senord", "adgangskode", "passord", "şifre", "Şifre", "parola", "parolă", "parola d'ordine", "salasana", "jelsz",
		"hasło", "hasła", "contrasenya", "palavra-passe", "kata sandi", "zaporka", "lozinka", "slaptažodis", "parool", "clave de acceso", "zugangscode", "wlan-schlüssel", "clef wifi", "clé wifi", "パスは",
	}},
	{"api_token", []string{
		"令牌", "密钥", "密鑰", "秘钥", "私钥", "トークン", "秘密鍵", "apiキー", "アクセスキー", "シークレット", "토큰", "비밀 키", "비밀키", "api 키", "окен", "екретный ключ", "екретного ключа", "люч доступа", "люч api", "api-ключ", "люч_доступа",
		"رمز الوصول", "المفتاح السري", "אסימון", "מפתח סודי", "टोकन", "clé secrète", "clé api", "clé d'api", "clé d'accès", "jeton d'accès", "clave secreta", "clave api", "clave de api", "chave secreta", "chave de api", "chave api", "chiave segreta", "chiave api",
		"geheimer schlüssel", "geheimen schlüssel", "api-schlüssel", "zugangsschlüssel", "klucz api", "tajny klucz", "gizli anahtar", "erişim anahtarı",
	}},
}

// copulas lists the signs and words between a foreign name and its value.
var copulas = []string{"：", ":", "＝", "=", "是", "为", "為", "は", "은", "는", "es ", "est : ", "est ", "é ", "ist ", "je ", "är ", "er ", "jest ", "→", "—", "–"}

// foreign returns the action for a word that stands for a name.
func foreign(name string) action {
	return func(sc *scan, start, end int) {
		if isLetter(sc.s[start]) && start > 0 && isAlnum(sc.s[start-1]) && !escaped(sc.s, start) {
			return // the middle of another word
		}
		a := assignment{s: sc.s, name: name, from: start, op: opColon}
		a.from, a.to = wordAround(sc.s, start, end)
		if a.to > sc.headEnd && a.endsCell() {
			sc.column(&a)
		}
		if !sc.foreignValue(&a) && !sc.operated(a) {
			sc.foreignBeside(&a)
		}
	}
}

// wordAround widens a hit to the word, with its ending, in scripts that have blanks between
// words.
func wordAround(s string, start, end int) (from, to int) {
	least, most := max(0, start-maxName), min(len(s), end+maxName)
	for start > least && (s[start-1] >= 0xc3 && s[start-1] < 0xe0 || s[start-1] >= 0x80 && s[start-1] < 0xc0 && start > 1 && s[start-2] >= 0xc3 && s[start-2] < 0xe0) {
		start--
	}
	for end < most {
		switch c := s[end]; {
		case isLower(c) && s[end-1] < 0xe3 && isSpelled(s[start:end]):
			end++
		case c >= 0xc3 && c < 0xe0 && end+1 < len(s):
			end += 2
		case (c == 0xe0 || c == 0xe1) && end+2 < len(s):
			end += 3
		default:
			return start, end
		}
	}
	return start, end
}

// isSpelled reports whether s is written in letters, and not in the characters of East
// Asia.
func isSpelled(s string) bool { return s[0] < 0xe2 }

// foreignValue finds the value after an operator or a verb. It reports whether there is one.
func (sc *scan) foreignValue(a *assignment) bool {
	v := *a
	i := skipBlanks(sc.s, v.closeName(a.to))
	i = passAny(sc.s, i, copulas...)
	if i < 0 {
		if i = foreignColon(sc.s, a.to); i < 0 {
			i = predicate(sc.s, a.to)
		}
		if i < 0 {
			return false
		}
		v.told = true
	}
	v.start = skipBlanks(sc.s, passMarks(sc.s, passQuotes(sc.s, i, 0, false)))
	st := a.named()
	if v.readValue() && (!v.told || v.proseValue()) && v.val.secret(st) {
		sc.add(v.start, v.start+len(withoutMarks(v.val.text)), nameRule(a.name, st))
		return true
	}
	return false
}

// operated finds the value after an operator that also follows English names: in the next cell of
// a table, the next argument, or the text of an element.
func (sc *scan) operated(a assignment) bool {
	if a.to >= len(a.s) || strings.IndexByte(" \"'|<>,]):", a.s[a.to]) < 0 {
		return false
	}
	n := len(sc.found)
	if a.readOperator() && a.op != opProse {
		sc.assigned(a, a.strength())
	}
	return len(sc.found) > n
}

// foreignBeside finds a value that can only be a secret in the same line as a name.
func (sc *scan) foreignBeside(a *assignment) {
	s, st := a.s, a.named()
	from := a.from
	for least := max(0, from-maxClause/2); from > least && s[from-1] != '\n'; {
		from--
	}
	to := a.to + lineLength(s[a.to:min(len(s), a.to+maxClause)])
	sc.spend(2 * (to - from))
	for i := from; i < to; {
		end := run(s, i, to-i, func(c byte) bool { return c > ' ' && c < 0x80 })
		if at, stop := bareWord(s, i, end); stop-at >= 8 && isCredential(s[at:stop]) && (st == password || isGenerated(s[at:stop])) {
			sc.add(at, stop, nameRule(a.name, st))
			return
		}
		i = max(end, i+1)
	}
}

// marks lists the quotes beyond ASCII.
var marks = []string{"「", "『", "«", "»", "“", "”", "„", "‘", "’", "《", "【"}

// passMarks skips one of marks at i, with a blank after it.
func passMarks(s string, i int) int {
	if j := passAny(s, i, marks...); j > 0 {
		return skipBlanks(s, j)
	}
	return i
}

// withoutMarks cuts a value at the first byte beyond ASCII, if the value before it is long
// enough: such a byte is the punctuation, or the next word, of a script without blanks.
func withoutMarks(s string) string {
	for i := range len(s) {
		if s[i] >= 0x80 {
			if i >= 6 {
				return s[:i]
			}
			break
		}
	}
	return s
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

// onForeign adds the foreign names to a vocabulary.
func onForeign(b *vocabularyBuilder) {
	for _, f := range foreignNames {
		for _, w := range f.words {
			b.on(w, foreign(f.name))
		}
	}
}
