package redact

import "strings"

// isVerdict reports whether "pass" is the outcome of a test, and the value is the name
// of that test: --- PASS: TestS3 (0.00s), PASS: gcc.dg/pr12345.c. A value in quotes,
// or next to the name of a user, is a password.
func (a *assignment) isVerdict() bool {
	if a.op != opColon || !strings.EqualFold(a.name, "pass") || a.val.quoted && a.s[a.start-1] != '`' {
		return false
	}
	v := a.val.text
	switch {
	case a.timed():
		return true
	case strings.HasSuffix(a.s[:a.from], "--- ") && namesTest(v):
		return true
	case a.besideUser() || hasDensePart(v, 10):
		return false
	}
	return namesTest(v) || namesSource(v) || isTestPath(v) && !hasDensePart(v, 6) && !isMadeUp(v) && !looksRandom(v) && a.amongVerdicts()
}

// timed reports whether a duration in brackets follows the value. Nobody writes a
// duration after a password.
func (a *assignment) timed() bool {
	s := a.s
	i := skipBlanks(s, run(s, a.end, 1, isQuote))
	if i == a.end || i >= len(s) || s[i] != '(' {
		return false
	}
	number := run(s, i+1, 12, func(c byte) bool { return isDigit(c) || c == '.' })
	if number == i+1 {
		return false
	}
	unit := skipBlanks(s, number)
	return hasPrefix(s[unit:], []string{"s)", "ms)", "us)", "µs)", "ns)", "m)", "sec)", "seconds)"})
}

// besideUser reports whether the name of a user stands in the 64 bytes before the name
// or after the value: as a key ("user: bob"), or before it in the same line ("login bob
// pass: …"). A word such as TestUserLogin is neither.
func (a *assignment) besideUser() bool {
	before, after := a.s[max(0, a.from-64):a.from], a.s[a.end:min(len(a.s), a.end+64)]
	return namesUser(before, lineStart(before, len(before))) || namesUser(after, len(after))
}

// namesUser reports whether s names a user: with a key anywhere, or with a word at or
// after the offset line.
func namesUser(s string, line int) bool {
	for i := range len(s) {
		for _, word := range [...]string{"user", "username", "login", "email", "account"} {
			if !hasFold(s[i:], word) {
				continue
			}
			end := i + len(word)
			next := run(s, end, 8, func(c byte) bool { return isQuote(c) || isBlank(c) || c == '\\' || c == '*' })
			if next == len(s) {
				continue
			}
			if strings.IndexByte(":=|", s[next]) >= 0 {
				return true
			}
			if i >= line && next > end && isAlnum(s[next]) && (i == 0 || !isWord(s[i-1])) {
				return true
			}
		}
	}
	return false
}

// maxLine is the maximum distance at which the beginning of a line is searched for.
const maxLine = 256

// lineStart returns the start of the line that contains i. Its line breaks may be
// escaped.
func lineStart(s string, i int) int {
	least := max(0, i-maxLine)
	for ; i > least; i-- {
		if s[i-1] == '\n' || i-least > 1 && s[i-1] == 'n' && s[i-2] == '\\' {
			break
		}
	}
	return i
}

// lineHead returns the text between the start of the line and i. A line that is the text of
// a JSON member begins after the key of the member.
func lineHead(s string, i int) string {
	head := s[lineStart(s, i):i]
	if k := strings.LastIndex(head, `": "`); k >= 0 {
		head = head[k+len(`": "`):]
	}
	return head
}

// amongVerdicts reports whether the line before or after this one is another verdict
// in the same form.
func (a *assignment) amongVerdicts() bool {
	s := a.s
	line := lineStart(s, a.from)
	head := s[line:a.from]
	if len(head) > maxName {
		return false
	}
	if before := strings.TrimRight(strings.TrimSuffix(s[max(0, line-200):line], `\n`), "\r\n"); before != "" {
		if saysVerdict(before[lineStart(before, len(before)):], head) {
			return true
		}
	}
	after := s[a.end:min(len(s), a.end+200)]
	for _, end := range [...]string{"\n", `\n`} {
		if _, next, found := strings.Cut(after, end); found && saysVerdict(next, head) {
			return true
		}
	}
	return false
}

