package redact

import "strings"

// value is the value of an assignment, with the form in which it was written.
type value struct {
	text   string
	quoted bool
	env    bool // NAME=value without blanks, as in a shell or a .env file
}

// secret is the filter on the values of telling names: it reports whether v
// is a secret rather than a type, a reference, a template or a word.
func (v value) secret(s strength) bool {
	v.text = dropPlaceholders(v.text)
	t := v.text
	switch {
	case v.quoted && isNoiseText(t):
		return true
	case s == weak && !looksRandom(t):
		return false // this applies to most values
	case len(t) < 4 || len(t) > maxValue, isStandIn(t) && !(s == password && isUsedStandIn(t)), isReference(t):
		return false
	case v.isPublic(s):
		return false
	case v.quoted && isLowerWord(t) && (strings.Contains(t, "fake") || strings.Contains(t, "dummy")):
		return false // a word that marks the value as fake
	case isProse(t) && !isPassphrase(t) && !isGibberish(t, 12), isNamedDigest(t):
		return false
	case !v.quoted && !v.env && commonWord(strings.TrimRight(t, "0123456789")):
		return false // password1 != password2
	case !v.quoted && !v.env && isCode(t) && !(s == password && isChosenPair(t)), v.quoted && isQuotedCode(t):
		return false
	}
	switch s {
	case password:
		return v.password()
	case telling:
		return v.telling()
	case weak:
		return !isPairOf(t) && !isEncodedText(t)
	}
	return false
}

const maxValue = 16 << 10

// judge returns the rule by which v is a secret under this name, nil if it is
// not a secret.
func (v value) judge(name string, s strength) *rule {
	if isSecretID(name) {
		if isUUID(v.text) {
			return weakSecretRule
		}
		return nil
	}
	if s == weak && v.isKeyDigest(name) {
		return weakKeyRule
	}
	if s == none || isSealedAWS(name, v.text) || isStageName(name) && !isGenerated(v.text) && !looksRandom(v.text) {
		return nil
	}
	if endsFold(name, "auth") && isEncodedPair(v.text) {
		return basicRule
	}
	if s == password && isEnvName(name) && v.isPhraseFor(name) {
		return passwordRule
	}
	if s == telling && (isSecretName(name) && isChosenWord(v.text) || v.quoted && isBareVerb(name) && (isChosenWord(v.text) || isWordAndYear(v.text))) {
		s = password // a person chose it
	}
	if !v.secret(s) && !(isAPIKey(name) && s == telling && (profileOf(v.text).digits > 0 || isMadeUp(v.text)) && v.secret(password)) {
		return nil
	}
	return nameRule(name, s)
}

// isSecretID reports whether a name is the name of a secret that Consul and Vault call an id.
// Only a UUID is such a secret. Any other value of that name is the name of a secret.
func isSecretID(name string) bool {
	return endsFold(name, "secretid") || endsFold(name, "secret_id") || endsFold(name, "secret-id")
}

// isKeyDigest reports whether v has the form of a digest, and the name is the name of a key for a
// service (TIDES_KEY=…) or "auth" in a call. It returns false for the keys of caches and content.
func (v value) isKeyDigest(name string) bool {
	if p := profileOf(v.text); len(v.text) == 16 && v.quoted && (name == "localKey" || name == "local_key") {
		return p.symbols > 1 && p.digits > 0 && p.upper > 0 && p.lower > 0 // of Tuya
	}
	if name == "validationKey" || name == "decryptionKey" {
		return v.quoted && isDigest(v.text) // of ASP.NET
	}
	if len(v.text) < 32 || !isDigest(v.text) || v.text[0] == 's' {
		return false
	}
	if strings.EqualFold(name, "auth") {
		return v.quoted
	}
	if !isEnvName(name) || !endsFold(name, "_key") {
		return false
	}
	var w nameWords
	w.split(name)
	return w.n == 2 && !publicName(w.at(0)) && !namesContent(w.at(0))
}

// namesContent reports whether a word before "key" makes it the key of some content, which may
// be its digest.
func namesContent(word []byte) bool {
	switch string(word) {
	case "build", "commit", "content", "file", "files", "image", "layer", "checksum", "hash", "digest", "lock", "dedup", "state", "record", "index", "group", "data", "artifact", "git", "blob", "node", "test", "request", "trace", "message", "event", "idempotency", "lookup", "storage", "s3", "bucket", "job", "task", "run", "shard", "tree", "dep", "deps", "pip", "npm", "yarn", "ccache", "restore", "ci", "tag", "ref", "docker", "tls", "pk", "ssh", "gpg", "pgp", "host", "id", "key", "natural", "surrogate", "join", "map":
		return true
	}
	return false
}

// isNoiseText reports whether s is a long random string of all printable characters, as
// WordPress makes them.
func isNoiseText(s string) bool {
	if len(s) < 48 || len(s) > 128 {
		return false
	}
	p := profileOf(s)
	if p.symbols*5 < len(s) || p.digits < 2 || p.upper < 3 || p.lower < 3 || p.blanks > 5 || p.foreign > 0 || distinct(s) < 28 || strings.Contains(s, "${") || strings.Contains(s, "{{") {
		return false
	}
	for i, n := 0, 0; i < len(s); i++ {
		if n++; !isLower(s[i]) {
			n = 0
		}
		if n > 4 {
			return false // a word
		}
	}
	return true
}

