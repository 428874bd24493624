package redact

import "strings"

// strength is how strongly the name of a value indicates a secret.
type strength uint8

const (
	none     strength = iota
	weak              // a key, a session, a signature: only a random value is a secret
	telling           // an API key, a token, a secret: a value that is not a word is a secret
	password          // a password: almost any value is a secret
)

const (
	maxName  = 64
	maxWords = 12
)

// nameWords holds the words of a name like DB_PASSWORD, client-secret or
// apiKey2, in lower case.
type nameWords struct {
	buf  [maxName]byte
	from [maxWords + 1]uint8
	n    int
}

// split cuts a name at separators and at changes of case. Only the last maxName
// bytes count: the meaning of a name is at its end.
func (w *nameWords) split(name string) {
	if len(name) > maxName {
		name = name[len(name)-maxName:]
	}
	w.n = 0
	at, open := 0, false
	for i := range len(name) {
		c := name[i]
		if !isAlnum(c) {
			open = false
			continue
		}
		if open && startsWord(name, i) {
			open = false
		}
		if !open {
			if w.n == maxWords {
				break
			}
			w.from[w.n] = uint8(at)
			w.n++
			open = true
		}
		w.buf[at] = lower(c)
		at++
	}
	w.from[w.n] = uint8(at)
}

// startsWord reports whether a change of case at i begins a word: aB, ABc.
func startsWord(name string, i int) bool {
	if !isUpper(name[i]) {
		return false
	}
	return !isUpper(name[i-1]) && isAlnum(name[i-1]) && !isDigit(name[i-1]) ||
		i+1 < len(name) && isLower(name[i+1]) && isUpper(name[i-1])
}

func (w *nameWords) at(i int) []byte {
	if i < 0 || i >= w.n {
		return nil
	}
	return w.buf[w.from[i]:w.from[i+1]]
}

// nameStrength returns the strength of the name in an assignment.
func nameStrength(name string) strength {
	var w nameWords
	w.split(name)
	last := w.n - 1
	if last < 0 {
		return none
	}
	if describes(w.at(last)) {
		return strengthIf(last > 0 && string(w.at(last)) == "id" && string(w.at(last-1)) == "secret", weak)
	}
	if last == 0 && isBareVerb(name) {
		return telling
	}
	best := none
	for i := range w.n {
		best = max(best, wordStrength(w.at(i), w.at(i-1), i == last))
	}
	if best < password && last > 0 && (publicName(w.at(last-1)) || last > 1 && string(w.at(last)) == "token" && publicToken(w.at(last-2), w.at(last-1))) {
		return none
	}
	return best
}

// isBareVerb recognizes names that mean a password in some programs, and the
// outcome of a test or a folder in others.
func isBareVerb(name string) bool {
	return strings.EqualFold(name, "pass") || strings.EqualFold(name, "pwd")
}

// describes reports whether the last word of a name marks the value as a description of
// a secret (its name, its length, its place), and not the secret itself.
func describes(word []byte) bool {
	switch string(word) {
	case "id", "ids", "name", "names", "path", "paths", "file", "files", "filename", "dir", "url", "uri", "urls", "endpoint",
		"type", "types", "kind", "count", "counts", "counter", "length", "len", "size", "limit", "limits", "max", "min", "total", "budget", "usage", "used",
		"ttl", "expiry", "expires", "expiration", "expired", "exp", "age", "at", "time", "timeout", "date", "until", "seconds", "interval",
		"hint", "label", "field", "fields", "input", "placeholder", "policy", "policies", "error", "errors", "message", "msg", "title", "description", "text", "help", "prompt",
		"ref", "refs", "reference", "arn", "regex", "regexp", "pattern", "patterns", "format", "prefix", "suffix", "version", "algorithm", "alg", "algo",
		"method", "mode", "provider", "header", "headers", "param", "params", "parameter", "index", "idx", "column", "status", "state", "enabled", "disabled", "required", "optional", "valid", "invalid",
		"strength", "validator", "validation", "hasher", "hashers", "hash", "hashed", "manager", "service", "store", "storage", "source", "scope", "scopes", "owner", "class", "style", "rotation", "changed", "change", "reset",
		"map", "maps", "list", "set", "array", "func", "fn", "function", "handler", "callback", "exists", "visible", "visibility", "toggle", "confirmation", "usages", "encryption", "estimate", "rate", "cost", "price", "ratio", "percent", "pct",
		"location", "encoding", "encoder", "decoder", "tokenizer", "level", "role", "user", "username", "email", "host", "hostname", "port", "env", "var", "variable", "keyword", "keywords", "example", "options", "config", "settings", "schema", "spec", "template", "event", "events", "action", "test", "tests", "check", "checks", "value's", "stdin", "iterations", "rounds", "attempts", "retries":
		return true
	}
	return false
}