// saysVerdict reports whether a line consists of head and the outcome of a test.
func saysVerdict(line, head string) bool {
	rest, found := strings.CutPrefix(line, head)
	if !found {
		return false
	}
	word, _, found := strings.Cut(rest[:min(len(rest), 16)], ":")
	if !found {
		return false
	}
	switch strings.ToUpper(strings.TrimSpace(word)) {
	case "PASS", "FAIL", "SKIP", "XFAIL", "XPASS", "ERROR", "KFAIL", "KPASS", "UNSUPPORTED", "UNTESTED", "UNRESOLVED":
		return true
	}
	return false
}

// namesTest reports whether a part of s is the name of a test: TestS3, test_v2,
// S3Suite.TestPut, UserServiceV2Test. The text after a slash is the name of a case,
// which may be any text; the name may stand in a pattern.
func namesTest(s string) bool {
	for at := 0; at < len(s); {
		end := run(s, at, len(s), isWord)
		if isTestFunction(s[at:end]) {
			return end == len(s) || strings.IndexByte(`/.:#-[(|)$\`, s[end]) >= 0
		}
		if end == len(s) || strings.IndexByte("/.:-", s[end]) < 0 {
			return false
		}
		at = end + 1
	}
	return false
}

func isTestFunction(name string) bool {
	if rest := withoutTest(name); rest != name && rest != "" && !isLower(rest[0]) {
		return true
	}
	for _, w := range [...]string{"Test", "Tests", "Spec", "_test", "_spec"} {
		if len(name) > len(w) && strings.HasSuffix(name, w) {
			return true
		}
	}
	return false
}

// withoutTest removes the word that names of tests begin with.
func withoutTest(name string) string {
	for _, w := range [...]string{"Test", "test", "Example", "Fuzz", "Benchmark"} {
		if rest, found := strings.CutPrefix(name, w); found {
			return rest
		}
	}
	return name
}

// namesSource reports whether s is the path of a source file, with or without a line
// number.
func namesSource(s string) bool {
	if !isTestPath(s) {
		return false
	}
	s = strings.TrimRight(s, ":0123456789")
	switch s[strings.LastIndexByte(s, '.')+1:] {
	case "go", "py", "rb", "rs", "js", "jsx", "mjs", "cjs", "ts", "tsx", "c", "cc", "cpp", "cxx", "C", "h", "hpp", "m", "mm", "d", "s", "S", "f", "f90",
		"java", "kt", "kts", "scala", "groovy", "clj", "swift", "cs", "fs", "php", "pl", "pm", "t", "lua", "tcl", "exp", "ex", "exs", "erl", "hs", "ml", "dart", "zig", "jl", "el", "vim",
		"sh", "bash", "zsh", "bats", "test", "ll", "mlir", "td", "sv", "html", "htm", "xml", "json", "yaml", "yml", "toml", "sql", "feature", "robot", "txt", "md", "css", "scss", "vue", "svelte":
		return strings.IndexByte(s, '.') > 0
	}
	return false
}

// isTestPath reports whether s has no character that paths and names lack.
func isTestPath(s string) bool {
	return run(s, 0, len(s), func(c byte) bool { return isWord(c) || strings.IndexByte("-./:+#", c) >= 0 }) == len(s)
}

// hasDensePart reports whether the letters and digits of a word of s, of at least
// n bytes, alternate like in generated text. Tests are called TestRFC7231Date, and
// not TestXk9mQ2vR7p.
func hasDensePart(s string, n int) bool {
	for at := 0; at < len(s); {
		end := run(s, at, len(s), isAlnum)
		if part := withoutTest(s[at:end]); len(part) >= n && profileOf(part).turns*2 >= len(part) {
			return true
		}
		at = end + 1
	}
	return false
}
