package testrun

import "strings"

// Diagnostic reports whether a line contains a place in a file and a mistake there, in
// the form of compilers and linters: "a/b.go:12:3: undefined: x", "b.ts(3,1): error
// TS2304". A warning is not a diagnostic.
func Diagnostic(line string) bool {
	place, rest, ok := strings.Cut(line, " ")
	if !ok || len(place) < 3 || !isPlace(place) {
		return ok && isListedError(place, rest)
	}
	rest = strings.TrimLeft(rest, " ")
	word, _, _ := strings.Cut(rest, " ")
	return len(rest) > 3 && !startsFold(rest, "warning") && !strings.HasSuffix(word, "Warning:") && !startsFold(rest, "note") && !startsFold(rest, "info")
}

// Logged reports whether the place of a diagnostic has a line and no column, like a log
// line of a Go test. Such lines are indented, and most are not about a failure.
func Logged(line string) bool {
	place, _, _ := strings.Cut(line, " ")
	return strings.HasSuffix(place, ":") && strings.Count(place, ":") == 2 && !strings.Contains(place, "(")
}

// isListedError reports whether a line is an error in a linter's list below a file name: "12:5
// error  no-unused-vars".
func isListedError(place, rest string) bool {
	line, column, ok := strings.Cut(place, ":")
	return ok && digits(line) && digits(column) && strings.HasPrefix(strings.TrimLeft(rest, " "), "error ")
}

// isPlace reports whether a word is a file with a line: a.go:3: or a.go:3:4 or a.ts(3,4):.
func isPlace(word string) bool {
	word, colon := strings.CutSuffix(word, ":")
	if inner, ok := strings.CutSuffix(word, ")"); ok {
		at := strings.LastIndexByte(inner, '(')
		return colon && at > 0 && isFile(inner[:at]) && digits(strings.Replace(inner[at+1:], ",", "", 1))
	}
	file, last, ok := cutLast(word)
	if !ok || !digits(last) {
		return false
	}
	if isFile(file) {
		return colon
	}
	file, line, ok := cutLast(file)
	return ok && digits(line) && isFile(file)
}

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// longestExtension is the length in bytes of the extension of a source file.
const longestExtension = 6

// isFile reports whether a word ends in an extension.
func isFile(s string) bool {
	dot := strings.LastIndexByte(s, '.')
	if dot < 1 || dot == len(s)-1 || len(s)-dot-1 > longestExtension || strings.Contains(s, "://") {
		return false
	}
	for _, c := range s[dot+1:] {
		if c|0x20 < 'a' || c|0x20 > 'z' {
			return false
		}
	}
	return true
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func startsFold(s, with string) bool {
	return len(s) >= len(with) && strings.EqualFold(s[:len(with)], with)
}
