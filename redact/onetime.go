package redact

// oneTimeWords lists the words for a code of digits that gives access once, or to a door
// or a card.
var oneTimeWords = []string{"one-time code", "one-time password", "verification code", "security code", "passcode", "otp", "pin ", "pin code",
	"code du portail", "code de la porte", "code de l'alarme", "türcode", "torcode", "alarmcode",
	"código de la puerta", "código de la alarma", "codice del cancello", "codice dell'allarme"}

// oneTime finds the four to eight digits after such a word: "Your verification code is
// VALUE", "PIN for the door: VALUE".
func (sc *scan) oneTime(start, end int) {
	s := sc.s
	if start > 0 && isAlnum(s[start-1]) || s[end-1] == ' ' && s[start:end] != "PIN " {
		return // the pin of a connector
	}
	i := passAny(s, end, ": ", ":", " = ", "=")
	if i < 0 {
		i = predicate(s, end)
	}
	if i < 0 {
		i = foreignColon(s, end)
	}
	if i < 0 {
		return
	}
	if j := passAny(s, i, "le ", "el ", "il "); j > 0 {
		i = j // est le VALUE
	}
	from := passQuotes(s, i, 2, false)
	to := run(s, from, 9, isDigit)
	if to > from && to < len(s) && isUpper(s[to]) {
		to++ // the key of a keypad
	}
	if n := to - from; n < 4 || n > 8 || to < len(s) && (isWord(s[to]) || s[to] == '.' && to+1 < len(s) && isDigit(s[to+1])) || n == 4 && s[from] == '2' && s[from+1] == '0' {
		return
	}
	sc.add(from, to, passwordRule)
}

// authorizationCode finds the code with which a client gets its token, in the query of a
// redirect.
func (sc *scan) authorizationCode(_, end int) {
	to := run(sc.s, end, maxNeedle, func(c byte) bool { return isURLSafe(c) || c == '.' || c == '%' || c == '/' })
	if t := sc.s[end:to]; len(t) >= 20 && (looksRandom(t) || isDigest(t)) {
		sc.add(end, to, secretRule)
	}
}

// onCodes adds the words before codes to a vocabulary.
func onCodes(b *vocabularyBuilder) {
	for _, w := range oneTimeWords {
		b.on(w, (*scan).oneTime)
	}
	b.on("?code=", (*scan).authorizationCode)
	b.on("&code=", (*scan).authorizationCode)
	for _, name := range [...]string{"access", "ticket", "authcode", "magic", "invite"} {
		b.on("?"+name+"=", (*scan).authorizationCode)
		b.on("&"+name+"=", (*scan).authorizationCode)
	}
}
