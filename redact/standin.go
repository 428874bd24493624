package redact

import "strings"

// isStandIn reports whether s is written in place of a secret: asterisks, xxxx,
// your-key-here, changeme, "string".
func isStandIn(s string) bool {
	if run(s, 0, len(s), isFill) == len(s) || distinct(s) == 1 || commonWord(s) {
		return true
	}
	if len(s) > 80 {
		return isFilled(s)
	}
	var buf [80]byte
	for i := range len(s) {
		buf[i] = lower(s[i])
	}
	t := string(buf[:len(s)])
	for _, mark := range standInMarks {
		if strings.Contains(t, mark) {
			return !hasRandomPart(s)
		}
	}
	return strings.HasSuffix(t, "example") || strings.HasSuffix(t, "examplekey") || strings.HasPrefix(t, "xxx") || strings.HasSuffix(t, "xxxx") || strings.HasPrefix(t, "***") || strings.HasSuffix(t, "***") || strings.HasSuffix(t, "...") || strings.HasPrefix(t, "...")
}

// hasRandomPart reports whether a generator made one of the words of s: a
// stand-in has no such word.
func hasRandomPart(s string) bool {
	for i := 0; i < len(s); {
		j := run(s, i, len(s), isAlnum)
		if isGenerated(s[i:j]) {
			return true
		}
		i = j + 1
	}
	return false
}

// isGenerated reports whether a word mixes digits and letters like generated
// text.
func isGenerated(w string) bool {
	p := profileOf(w)
	return len(w) >= 6 && (p.digits > 0 && p.upper > 0 && p.lower > 0 && p.turns*3 >= len(w) && !isTechnical(w) ||
		p.digits > 1 && p.letters > 1 && p.turns*2 >= len(w))
}

// isUsedStandIn reports whether s is a stand-in with a number, which may be used as a
// password: changeme123.
func isUsedStandIn(s string) bool {
	p := profileOf(s)
	return p.digits > 0 && p.lower > 0 && p.digits+p.letters == len(s) && isNumbered(s) && isStandIn(strings.TrimRight(s, "0123456789"))
}

// isFill reports whether c is a character that people fill forms with.
func isFill(c byte) bool { return strings.IndexByte("xX*.-_#0?", c) >= 0 }

var standInMarks = []string{
	"your_", "your-", "yourapi", "yourpass", "yoursecret", "yourtoken", "yourkey", "<your", "my_secret", "placeholder", "changeme", "change_me", "change-me", "replace_me", "replace-me", "replaceme", "insert_", "insert-", "redacted", "_here", "-here", "example_key", "example-key", "xxxxxx", "******", "……", "••••", "not_a_real", "dummy_", "dummy-", "todo",
}

// commonWord reports whether s is a word that follows a telling name in
// schemas, forms and code, and is not a secret.
func commonWord(s string) bool {
	if len(s) > 16 {
		return false
	}
	var buf [16]byte
	for i := range len(s) {
		buf[i] = lower(s[i])
	}
	switch string(buf[:len(s)]) {
	case "true", "false", "null", "none", "nil", "undefined", "yes", "no", "on", "off", "string", "str", "number", "int", "integer", "boolean", "bool", "bytes", "byte", "object", "any", "text", "unknown", "void", "never",
		"required", "optional", "default", "empty", "missing", "invalid", "valid", "wrong", "incorrect", "hidden", "masked", "secret", "secrets", "password", "passwords", "passwd", "passphrase", "token", "tokens", "apikey", "api_key", "api-key", "key", "keys", "value", "credential", "credentials",
		"bearer", "basic", "digest", "auth", "oauth", "oauth2", "jwt", "inherit", "include", "omit", "same-origin", "stdin", "prompt", "input", "env", "vault", "file", "current-password", "new-password", "username", "user", "email", "self", "this", "function", "async", "await", "const", "return", "type", "example", "sample", "tbd", "n/a", "secretstr", "redacted", "changeit", "userpassword", "internal", "plain", "plaintext", "passwort", "kennwort", "wachtwoord", "contrasena", "contraseña", "senha", "parola", "passord", "lösenord", "heslo", "salasana", "installed", "varchar", "char", "encrypted", "hashed", "disabled", "enabled", "session", "cookie", "header", "query", "body", "path", "form", "write", "read", "admin:org", "authentication", "authorization", "description", "expired", "refresh", "access", "private", "public":
		return true
	}
	return false
}

