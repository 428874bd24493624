package redact

import "strings"

// isPassphrase reports whether s is four to ten words joined by one of " -_.", or three
// words and a number. The words must be unusual in a sentence or a name:
// correct-horse-battery-staple.
func isPassphrase(s string) bool {
	i := strings.IndexAny(s, " -_.")
	if i < 0 || len(s) > 100 || isProseBreak(s) {
		return false
	}
	words := 0
	for w := range strings.SplitSeq(s, s[i:i+1]) {
		switch {
		case len(w) > 0 && len(w) <= 4 && run(w, 0, len(w), isDigit) == len(w):
		case len(w) >= 3 && len(w) <= 9 && (isLowerWord(w) || isUpper(w[0]) && isLowerWord(w[1:])) && !isNameWord(w):
			words++
		default:
			return false
		}
	}
	return words >= 4 && words <= 10 || words == 3 && len(s) > i && strings.ContainsAny(s, "0123456789")
}

// isProseBreak reports whether s has punctuation that does not join words.
func isProseBreak(s string) bool { return strings.ContainsAny(s, ",;:?()") }

// isNameWord reports whether a word is more common in sentences and in the
// names of a program than in a passphrase.
func isNameWord(w string) bool {
	switch strings.ToLower(w) {
	case "the", "and", "for", "not", "are", "was", "has", "have", "had", "you", "your", "this", "that", "these", "with", "from", "will", "must", "should", "can", "cannot", "may", "when", "where", "which", "who", "how", "what", "why", "all", "any", "one", "two", "per", "than", "then", "only", "same", "also", "its", "but", "use", "used", "using", "please", "enter", "least", "been", "being", "does", "did", "into", "over", "before", "after", "each", "more", "most", "other", "some", "such", "there", "here", "about", "between",
		"password", "passwords", "passwd", "passphrase", "secret", "secrets", "token", "tokens", "key", "keys", "api", "auth", "login", "user", "users", "username", "name", "names", "new", "old", "current", "confirm", "repeat", "reset", "change", "changed", "forgot", "create", "update", "delete", "set", "get", "add", "test", "tests", "testing", "example", "sample", "default", "demo", "dummy", "fake", "mock", "admin", "root", "account", "client", "server", "service", "access", "refresh", "session", "private", "public", "internal", "external", "staging", "production", "prod", "dev", "development", "local", "localhost", "database", "postgres", "mysql", "redis", "config", "value", "values", "string", "field", "form", "input", "type", "code", "file", "path", "app", "application", "web", "http", "https", "com", "org", "net", "www", "json", "yaml", "xml", "html", "min", "max", "length", "characters", "character", "required", "optional", "invalid", "valid", "wrong", "incorrect", "missing", "empty", "none", "null", "true", "false", "manager", "store", "storage", "credentials", "credential", "encrypted", "hash", "hashed", "policy", "rule", "error", "message", "label", "hint", "text", "title", "placeholder", "replace", "insert", "description", "real", "safe", "secure", "strong", "weak", "super", "very", "long", "short", "random", "unique", "generate", "generated", "cluster", "node", "pod", "deployment", "namespace", "container", "image", "docker", "kubernetes", "helm", "chart", "terraform", "module", "github", "gitlab", "google", "azure", "amazon":
		return true
	}
	return false
}
