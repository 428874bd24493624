package redact

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// vendorRule is a rule of the vendor data in vendor_rules.go. A framed rule is
// one whose value needs a name before it: only the value is a regular
// expression, the frame around it is matched by hand.
type vendorRule struct {
	id       string
	words    []string // one of them is in every match, in any case
	name     string   // of a framed rule whose name is more than its words
	framed   bool
	re       string
	group    int // that is the secret, 0 = the first that matched, wholeMatch = all
	min, max int // length of the value of a framed rule, else of the match
	before   int // how far before the word a match may begin
	solid    bool
	entropy  float64 // the secret must have more, in bits a byte
	allow    []allowRule
}

// allowRule says what is no secret after all.
type allowRule struct {
	target string // what re is for: the secret (""), the "match" or the "line"
	re     string
	words  []string
	sums   []uint64 // FNV-1a of the secrets that are known and public
}

// vendor is a vendorRule ready for use.
type vendor struct {
	vendorRule
	rule     rule
	compile  sync.Once
	value    *regexp.Regexp
	namePat  *regexp.Regexp
	allowPat []*regexp.Regexp
}

var vendors = func() []*vendor {
	all := make([]*vendor, len(vendorRules))
	for i, v := range vendorRules {
		all[i] = &vendor{vendorRule: v, rule: rule{id: v.id, kind: strings.ReplaceAll(v.id, "-", "_"), rank: byData}}
	}
	return all
}()

// ready compiles the expressions at the first use of the rule.
func (v *vendor) ready() {
	v.compile.Do(func() {
		re := v.re
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

// framed looks behind a vendor's name for a value of one of its rules.
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

// frame passes what stands between a name and its value:
// up to n more bytes of the name, quotes, an operator, quotes. It returns
// where the value is, 0 if there is none.
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

// passQuotes passes up to n quotes and spaces, and the backslashes between them.
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

// match looks for the rule's expression in a window around its word.
func (v *vendor) match(sc *scan, start, end int) {
	s := sc.s
	if v.solid && (run(s, start, v.min, isSolid)-start < v.min || sc.hasShape(start)) {
		return
	}
	lo := v.windowStart(s, start)
	hi := min(len(s), end+min(v.max, maxWindow)+64)
	v.ready()
	sc.spend(expression * (hi - lo))
	for _, m := range v.value.FindAllStringSubmatchIndex(s[lo:hi], 4) {
		from, to := v.secretGroup(m)
		sc.accept(v, lo+from, lo+to, lo+m[0], lo+m[1])
	}
}

// hasShape reports whether the token at i has just been found by its shape, up
// to its end.
func (sc *scan) hasShape(i int) bool {
	if len(sc.found) == 0 {
		return false
	}
	last := sc.found[len(sc.found)-1]
	return last.start == i && last.rule.rank == byShape && (last.end >= len(sc.s) || !isPadded(sc.s[last.end]) && sc.s[last.end] != '.')
}

const (
	maxWindow  = 1 << 11
	expression = 16 // what a byte costs a regular expression, in looks
)

func isSolid(c byte) bool { return c > ' ' && c != '"' && c != '\'' }

// windowStart returns where the window begins: early enough for the match and
// for a word boundary before it, never within a word.
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

// accept adds a match whose secret is s[from:to], if it is random enough and
// no allow rule is against it.
func (sc *scan) accept(v *vendor, from, to, matchFrom, matchTo int) {
	secret := sc.s[from:to]
	if v.entropy > 0 && entropy(secret) <= v.entropy || isAllowed(secret) {
		return
	}
	for i, a := range v.allow {
		target := secret
		switch a.target {
		case "match":
			target = sc.s[matchFrom:matchTo]
		case "line":
			target = lineAround(sc.s, matchFrom, matchTo)
		}
		if v.allowPat[i] != nil && v.allowPat[i].MatchString(target) || hasWord(secret, a.words) || slices.Contains(a.sums, fnv1a(secret)) {
			return
		}
	}
	sc.add(from, to, &v.rule)
}

// fnv1a hashes s. It is written out here because hash/fnv would allocate.
func fnv1a(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

func lineAround(s string, from, to int) string {
	from = strings.LastIndexByte(s[:from], '\n') + 1
	if i := strings.IndexByte(s[to:], '\n'); i >= 0 {
		return s[from : to+i]
	}
	return s[from:]
}

func hasWord(s string, words []string) bool {
	if len(words) == 0 {
		return false
	}
	s = strings.ToLower(s)
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// isAllowed reports whether no vendor's secret looks like s: one character
// repeated, a variable, a format, a path, an ellipsis.
func isAllowed(s string) bool {
	switch {
	case distinct(s) == 1, hasPlaceholder(s), commonWord(s):
		return true
	case len(s) < 200 && strings.IndexByte("${%@", s[0]) >= 0:
		return isReference(s)
	case s[0] == '/':
		return hasPrefix(s, systemPaths)
	}
	return strings.HasSuffix(s, "...") || strings.Contains(s, "abcdefghijklmnopqrstuvwxyz")
}

// isFilled reports whether somebody filled the form of a secret with the same
// character.
func isFilled(s string) bool {
	return strings.Contains(s, "xxxxxxxx") || strings.Contains(s, "XXXXXXXX") || strings.Contains(s, "********") || strings.Contains(s, "........")
}

var systemPaths = []string{"/Users/", "/bin/", "/etc/", "/home/", "/opt/", "/tmp/", "/usr/", "/var/"}

// entropy returns the Shannon entropy of s in bits a byte.
func entropy(s string) float64 {
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	bits, n := 0.0, float64(len(s))
	for _, c := range count {
		if c > 0 {
			p := float64(c) / n
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