// publicName reports whether word, directly before the last word, makes a key
// public.
func publicName(word []byte) bool {
	switch string(word) {
	case "public", "pub", "foreign", "primary", "sort", "partition", "cache", "row", "object", "unique", "composite", "sorting", "csrf", "xsrf", "next", "page", "continuation", "pad", "eos", "bos", "unk", "special", "stop", "recv", "receive":
		return true
	}
	return false
}

// publicToken reports whether two words before "token" make it the key of an assembly of
// .NET, or the place at which a list continues.
func publicToken(first, second []byte) bool {
	switch string(second) {
	case "key":
		return string(first) == "public"
	case "lock", "forward", "backward", "page", "sync":
		return string(first) == "next"
	}
	return false
}

// wordStrength returns the strength of one word of a name, given the word
// before it.
func wordStrength(word, before []byte, last bool) strength {
	switch string(word) {
	case "password", "passwords", "passwd", "passphrase", "passcode", "pwd", "pw", "passwort", "contraseña", "pword", "psk":
		return password
	case "pass":
		switch {
		case string(before) == "to": // FAIL_TO_PASS lists tests
			return none
		case isStage(before):
			return telling
		case last || ownsPassword(before):
			return password
		}
		return none
	case "phrase":
		return strengthIf(string(before) == "pass", password)
	case "secret":
		if string(before) == "shared" { // people choose it, as in RADIUS
			return password
		}
		return telling
	case "secrets", "secrete", "apikey", "apikeys", "apitoken", "credential", "credentials", "creds", "cred", "authkey", "authtoken", "bearer", "jwt", "pat", "totp":
		return telling
	case "token":
		return telling
	case "tokens":
		return weak
	case "key", "keys":
		if last && ownsKey(before) {
			return telling
		}
		return weak
	case "auth", "authorization", "session", "sessionid", "sessid", "sid", "cookie", "sas", "dsn", "pin", "otp", "seed", "mnemonic", "salt":
		if last {
			return weak
		}
		return none
	}
	if name := trimNumber(word); len(name) < len(word) && len(name) > len("pass") { // password2
		return strengthIf(wordStrength(name, before, last) == password, password)
	}
	return gluedStrength(word)
}

// trimNumber returns a word without the number at its end.
func trimNumber(word []byte) []byte {
	for len(word) > 0 && isDigit(word[len(word)-1]) {
		word = word[:len(word)-1]
	}
	return word
}

// gluedStrength returns the strength of a word like dbpassword or
// IBMCLOUDIAMAPIKEY. The last byte decides which endings are compared, because most
// words have none of them.
func gluedStrength(word []byte) strength {
	if len(word) < 5 {
		return none
	}
	switch word[len(word)-1] {
	case 'd':
		if endsIn(word, "password") || endsIn(word, "passwd") {
			return password
		}
		if endsIn(word, "pwd") && ownsPassword(word[:len(word)-3]) {
			return telling
		}
		if endsIn(word, "sessionid") || endsIn(word, "sessid") {
			return weak
		}
	case 'e':
		return strengthIf(endsIn(word, "passphrase"), password)
	case 's':
		return strengthIf(endsIn(word, "requirepass") || endsIn(word, "userpass") || endsIn(word, "dbpass") || endsIn(word, "pass") && ownsPassword(word[:len(word)-4]), password)
	case 'h':
		return strengthIf(endsIn(word, "masterauth"), password)
	case 'w':
		return strengthIf(endsIn(word, "bindpw") || endsIn(word, "rootpw"), password)
	case 'k':
		return strengthIf(endsIn(word, "authtok"), password)
	case 't':
		if endsIn(word, "secret") {
			return telling
		}
		return strengthIf(endsIn(word, "salt"), weak)
	case 'n':
		return strengthIf(endsIn(word, "token") && string(word) != "tiktoken", telling) // tiktoken counts tokens
	case 'y':
		if endsIn(word, "appkey") || endsIn(word, "skey") && (endsIn(word, "nwkskey") || endsIn(word, "appskey")) {
			return weak // of LoRaWAN
		}
		return strengthIf(endsIn(word, "apikey") || endsIn(word, "secretkey") || endsIn(word, "accesskey") || endsIn(word, "privatekey") || endsIn(word, "authkey") || endsIn(word, "accountkey"), telling)
	}
	return none
}

