package redact

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// vendorRule is a rule of the vendor data in vendor_rules.go. The value of a
// framed rule needs a name before it: only the value is a regular expression,
// and the code matches the frame around it.
type vendorRule struct {
	id       string
	words    []string // every match contains one of these words, in upper or lower case
	name     string   // pattern of the name of a framed rule, if it is more than its words
	framed   bool
	re       string
	group    int // the group of the secret, 0 = the first that matched, wholeMatch = all
	min, max int // length of the value of a framed rule, else of the match
	before   int // maximum number of bytes from the start of a match to its word
	solid    bool
	entropy  float64 // the entropy of the secret must be higher, in bits per byte
	allow    []allowRule
}

// vendor is a vendorRule ready for use.
type vendor struct {
	vendorRule
	rule     rule
	compile  sync.Once
	value    *regexp.Regexp
	namePat  *regexp.Regexp
	allowPat []*regexp.Regexp
	alphabet func() *[256]bool // the bytes that matches of a solid rule may contain
}

var vendors = func() []*vendor {
	all := make([]*vendor, len(vendorRules))
	for i, v := range vendorRules {
		all[i] = &vendor{vendorRule: v, rule: rule{id: v.id, kind: strings.ReplaceAll(v.id, "-", "_"), rank: byData}}
		all[i].alphabet = sync.OnceValue(func() *[256]bool { return alphabetOf(v.re, v.words) })
	}
	return all
}()

// ready compiles the expressions on the first use of the rule.
func (v *vendor) ready() {
	v.compile.Do(func() {
		re := v.re
		if body, found := strings.CutSuffix(re, vendorTail); found {
			re = body + tokenEnd
		}
		if v.framed {
			re = `^(?:` + re + `)$`
		}
		v.value = regexp.MustCompile(re)
		if v.name != "" {
			v.namePat = regexp.MustCompile(`^(?i:` + v.name + `)`)
		}
		for _, a := range v.allow {
			if a.re != "" {
				v.allowPat = append(v.allowPat, regexp.MustCompile(a.re))
				continue
			}
			v.allowPat = append(v.allowPat, nil)
		}
	})
}

// onVendors adds the words of the vendor rules to a vocabulary.
func onVendors(b *vocabularyBuilder) {
	framed := map[string][]*vendor{}
	for _, v := range vendors {
		for _, w := range v.words {
			if v.framed {
				framed[w] = append(framed[w], v)
				continue
			}
			b.on(w, v.match)
		}
	}
	for _, v := range vendors {
		for _, w := range v.words {
			if rules := framed[w]; rules != nil {
				b.on(w, func(sc *scan, start, end int) { sc.framed(rules, start, end) })
				delete(framed, w)
			}
		}
	}
}

// framed finds a value of one of the rules after a vendor's name.
func (sc *scan) framed(rules []*vendor, start, end int) {
	s := sc.s
	from, to := frame(s, end, maxFrame)
	sc.spend(to - from)
	for _, v := range rules {
		lo, hi := from, to
		if v.name != "" {
			v.ready()
			m := v.namePat.FindStringIndex(s[start:min(len(s), start+maxName)])
			if m == nil {
				continue
			}
			lo, hi = frame(s, start+m[1], maxFrame)
		}
		if n := hi - lo; lo == 0 || n < v.min || n > v.max {
			continue
		}
		v.ready()
		if v.value.MatchString(s[lo:hi]) {
			head := start
			for head > max(0, start-50) && isNameByte(s[head-1]) {
				head--
			}
			sc.accept(v, lo, hi, head, min(len(s), hi+1))
		}
	}
}

const maxFrame = 20

// frame skips the text between a name and its value: up to n more bytes of the
// name, quotes, an operator, quotes. It returns the position of the value, 0 if
// there is none.
func frame(s string, i, n int) (from, to int) {
	i = run(s, i, n, func(c byte) bool { return isNameByte(c) || isBlank(c) })
	i = passQuotes(s, i, 3, false)
	if i >= len(s) || strings.IndexByte("=>:|?,", s[i]) < 0 {
		return 0, 0
	}
	op := run(s, i, 3, func(c byte) bool { return c == ':' || c == '=' || c == '>' || c == '|' || c == '?' })
	if s[i] == ',' {
		op = i + 1
	}
	from = passQuotes(s, op, 5, true)
	to = run(s, from, maxWindow, func(c byte) bool { return !isSpace(c) && !isQuote(c) && c != ';' && c != '\\' })
	return from, to
}

// passQuotes skips up to n quotes and spaces, and the backslashes between them.
// With equals, it also skips =.
func passQuotes(s string, i, n int, equals bool) int {
	for ; i < len(s); i++ {
		c := s[i]
		if c == '\\' {
			continue
		}
		if n == 0 || !isSpace(c) && !isQuote(c) && !(equals && c == '=') {
			break
		}
		n--
	}
	return i
}

