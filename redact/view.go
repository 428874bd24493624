package redact

import (
	"encoding/base64"
	"html"
	"strings"
	"unicode/utf8"
)

// A view is a range of a text in the form in which a person or a program reads
// it: without terminal colors and invisible characters, with the escapes of a
// URL or of HTML decoded. It is searched for secrets a second time.
type view struct {
	text     []byte
	from, to []int // start and end of each byte of text in the original range
}

func (v *view) add(c byte, from, to int) {
	v.text = append(v.text, c)
	v.from, v.to = append(v.from, from), append(v.to, to)
}

// reader reads a sequence at s[i] that a view omits or decodes. text is the
// decoded form; n is the length of the sequence, 0 if there is none.
type reader func(s string, i int) (text string, n int)

// views lists the words around which a range is read as a view.
var views = []struct {
	words []string
	read  reader
	line  bool // the range is the line; otherwise the text around the word without blanks and quotes
}{
	{[]string{"\x1b[", `\u001b[`, `\x1b[`, `\033[`, `\e[`}, readColor, true},
	{[]string{"\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad"}, readUnseen, true},
	{[]string{"&lt;/", "&quot;", "&#34;", "&#x22;", "&#58;", "&#61;", "&equals;", "&colon;"}, readEntity, true},
	{[]string{"%3d", "%22%3a", "%253d", "%3a%20"}, readPercent, false},
	{[]string{"=3d", "=3a"}, readQuotedPrintable, true},
	{[]string{`", "-`, `","-`, `', '-`, `','-`}, readList, true},
}

// maxView is the maximum length of a range on either side of its word.
const maxView = 8 << 10

// see returns the action that reads the range around a word as a view.
func see(kind int) action {
	v := &views[kind]
	return func(sc *scan, start, end int) {
		if start < sc.seen[kind] || sc.level >= maxViews {
			return
		}
		from, to := stretch(sc.s, start, v.line)
		if v.line {
			to = linesWith(sc.s, to, sc.s[start:end])
		}
		from = max(from, sc.seen[kind])
		sc.seen[kind] = to
		sc.spend(8 * (to - from))
		sc.look(from, to, v.read)
	}
}

// maxViews is the maximum depth of nested views.
const maxViews = 2

// stretch returns the line around i, or the text around i without blanks and
// quotes.
func stretch(s string, i int, line bool) (from, to int) {
	ends := func(c byte) bool { return c == '\n' || !line && (isSpace(c) || c == '"' || c == '\'') }
	from, to = i, i
	for least := max(0, i-maxView); from > least && !ends(s[from-1]); {
		from--
	}
	for most := min(len(s), i+maxView); to < most && !ends(s[to]); {
		to++
	}
	return from, to
}

// linesWith returns the end of the lines after the line that ends at i that have the word, too:
// the lines of an object in colors are read together.
func linesWith(s string, i int, word string) int {
	for most := i + maxView; i < len(s) && i < most; {
		next := i + 1 + lineLength(s[i+1:min(len(s), i+maxView)])
		if !strings.Contains(s[i:next], word) {
			break
		}
		i = next
	}
	return i
}

// look finds secrets in the view of s[from:to].
func (sc *scan) look(from, to int, read reader) {
	v, changed := viewOf(sc.s[from:to], read)
	if !changed {
		return
	}
	for _, f := range sc.within(string(v.text)) {
		sc.add(from+v.from[f.start], from+v.to[f.end-1], f.rule)
	}
}

// within returns the findings of a separate scan of text, except findings that
// only mean that its budget was used up.
func (sc *scan) within(text string) []span {
	inner := sc.r.scan()
	defer inner.release()
	inner.level = sc.level + 1
	defer func() { inner.level = 0 }()
	var all []span
	for _, f := range inner.find(text) {
		if f.rule != unscannedRule {
			all = append(all, f)
		}
	}
	return all
}

func viewOf(s string, read reader) (v view, changed bool) {
	for i := 0; i < len(s); {
		text, n := read(s, i)
		if n == 0 {
			v.add(s[i], i, i+1)
			i++
			continue
		}
		changed = true
		for k := range len(text) {
			v.add(text[k], i, i+n)
		}
		i += n
	}
	return v, changed
}

// readColor omits terminal colors, even if the escape character is written out.
func readColor(s string, i int) (string, int) {
	if s[i] != 0x1b && s[i] != '\\' {
		return "", 0
	}
	for _, esc := range [...]string{"\x1b[", `\u001b[`, `\u001B[`, `\x1b[`, `\x1B[`, `\033[`, `\e[`} {
		if strings.HasPrefix(s[i:], esc) {
			j := run(s, i+len(esc), 24, func(c byte) bool { return isDigit(c) || c == ';' || c == ':' || c == '?' })
			if j < len(s) && isLetter(s[j]) {
				return "", j + 1 - i
			}
		}
	}
	return "", 0
}

func readUnseen(s string, i int) (string, int) {
	if s[i] < utf8.RuneSelf {
		return "", 0
	}
	switch r, n := utf8.DecodeRuneInString(s[i:]); r {
	case 0x200b, 0x200c, 0x200d, 0x2060, 0xfeff, 0xad:
		return "", n
	}
	return "", 0
}

