package strategy

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

func asciiLetter(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }

// squash returns a text on one line, with single spaces.
func squash(s string) string {
	clean := true
	for i := 0; i < len(s) && clean; i++ {
		clean = s[i] > ' ' || s[i] == ' ' && i > 0 && s[i-1] != ' '
	}
	if clean && !strings.HasSuffix(s, " ") && utf8.ValidString(s) {
		return s
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
}

// clip returns s if it has at most n characters, else its beginning and "…", at most n
// characters together. It cuts between words, so that no identifier is cut, and returns ""
// if the first word is too long. Only text without spaces (Chinese, Japanese) is cut
// between characters.
func clip(s string, n int) string {
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

// leading returns the end of the first n characters of a text, in bytes.
func leading(s string, n int) int {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		_, w := utf8.DecodeRuneInString(s[at:])
		at += w
	}
	return at
}

// trailing returns the start of the last n characters of a text, in bytes.
func trailing(s string, n int) int {
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
	return spaceless(before) && spaceless(after)
}

func spaceless(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) || r >= 0x3000 && r <= 0x303f || r >= 0xff00 && r <= 0xff60
}

// maxSentence is the maximum length of a quoted sentence, in characters.
const maxSentence = 280

// sentences calls f for each sentence of a text that people wrote, in order:
// lines and list items, cut at full stops. It skips code blocks, tables and
// markup.
func sentences(text string, f func(s string, heading bool)) {
	eachSentence(text, func(s sentence) { f(s.text, s.heading) })
}

// unnumbered removes the number of a list item.
func unnumbered(line string) string {
	end := 0
	for end < len(line) && end < 3 && line[end] >= '0' && line[end] <= '9' {
		end++
	}
	if end > 0 && end+1 < len(line) && (line[end] == '.' || line[end] == ')') && line[end+1] == ' ' {
		return strings.TrimSpace(line[end+2:])
	}
	return line
}

// splitSentences calls f for each sentence of a line. It does not cut in code
// between backticks.
func splitSentences(line string, f func(string)) {
	start, code := 0, false
	for i := 0; i < len(line); i++ {
		end := 0
		switch line[i] {
		case '`':
			code = !code && strings.IndexByte(line[i+1:], '`') >= 0
		case '.', '!', '?':
			if !code && i+1 < len(line) && line[i+1] == ' ' && (i-start > leastBefore && (line[i] != '.' || !abbreviates(line[start:i]) && !numberFollows(line, i)) || courtesy(line[start:i])) {
				end = i + 1
			}
		case 0xe3: // 。
			if strings.HasPrefix(line[i:], "。") {
				end = i + 3
			}
		}
		if end > 0 {
			f(strings.TrimSpace(line[start:end]))
			start, i = end, end-1
		}
	}
	if rest := strings.TrimSpace(line[start:]); rest != "" {
		f(rest)
	}
}

// leastBefore is a length in bytes. A full stop after at most so many bytes does not end
// the sentence.
const leastBefore = 15

// courtesies are polite sentences without information.
var courtesies = []string{"good", "good catch", "nice", "nice catch", "great", "great catch", "good point", "great question", "good question", "perfect", "excellent", "awesome", "thanks", "got it", "understood"}

// courtesy reports whether a text is one of courtesies.
func courtesy(s string) bool {
	return slices.Contains(courtesies, strings.ToLower(strings.TrimSpace(s)))
}

// abbreviated lists words whose full stop does not end a sentence.
var abbreviated = map[string]bool{"mr": true, "mrs": true, "ms": true, "dr": true, "prof": true, "st": true, "e.g": true, "i.e": true, "vs": true, "no": true, "approx": true, "fig": true, "cf": true, "etc": true, "inc": true, "jr": true,
	"ext": true, "tel": true, "dept": true, "ave": true, "blvd": true, "vol": true, "pp": true, "al": true, "resp": true, "incl": true, "excl": true, "corp": true, "ltd": true, "u.s": true, "a.m": true, "p.m": true, "bzw": true, "z.b": true}

// abbreviates reports whether the last word of a text is an abbreviation or an initial. A
// full stop after such a word does not end the sentence.
func abbreviates(s string) bool {
	word := strings.TrimLeft(s[strings.LastIndexByte(s, ' ')+1:], "(\"“")
	return abbreviated[strings.ToLower(word)] || len(word) == 1 && word[0] >= 'A' && word[0] <= 'Z'
}

// numberFollows reports whether a full stop is between a short capitalized word and a
// number, as in "Torstr. 12" and "Art. 5". Such a word is an abbreviation.
func numberFollows(line string, stop int) bool {
	word := line[strings.LastIndexAny(line[:stop], " (")+1 : stop]
	first, _ := utf8.DecodeRuneInString(word)
	return stop+2 < len(line) && line[stop+2] >= '0' && line[stop+2] <= '9' && len(word) <= mostAbbreviated && unicode.IsUpper(first) && !strings.ContainsFunc(word, unicode.IsDigit) && strings.ToUpper(word) != word
}

// mostAbbreviated is the maximum length of an abbreviation before a number, in bytes.
const mostAbbreviated = 7

func itoa(n int) string { return strconv.Itoa(n) }