// match applies the rule's expression to a window around its word.
func (v *vendor) match(sc *scan, start, end int) {
	s := sc.s
	if v.solid && (!v.fits(s[end:], v.min-(end-start)) || sc.hasShape(start)) {
		return
	}
	lo := v.windowStart(s, start)
	hi := min(len(s), end+min(v.max, maxWindow)+64)
	v.ready()
	sc.spend(expression * (hi - lo))
	for _, m := range v.value.FindAllStringSubmatchIndex(s[lo:hi], 4) {
		from, to := v.secretGroup(m)
		if !v.ends(s, lo, m) && !isScattered(s[lo+from:lo+to]) {
			continue
		}
		sc.accept(v, lo+from, v.rest(s, lo+to), lo+m[0], lo+m[1])
	}
}

// fits reports whether the first n bytes of s, which the shortest match has after its
// word, are all in the rule's alphabet.
func (v *vendor) fits(s string, n int) bool {
	if len(s) < n {
		return false
	}
	in := v.alphabet()
	for i := range max(0, n) {
		if !in[s[i]] {
			return false
		}
	}
	return true
}

// vendorTail is the pattern that many expressions require after a token.
const vendorTail = "(?:[\\x60'\"\\s;]|\\\\[nr]|$)"

// tokenEnd replaces vendorTail. Sentences and logs also have punctuation, brackets and
// tags after a token.
const tokenEnd = "(?:[\\x60'\"\\s;,.:!?)\\]}<>|&*]|\\\\[nr]|$)"

// alphabetOf returns the bytes that matches of re may contain after one of the words.
func alphabetOf(re string, words []string) *[256]bool {
	var in [256]bool
	tree, err := syntax.Parse(strings.TrimSuffix(re, vendorTail), syntax.Perl)
	if err != nil {
		panic(err)
	}
	addAlphabet(tree, words, &in)
	return &in
}

func addAlphabet(re *syntax.Regexp, words []string, in *[256]bool) {
	switch re.Op {
	case syntax.OpLiteral:
		if slices.Contains(words, strings.ToLower(string(re.Rune))) {
			return
		}
		for _, r := range re.Rune {
			for c := range 256 {
				if rune(c) == r || re.Flags&syntax.FoldCase != 0 && unicode.ToLower(rune(c)) == unicode.ToLower(r) {
					in[c] = true
				}
			}
		}
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			for c := re.Rune[i]; c <= min(re.Rune[i+1], 255); c++ {
				in[c] = true
			}
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		for c := range 256 {
			in[c] = true
		}
	}
	for _, sub := range re.Sub {
		addAlphabet(sub, words, in)
	}
}

// ends reports whether a match ends as the original expression requires.
func (v *vendor) ends(s string, lo int, m []int) bool {
	end := lo + m[1]
	return end == lo+m[0] || end == len(s) && isURLSafe(s[end-1]) || strings.IndexByte(",.:!?)]}<>|&*", s[end-1]) < 0
}

// isScattered reports whether s has too many digits, or too strange letters, for the name
// of a function, which may have the form of a token.
func isScattered(s string) bool { return profileOf(s).digits*8 >= len(s) || isGibberish(s, 10) }

// rest returns the end of a token that is longer than its rule permits: the
// additional characters belong to the secret, too.
func (v *vendor) rest(s string, to int) int {
	if !v.solid || !isURLSafe(s[to-1]) {
		return to
	}
	return run(s, to, maxNeedle, isURLSafe)
}

// hasShape reports whether the last finding is the whole token at i, found by
// its shape.
func (sc *scan) hasShape(i int) bool {
	if len(sc.found) == 0 {
		return false
	}
	last := sc.found[len(sc.found)-1]
	return last.start == i && last.rule.rank == byShape && (last.end >= len(sc.s) || !isPadded(sc.s[last.end]) && sc.s[last.end] != '.')
}

const (
	maxWindow  = 1 << 11
	expression = 16 // cost of a byte in a regular expression, in bytes of the budget
)

// windowStart returns the start of the window: early enough for the match and
// for a word boundary before it, and never within a word.
func (v *vendor) windowStart(s string, start int) int {
	if escaped(s, start) {
		return start
	}
	if v.before == 0 {
		return max(0, start-1)
	}
	lo := max(0, start-v.before)
	for least := max(0, lo-maxName); lo > least && isWord(s[lo-1]); {
		lo--
	}
	return lo
}

const wholeMatch = -1

// secretGroup returns the group that is the secret.
func (v *vendor) secretGroup(m []int) (from, to int) {
	if v.group == wholeMatch {
		return m[0], m[1]
	}
	if g := v.group; g > 0 && m[2*g] >= 0 {
		return m[2*g], m[2*g+1]
	}
	for g := 2; v.group == 0 && g < len(m); g += 2 {
		if m[g] >= 0 && m[g+1] > m[g] {
			return m[g], m[g+1]
		}
	}
	return m[0], m[1]
}
