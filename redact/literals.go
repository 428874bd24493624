package redact

import "strings"

// A call shows by its name what its literals are for: login("bob", "VALUE"),
// AES.new(b"VALUE"). The index of the secret differs from library to library, so that every
// literal is examined by its form.

// calls lists the words of functions that take credentials or keys. find reports whether
// a literal argument is a credential or a key.
var calls = []struct {
	word string
	find func(sc *scan, l literalArgument) bool
}{
	{"login(", credentialArgument}, {"logon(", credentialArgument}, {"signin(", credentialArgument}, {"sign_in(", credentialArgument},
	{"authenticate(", credentialArgument}, {"auth(", credentialArgument}, {"credentials(", credentialArgument}, {"credential(", credentialArgument},
	{"authentication(", credentialArgument}, {"_pw_set(", credentialArgument}, {"setcredentials(", credentialArgument},
	{"connect(", lateArgument}, {"connection(", lateArgument}, {"scrypt", keyArgument}, {".start(", lateArgument}, {"bind(", lateArgument}, {"ftp(", lateArgument}, {"open(", lateArgument}, {"create(", lateArgument}, {"database(", lateArgument}, {"encryptor", keyArgument}, {"b64decode(", decodedKey}, {"unhexlify(", decodedKey}, {"fromhex(", decodedKey}, {"dial(", lateArgument},
	{"b64encode(", pairArgument}, {"buffer(", pairArgument}, {"buffer.from(", pairArgument}, {"btoa(", pairArgument},
	{"aes", keyArgument}, {"hmac", keyArgument}, {"cipher", keyArgument}, {"fernet", keyArgument}, {"secretbox", keyArgument}, {"secretkeyspec", keyArgument},
	{"from_slice(", keyArgument}, {"utf8.parse(", keyArgument}, {"serializer(", keyArgument}, {"cookieparser(", keyArgument}, {"pbkdf2", keyArgument}, {"hs256", keyArgument},
	{"encrypt(", lateKeyArgument}, {"decrypt(", lateKeyArgument}, {"jwt.", lateKeyArgument},
}

// literalArgument is a literal among the arguments of a call.
type literalArgument struct {
	text  string
	at    int    // the start of the call
	index int    // the number of literals before it
	call  string // the arguments before it
}

const (
	maxCallee    = 40  // bytes between a word and the bracket of its call
	maxArguments = 240 // bytes of arguments that are searched for literals
)

// calling returns the action that examines the literals of a call.
func calling(find func(sc *scan, l literalArgument) bool) action {
	return func(sc *scan, _, end int) {
		s := sc.s
		if s[end-1] != '(' {
			if end = openingBracket(s, end); end == 0 {
				return
			}
		}
		limit := min(len(s), end+maxArguments)
		sc.spend(maxCallee)
		for i, depth, n := end, 0, 0; i < limit; i++ {
			switch c := s[i]; {
			case c == '(':
				depth++
			case c == ')':
				if depth--; depth < 0 {
					return
				}
			case c == '\n' && depth == 0 && i > end && s[i-1] != ',' && s[i-1] != '(', c == ';':
				return
			case isQuote(c):
				if isLetter(s[i-1]) && i > 1 && isLetter(s[i-2]) && isWord(s[max(0, i-3)]) {
					return // an apostrophe
				}
				to := closeQuote(s, i+1, c, slashesBefore(s, i))
				sc.spend(4 * (to - i))
				if text := s[i+1 : min(to, len(s))]; len(text) >= 6 && len(text) <= maxContext && !hasPlaceholder(text) && find(sc, literalArgument{text, end, n, s[end:i]}) {
					from := i + 1
					if pair := strings.IndexByte(text, ':'); pair > 0 && isCredential(text[pair+1:]) {
						from += pair + 1
					}
					sc.add(from, to, callRule)
				}
				n++
				i = to + slashesBefore(s, i)
			}
		}
	}
}

var callRule = &rule{id: "call", kind: "password"}

// slashesBefore counts the backslashes before i.
func slashesBefore(s string, i int) int {
	n := 0
	for n < 4 && i-n > 0 && s[i-n-1] == '\\' {
		n++
	}
	return n
}

// openingBracket skips the rest of a name, with the arguments of its type, and the bracket
// after it. It returns 0 if there is no bracket.
func openingBracket(s string, i int) int {
	end := run(s, i, maxCallee, func(c byte) bool { return isWord(c) || strings.IndexByte(".:<>_", c) >= 0 })
	if end+1 >= len(s) || s[end] != '(' {
		return 0
	}
	return end + 1
}

// credentialArgument accepts a password after the name of a user, or as the only argument.
func credentialArgument(_ *scan, l literalArgument) bool {
	if strings.HasSuffix(strings.TrimRight(l.call, " "), "=") || endsFold(strings.TrimRight(l.call, `"'`), "getenv(") {
		return false // the name of the argument says what it is, or the literal names a variable
	}
	if l.index == 0 && !strings.Contains(l.call, ",") {
		return isCredential(l.text)
	}
	a := assignment{val: value{text: l.text, quoted: true}}
	return strings.IndexByte(l.text, ' ') < 0 && !isCounted(l.text) && !strings.ContainsAny(l.text, "/:") && !isAddress(l.text) && a.isChosen()
}

// lateArgument accepts a literal that can only be a password, after another literal.
func lateArgument(_ *scan, l literalArgument) bool {
	return l.index > 0 && isCredential(l.text) && !followsID(l.call)
}