// strengthIf returns s if yes, else none.
func strengthIf(yes bool, s strength) strength {
	if yes {
		return s
	}
	return none
}

// ownsPassword reports whether a word before "pass" makes it a password even
// in the middle of a name.
func ownsPassword(word []byte) bool {
	switch string(word) {
	case "db", "user", "root", "admin", "mysql", "postgres", "pg", "smtp", "ftp", "redis", "mail", "ldap", "ssh", "sudo", "proxy", "http", "auth", "store", "keystore", "truststore", "key", "login", "wifi", "master", "bind", "sql", "db2", "oracle", "rabbitmq", "mqtt", "imap", "my", "remote":
		return true
	}
	return false
}

// isStageName reports whether name names a pass over something, such as a
// compiler pass. Only a generated value is a password there.
func isStageName(name string) bool {
	if !endsFold(name, "pass") {
		return false
	}
	var w nameWords
	w.split(name)
	return isStage(w.at(w.n - 2))
}

// isStage reports whether the word before "pass" makes it a pass over
// something, as in first_pass and renderPass.
func isStage(word []byte) bool {
	switch string(word) {
	case "first", "second", "third", "next", "previous", "prev", "single", "one", "two", "multi", "each", "final", "initial", "forward", "backward",
		"render", "depth", "shadow", "lighting", "geometry", "post", "compute", "low", "high", "band", "by",
		"optimization", "analysis", "compiler", "codegen", "lowering", "inline", "loop", "module", "function", "ssa":
		return true
	}
	return false
}

// ownsKey reports whether a word before "key" makes it the name of a secret
// key.
func ownsKey(word []byte) bool {
	switch string(word) {
	case "setup", "api", "access", "secret", "private", "encryption", "decryption", "encrypt", "signing", "sign", "auth", "master", "account", "shared", "storage", "client", "app", "application",
		"admin", "service", "license", "licence", "deploy", "ssh", "pgp", "gpg", "hmac", "jwt", "aes", "rsa", "subscription", "webhook", "write", "ingest", "consumer", "session", "cookie", "root", "server", "wallet", "symmetric", "fernet",
		"ibm", "iam", "cloud", "softlayer", "sl", "slapi", "cos", "cloudant", "aws", "azure", "gcp", "google", "openai", "anthropic", "stripe", "twilio", "sendgrid", "datadog", "github", "gitlab", "heroku", "unseal", "recovery", "algolia", "mailgun", "cohere", "groq", "mistral", "gemini", "hf", "tavily", "serper", "pinecone":
		return true
	}
	return false
}

func endsIn(word []byte, end string) bool {
	return len(word) >= len(end) && string(word[len(word)-len(end):]) == end
}

var (
	passwordRule = &rule{id: "password", kind: "password"}
	apiKeyRule   = &rule{id: "api-key", kind: "api_key"}
	tokenRule    = &rule{id: "token", kind: "token"}
	secretRule   = &rule{id: "secret", kind: "secret"}

	weakKeyRule    = &rule{id: "api-key", kind: "api_key", weak: true}
	weakTokenRule  = &rule{id: "token", kind: "token", weak: true}
	weakSecretRule = &rule{id: "secret", kind: "secret", weak: true}
)

// nameRule returns the rule for a finding under this name.
func nameRule(name string, s strength) *rule {
	switch {
	case s == password:
		return passwordRule
	case endsFold(name, "key"):
		return pick(s, apiKeyRule, weakKeyRule)
	case endsFold(name, "token"):
		return pick(s, tokenRule, weakTokenRule)
	}
	return pick(s, secretRule, weakSecretRule)
}

func pick(s strength, sure, unsure *rule) *rule {
	if s <= weak {
		return unsure
	}
	return sure
}
