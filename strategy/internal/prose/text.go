package prose

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Squash returns a text on one line, with single spaces.
func Squash(s string) string {
	clean := true
	for i := 0; i < len(s) && clean; i++ {
		clean = s[i] > ' ' || s[i] == ' ' && i > 0 && s[i-1] != ' '
	}
	if clean && !strings.HasSuffix(s, " ") && utf8.ValidString(s) {
		return s
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
}

// Clip returns s if it has at most n characters, else its beginning and "…", at most n
// characters together. It cuts between words, so that no identifier is cut, and returns ""
// if the first word is too long. Only text without spaces (Chinese, Japanese) is cut
// between characters.
func Clip(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	end := 0
	for k := 0; k < n-2; k++ {
		_, w := utf8.DecodeRuneInString(s[end:])
		end += w
	}
	cut := end
	for cut > 0 && !unicode.IsSpace(rune(s[cut])) && !breaks(s, cut) {
		cut--
	}
	if cut == 0 {
		return ""
	}
	return strings.TrimRight(s[:cut], " ,;:([{\"'`") + " …"
}

// Trailing returns the start of the last n characters of a text, in bytes.
func Trailing(s string, n int) int {
	at := len(s)
	for ; n > 0 && at > 0; n-- {
		_, w := utf8.DecodeLastRuneInString(s[:at])
		at -= w
	}
	return at
}

// breaks reports whether a text may be cut at byte i because that is between two
// characters of a script without spaces.
func breaks(s string, i int) bool {
	if !utf8.RuneStart(s[i]) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i:])
	return Spaceless(before) && Spaceless(after)
}

// Spaceless reports whether a character belongs to a script that is written without spaces.
func Spaceless(r rune) bool {
	if r < firstSpaceless {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) || r >= 0x3000 && r <= 0x303f || r >= 0xff00 && r <= 0xff60
}

// firstSpaceless is the beginning of the block of Thai. No character of these scripts is
// below it.
const firstSpaceless = 0x0e00

// CountLines returns the number of lines of a text. Line ends at its end do not count.
func CountLines(s string) int {
	s = strings.TrimRight(s, "\n")
	if s == "" {
		return 0
	}
	return strings.Count(s, "\n") + 1
}

// CutText clips a text that has few spaces to cut at.
func CutText(s string, n int) string {
	short := Clip(s, n)
	if len(short) == len(s) || utf8.RuneCountInString(short) > n*2/3 {
		return short
	}
	r := []rune(s)
	end := min(len(r), n-1)
	for back := end; back > end/2; back-- { // don't cut a name in half
		if c := r[back-1]; c != '_' && c != '-' && c != '.' && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			end = back
			break
		}
	}
	return string(r[:end]) + "…"
}

// AppendNew appends the texts that a list does not have yet. It leaves out empty texts.
func AppendNew(list []string, more ...string) []string {
	for _, s := range more {
		if s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// Quoted returns a text on one line and in quotation marks, cut to n characters.
func Quoted(s string, n int) string { return "“" + CutText(Squash(s), n) + "”" }