// isReference reports whether s refers to a secret that is stored elsewhere: a
// variable, a template, a path, an address.
func isReference(s string) bool {
	if len(s) < 2 {
		return false
	}
	switch s[0] {
	case '$':
		if isDigit(s[1]) && len(s) > 2 && isBlank(s[2]) {
			return true // a field of awk
		}
		if s[1] == '{' && strings.IndexByte(s, '}') < 0 && isGenerated(s[2:]) {
			return false
		}
		return (s[1] == '{' || s[1] == '(' || s[1] == '$' || isLetter(s[1]) && !isGenerated(s[1:]) || s[1] == '_') && !hashLike(s)
	case '<':
		return strings.IndexByte(s, '>') > 0 || isLetter(s[min(1, len(s)-1)])
	case '{':
		return s[1] == '{' || s[1] == '%' || closedName(s, '}')
	case '[':
		return true
	case '%':
		return len(s) < 4 || s[1] == '(' || s[1] == '{' || s[len(s)-1] == '%'
	case '#':
		return s[1] == '{' || (len(s) == 4 || len(s) == 7 || len(s) == 9) && run(s, 1, 8, isHex) == len(s)
	case '!':
		return isIdentifier(s[1:])
	case '@':
		return s[1] == '{' || isIdentifier(s[1:]) || strings.HasPrefix(s, "@keychain:") || strings.HasPrefix(s, "@env:") || len(s) > 3 && (s[1] == '/' || s[1] == '~' && s[2] == '/') && isTestPath(s[2:])
	case '/':
		return strings.Count(s, "/") > 1 && !strings.ContainsAny(s, "+=") && !looksRandom(s) || isIdentifier(s[1:])
	case '.', '~':
		return len(s) > 1 && s[1] == '/' || strings.HasPrefix(s, "../")
	case '-':
		return s[1] == '-'
	case '&', '*':
		return isIdentifier(s[1:]) || isLetter(s[1]) && (isTechnical(s[1:]) || isTypeName(s[1:]))
	}
	return namesStore(s) || strings.HasPrefix(s, "www.") && strings.Count(s, ".") > 1 && !hasRandomPart(s) || isPattern(s) || isFieldTag(s) || len(s) > 2 && isLetter(s[0]) && s[1] == ':' && (s[2] == '\\' || s[2] == '/')
}

// isTypeName reports whether s is the name of a type in a program, with one digit in its middle:
// oauth2.Token, RecaptchaV1Properties.
func isTypeName(s string) bool {
	i := strings.IndexAny(s, "0123456789")
	return i > 0 && i+1 < len(s) && !isDigit(s[len(s)-1]) && isIdentifier(s[:i]+s[i+1:]) && strings.IndexByte(s, '-') < 0 && !isGenerated(s) && !isMadeUp(s)
}

// isPattern reports whether s is part of a regular expression.
func isPattern(s string) bool {
	for _, mark := range [...]string{"[a-z", "[A-Z", "[0-9", "[^", "(?:", "(?i"} {
		if strings.Contains(s, mark) {
			return true
		}
	}
	if strings.Contains(s, "/*/") {
		return true
	}
	if (strings.Contains(s, ".*") || strings.Contains(s, ".+")) && !isGenerated(s) {
		return true
	}
	for i := 0; i+2 < len(s); i++ {
		if s[i] == '\\' && strings.IndexByte("swdSWDb", s[i+1]) >= 0 && strings.IndexByte("+*?{])", s[i+2]) >= 0 {
			return true
		}
	}
	return false
}

// hashLike recognizes crypt hashes, $2b$12$…, which are not references.
func hashLike(s string) bool { return strings.Count(s, "$") >= 3 }

// closedName recognizes {name} and {name:format}.
func closedName(s string, end byte) bool {
	return s[len(s)-1] == end && strings.IndexByte(s, ' ') < 0 && strings.Count(s, "{") == 1 && !(len(s) > 30 && looksRandom(s[1:len(s)-1]) && strings.ContainsAny(s, "+/="))
}