// pairArgument accepts a name and a password.
func pairArgument(_ *scan, l literalArgument) bool {
	name, pass, found := strings.Cut(l.text, ":")
	return found && name != "" && isNameLike(name) && isCredential(pass)
}

// keyArgument accepts a key, or the password of which a key is made.
func keyArgument(_ *scan, l literalArgument) bool {
	t := l.text
	return !isTechnical(t) && !isStandIn(t) && !namesAlgorithm(t) && (looksRandom(t) || isDigest(t) && !strings.HasPrefix(t, "sha") || isCredential(t) || len(t)%8 == 0 && len(t) >= 16 && isMadeUp(t)) && !hasUUID(t)
}

// decodedKey is keyArgument for a literal in another encoding, if the line is about a key.
func decodedKey(sc *scan, l literalArgument) bool {
	if !keyArgument(sc, l) && !looksRandom(strings.TrimRight(l.text, "=")) {
		return false
	}
	head := strings.ToLower(lineHead(sc.s, l.at))
	return strings.Contains(head, "key") && !strings.Contains(head, "pub") || strings.Contains(head, "secret")
}

// lateKeyArgument is keyArgument for calls whose first argument is a text.
func lateKeyArgument(sc *scan, l literalArgument) bool {
	return strings.IndexByte(l.call, ',') >= 0 && keyArgument(sc, l)
}

// isCredential reports whether t has the form of a password, and of nothing else that
// people and programs write: it mixes letters and digits, and is no path, version, name
// of a program, address or number.
func isCredential(t string) bool {
	p := profileOf(t)
	if len(t) < 8 || len(t) > 128 || p.letters < 3 || p.digits == 0 || p.blanks+p.foreign > 0 || strings.ContainsAny(t, "/\\:,;=()[]{}<>|\"'`") {
		return false
	}
	if isDigest(t) || hasUUID(t) || isAccount(t) || isPointer(t) || isAddress(t) || isVersion(t) || isMember(t) || isTechnical(t) || isStandIn(t) || isReference(t) || isCounted(t) || namesAlgorithm(t) || isPodName(t) || isFigure(t) {
		return false
	}
	if strings.Contains(t, "%3A") || strings.Contains(t, "%3a") || strings.Contains(t, "%20") || strings.Contains(t, "%2F") {
		return false // a text in a URL
	}
	if strings.IndexByte(t, '.') >= 0 && p.symbols == 0 && !isGenerated(t) {
		return false // the name of a file
	}
	if head := run(t, 0, 8, isLetter); head < len(t) && t[head] == '_' && p.symbols == 0 && isGenerated(t[head+1:]) {
		return false // the id of an object
	}
	if isUnmistakable(t, password) && (p.symbols > 0 || p.upper > 0 && otherDigits(t) > 1) {
		return true
	}
	return p.upper > 0 && p.lower > 0 && p.joints <= 1 && (otherDigits(t) > 1 && isDigitTail(t) || p.symbols > 0 && p.letters > 3)
}

// isCounted is isNumbered, except that it rejects two words of which only the second begins with
// a capital letter, because names in programs do not have this form: jungle-Pepper21.
func isCounted(t string) bool {
	p := profileOf(t)
	return isNumbered(t) && !(isLower(t[0]) && p.upper == 1 && p.joints == 1)
}

// namesAlgorithm reports whether t has the name of an algorithm in capitals: ECDHOnP256,
// PBES2-HS256+A128KW.
func namesAlgorithm(t string) bool {
	for _, name := range [...]string{"AES", "RSA", "SHA", "ECDH", "ECDSA", "GCM", "CBC", "HMAC", "PBES", "PKCS", "OAEP", "HS256", "RS256", "ES256", "P256", "P384", "RC2"} {
		if strings.Contains(t, name) {
			return true
		}
	}
	return false
}

// otherDigits counts the digits of t that are not part of words like base64.
func otherDigits(t string) int {
	n := 0
	for i := 0; i < len(t); i++ {
		if !isDigit(t[i]) {
			continue
		}
		from, end := i, run(t, i, len(t), isDigit)
		for from > 0 && isLetter(t[from-1]) {
			from--
		}
		if !technicalWord(t[from:i]) {
			n += end - i
		}
		i = end
	}
	return n
}

// isDigitTail reports whether the digits of t are as in a password (Walnut3579!, gran57Yonder):
// they are in several places, or are a number of two or more digits that is neither a year nor a
// size such as 64.
func isDigitTail(t string) bool {
	from := strings.IndexAny(t, "0123456789")
	to := run(t, from, len(t), isDigit)
	if strings.ContainsAny(t[to:], "0123456789") {
		return true
	}
	n := t[from:to]
	return len(n) > 1 && !(len(n) == 4 && (n[:2] == "20" || n[:2] == "19")) && n != "64" && n != "32" && n != "16" && n != "128" && n != "256"
}

// isAddress reports whether t is an address of mail, or a handle with a server.
func isAddress(t string) bool {
	_, host, found := strings.Cut(t, "@")
	dot := strings.LastIndexByte(host, '.')
	return found && dot > 0 && dot < len(host)-1 && run(host, dot+1, len(host), isLetter) == len(host)
}

// onCalls adds the words of calls to a vocabulary.
func onCalls(b *vocabularyBuilder) {
	for _, c := range calls {
		b.on(c.word, calling(c.find))
	}
}