func readEntity(s string, i int) (string, int) {
	if s[i] != '&' {
		return "", 0
	}
	end := strings.IndexByte(s[i:min(len(s), i+10)], ';')
	if end < 2 {
		return "", 0
	}
	if text := html.UnescapeString(s[i : i+end+1]); len(text) <= 4 && text[0] != '&' || text == "&" {
		return text, end + 1
	}
	return "", 0
}

// readList reads the literals of a list as the words of a command line.
func readList(s string, i int) (string, int) {
	switch c := s[i]; {
	case (c == '[' || c == '(') && i+1 < len(s) && isQuote(s[i+1]):
		return "", 2
	case !isQuote(c) || i+1 == len(s):
	case s[i+1] == ']' || s[i+1] == ')':
		return "", 2
	case s[i+1] == ',':
		if j := skipBlanks(s, i+2); j < len(s) && s[j] == c {
			return " ", j + 1 - i
		}
	}
	return "", 0
}

func readPercent(s string, i int) (string, int) {
	if s[i] != '%' || run(s, i+1, 2, isHex) != i+3 {
		return "", 0
	}
	return string([]byte{unhex(s[i+1])<<4 | unhex(s[i+2])}), 3
}

func readQuotedPrintable(s string, i int) (string, int) {
	if s[i] != '=' || run(s, i+1, 2, isHex) != i+3 {
		return "", 0
	}
	return string([]byte{unhex(s[i+1])<<4 | unhex(s[i+2])}), 3
}

func unhex(c byte) byte { return byte(hex4("000" + string(c))) }

// encodedNames lists words in files with secrets, to find these files in
// base64.
var encodedNames = []string{"PASSWORD", "password", "SECRET", "secret", "_TOKEN=", "token", "API_KEY", "api_key", "apiKey", "PRIVATE KEY", `"auth":`, "_KEY="}

var encodedRule = &rule{id: "base64", kind: "base64", rank: byShape}

// encoded decodes the base64 around a hit, and adds all of it if it contains a
// secret.
func (sc *scan) encoded(start, _ int) {
	if start < sc.encodedEnd || sc.level >= maxViews {
		return
	}
	s := sc.s
	from := start
	for least := max(0, start-maxView); from > least && isBase64(s[from-1]) && !escaped(s, from); {
		from--
	}
	to := base64End(s, from)
	sc.encodedEnd = to
	sc.spend(4 * (to - from))
	if to-from < 24 {
		return
	}
	raw := decodeBase64(s[from:to])
	if wide := narrowed(raw); wide != "" {
		raw = wide
	}
	if isText(raw) && len(sc.within(raw)) > 0 {
		sc.add(from, to, encodedRule)
	}
}

// base64End returns the end of the base64 that begins at i, which may have
// several lines.
func base64End(s string, i int) int {
	for end := min(len(s), i+2*maxView); ; {
		j := run(s, i, end-i, isBase64)
		j = run(s, j, min(2, max(0, end-j)), func(c byte) bool { return c == '=' })
		next := j
		for _, nl := range [...]string{"\n", "\r\n", `\n`, `\r\n`} {
			if strings.HasPrefix(s[j:end], nl) {
				next = j + len(nl)
			}
		}
		if next == j || j-i < 60 || s[j-1] == '=' || !isBase64Line(s, next, end) {
			return j
		}
		i = next
	}
}

// isBase64Line reports whether base64 fills the line at i, or the part of it before a
// quote.
func isBase64Line(s string, i, limit int) bool {
	j := run(s, i, limit-i, isBase64)
	to := run(s, j, min(2, limit-j), func(c byte) bool { return c == '=' })
	return j >= i+4 && (to == limit || strings.IndexByte("\r\n\"'`\\", s[to]) >= 0)
}

// decodeBase64 decodes s, which may have line breaks. It returns "" for invalid
// input.
func decodeBase64(s string) string {
	s = strings.TrimRight(lineBreaks.Replace(s), "=")
	enc := base64.RawStdEncoding
	if strings.ContainsAny(s, "-_") {
		enc = base64.RawURLEncoding
	}
	raw, err := enc.DecodeString(s)
	if err != nil {
		return ""
	}
	return string(raw)
}

var lineBreaks = strings.NewReplacer("\r", "", "\n", "", `\r`, "", `\n`, "")

// narrowed converts little-endian UTF-16 with codes below 256 to one byte each.
// It returns "" for any other input, and for fewer than 8 bytes.
func narrowed(raw string) string {
	if len(raw) < 8 || len(raw)%2 != 0 {
		return ""
	}
	b := make([]byte, len(raw)/2)
	for i := range b {
		if raw[2*i+1] != 0 {
			return ""
		}
		b[i] = raw[2*i]
	}
	return string(b)
}

// isText reports whether s is printable.
func isText(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' && !isSpace(s[i]) || s[i] == 0x7f {
			return false
		}
	}
	return s != "" && utf8.ValidString(s)
}

// encodedCommand reads the base64 command line of PowerShell.
func (sc *scan) encodedCommand(_, end int) {
	i := skipBlanks(sc.s, run(sc.s, end, 12, isLetter))
	if i > end {
		sc.encoded(i, i)
	}
}

// onViews adds the words of the views to a vocabulary.
func onViews(b *vocabularyBuilder) {
	for kind := range views {
		for _, w := range views[kind].words {
			b.on(w, see(kind))
		}
	}
	for _, name := range encodedNames {
		for shift := range 3 {
			b.on(strings.ToLower(base64Form(name, shift)), (*scan).encoded)
		}
	}
	b.on(" -enc", (*scan).encodedCommand)
}