var stores = []string{
	"process.env", "os.environ", "os.getenv", "os.Getenv", "import.meta", "System.getenv", "ENV[", "env.", "env(", "env:", "ENV.", "env[", "getenv", "secrets.", "secret.", "vault:", "vault.", "ssm:", "sops:", "ENC[", "arn:", "file:", "op://", "http://", "https://", "data:", "projects/", "self.", "this.", "config.", "settings.", "options.", "args.", "req.", "request.", "var.", "local.", "module.", "Deno.env", "Bun.env", "st.secrets", "keyring", "std::env", "!Ref", "!Sub", "!GetAtt", "encrypted:", "C:\\",
}

// namesStore reports whether s begins like a look-up or an address.
func namesStore(s string) bool { return hasPrefix(s, stores) }

func hasPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// isCode reports whether s, a value without quotes, is an expression.
func isCode(s string) bool {
	if s[0] == '(' || s[0] == '{' && !strings.HasSuffix(s, "}}") {
		return true
	}
	if strings.Count(s, ":") > 3 && strings.HasPrefix(s, "x:") {
		return true // a line of /etc/passwd
	}
	if open := strings.IndexAny(s, "(["); open > 0 && isPath(s[:open]) && !isDigit(s[0]) && isArgument(s[open+1:]) {
		return strings.ContainsAny(s[open:], ")]") || !isNoise(s)
	}
	if open := strings.IndexByte(s, '<'); open > 0 && isPath(s[:open]) {
		return true
	}
	if open := strings.IndexByte(s, '{'); open > 0 && (isMember(strings.TrimLeft(s[:open], "&*")) || s[0] == '&' && isIdentifier(s[1:open])) {
		return true // oauth2.Token{
	}
	return isMember(s) || isNonNull(s) || strings.HasPrefix(s, "await") || strings.HasPrefix(s, "new ") || strings.Contains(s, "=>") || strings.Contains(s, "::") || strings.HasSuffix(s, "(") || strings.HasSuffix(s, "?.")
}

// isNonNull reports whether s is a type of GraphQL that is never null.
func isNonNull(s string) bool {
	switch s {
	case "String!", "ID!", "Int!", "Float!", "Boolean!":
		return true
	}
	return false
}

// isArgument reports whether s can follow the opening bracket of a call.
func isArgument(s string) bool {
	if s == "" || isDigit(s[0]) {
		i := run(s, 0, len(s), isDigit)
		return i == len(s) || !isLetter(s[i]) || isHex(s[i]) || strings.IndexByte("lLuUnxo", s[i]) >= 0
	}
	return strings.IndexByte("=?#%,;|", s[0]) < 0
}

// isNoise reports whether s has a digit, and letters in an order that no name has.
func isNoise(s string) bool { return profileOf(s).digits > 0 && isGibberish(s, 10) }

// isQuotedCode reports whether s, a value in quotes, interpolates an
// expression, so that the secret is elsewhere.
func isQuotedCode(s string) bool {
	if strings.HasPrefix(s, "{{") && strings.Contains(s, "}}") {
		return true
	}
	_, rest, _ := strings.Cut(s, "${")
	expr, _, closed := strings.Cut(rest, "}")
	return closed && expr != "" && (isLetter(expr[0]) || expr[0] == '_' || expr[0] == ' ') && strings.Count(expr, "(") == strings.Count(expr, ")") && strings.Count(expr, "[") == strings.Count(expr, "]")
}

// isPath reports whether s is a name, or names joined by dots and arrows.
func isPath(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isWord(c) && c != '.' && c != '$' && c != '?' && c != '!' && c != '-' && c != '>' && c != '&' && c != '*' {
			return false
		}
	}
	return len(s) > 0
}

// isMember recognizes a.b and a.b.c: names joined by dots, the first a word.
func isMember(s string) bool {
	dot := strings.IndexByte(s, '.')
	if dot <= 0 || dot == len(s)-1 || !isPath(s) || isDigit(s[0]) || isNoise(s) {
		return false
	}
	for part := range strings.SplitSeq(s, ".") {
		if n := run(part, 0, len(part), isDigit); n > 0 && n < len(part) {
			return false // no name begins with a digit
		}
		if strings.ContainsAny(strings.Trim(part, "*&!?"), "*&!?") {
			return false // operators stand around a name
		}
		if p := profileOf(part); len(part) == 0 || (len(part) > 32 || p.digits > 2) && !isTechnical(part) && !(isWords(part) && strings.IndexByte(part, '-') < 0) || len(part) > 32 && isGibberish(part, 10) {
			return false
		}
	}
	return true
}