// isSecretName reports whether a name ends in "secret" or "token", but not in "public_token".
func isSecretName(name string) bool {
	return (endsFold(name, "secret") || endsFold(name, "token")) && !endsFold(name, "public_token")
}

// isChosenWord reports whether s is one or two words and a number, as people choose
// passwords: Espresso2006, quietHarbor57. Names of a program have shorter numbers, and
// words such as "token" or "test".
func isChosenWord(s string) bool {
	p := profileOf(s)
	if p.digits < 2 || p.letters < 6 || p.upper == 0 || p.lower == 0 || p.joints > 1 || p.blanks+p.foreign > 0 || p.symbols > 1 || !isLetter(s[0]) || isTechnical(s) || isReference(s) || isStandIn(s) {
		return false
	}
	var w nameWords
	w.split(s)
	for i := range w.n {
		if word := strings.TrimRight(string(w.at(i)), "0123456789"); isNameWord(word) || wordStrength([]byte(word), nil, true) > none {
			return false
		}
	}
	return isDigit(s[len(s)-1]) && run(strings.TrimRight(s, "0123456789"), 0, len(s), func(c byte) bool { return !isDigit(c) }) == len(strings.TrimRight(s, "0123456789"))
}

// isChosenPair reports whether s is two words with a dot between them, and a number at the end,
// as people choose passwords: Cobalt.Thistle36. A member of a program has words such as "config"
// or "password", or ends like Int32.
func isChosenPair(s string) bool {
	first, second, found := strings.Cut(s, ".")
	word := strings.TrimRight(second, "0123456789")
	if n := len(second) - len(word); !found || n == 0 || len(first) < 4 || len(word) < 4 || n == 1 && !isUpper(word[len(word)-1]) || isTechnical(second) {
		return false
	}
	for _, w := range [...]string{first, word} {
		if run(w, 0, len(w), isLetter) < len(w) || isUpper(w[len(w)-1]) && !isUpper(w[0]) || profileOf(w).turns > 1 || isNameWord(w) || nameStrength(w) > none || describes([]byte(strings.ToLower(w))) {
			return false
		}
	}
	return true
}

// isWordAndYear reports whether s is six lower-case letters or more and a number of three or
// four digits. The passes of a compiler have shorter numbers.
func isWordAndYear(s string) bool {
	n := run(s, 0, len(s), isLower)
	return n >= 6 && len(s)-n >= 3 && len(s)-n <= 4 && run(s, n, 4, isDigit) == len(s)
}

// isAPIKey reports whether a name ends in "API key". A value with a digit is
// then a secret even if it is as short as a password.
func isAPIKey(name string) bool {
	return endsFold(name, "apikey") || endsFold(name, "api_key") || endsFold(name, "api-key")
}

// isSealedAWS recognizes an encrypted AWS secret key: it is longer than the 40
// characters of a plain one.
func isSealedAWS(name, s string) bool {
	return len(s) > 40 && s[len(s)-1] == '=' && endsFold(name, "aws_secret_access_key") && run(strings.TrimRight(s, "="), 0, len(s), isB64) >= len(s)-2
}

// password reports whether a person may have chosen v as a password.
func (v value) password() bool {
	p := profileOf(v.text)
	switch {
	case p.letters+p.digits < 3:
		return false
	case p.blanks > 0:
		return v.quoted && (p.digits > 0 && p.blanks < 6 && p.symbols > 0 || isPassphrase(v.text) || isGibberish(v.text, 12))
	case v.env:
		return !commonWord(v.text)
	case v.quoted:
		return p.digits > 0 || p.symbols > 0 || len(v.text) >= 6 && (p.upper == 0 || p.upper == 1 && isUpper(v.text[0])) && p.joints == 0 || isMadeUp(v.text)
	}
	return p.digits > 0 || p.symbols > 0 || isMadeUp(v.text)
}

// isMadeUp reports whether the letters of s show that it is neither a word nor
// a name.
func isMadeUp(s string) bool { return isGibberish(s, 8) || isPassphrase(s) || isMixedUp(s) }

// isMixedUp reports whether the case of the letters changes more irregularly
// than in any name.
func isMixedUp(s string) bool {
	p := profileOf(s)
	if p.letters != len(s) || len(s) < 8 || p.turns*3 < len(s) || p.turns < 4 {
		return false
	}
	for i := 1; i+2 < len(s); i++ { // aBBa: the words of a name are longer
		if isUpper(s[i]) && isUpper(s[i+1]) && isLower(s[i-1]) && isLower(s[i+2]) {
			return isGibberish(s, 8) || p.turns*5 >= len(s)*2
		}
	}
	return false
}

// telling reports whether v can't be an ordinary word.
func (v value) telling() bool {
	p := profileOf(v.text)
	switch {
	case len(v.text) < 6 || p.blanks > 0 && (p.digits == 0 || p.symbols == 0) && !(v.quoted && (isGibberish(v.text, 16) || p.upper == 0 && isPassphrase(v.text))):
		return false
	case p.digits == len(v.text):
		return false
	case p.digits > 0 && p.letters > 0:
		return !isNumbered(v.text) && !isTechnical(v.text) && !isWords(v.text)
	case p.letters == len(v.text) && p.lower > 0 && p.upper > 0:
		return len(v.text) >= 16 && p.turns*12 >= len(v.text)*5 || isGibberish(v.text, 12)
	case p.letters == len(v.text):
		return len(v.text) >= 20 || isGibberish(v.text, 12)
	case isPassphrase(v.text):
		return true
	}
	return p.symbols > 3 && len(v.text) >= 12
}
