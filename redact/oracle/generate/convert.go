package main

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"regexp"
	"regexp/syntax"
	"strings"
)

// Gitleaks puts this frame around the value in rules that need a name before it. Package
// redact matches the frame by hand, and only the value with a regular expression.
const (
	frameHead  = `[\w.-]{0,50}?`
	frameName  = `(?:[ \t\w.-]{0,20})[\s'"]{0,3}`
	frameOp    = `(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}(`
	frameTail  = `)` + tail
	tail       = `(?:[\x60'"\s;]|\\[nr]|$)`
	frameInner = frameName + `)`
)

// rule is a rule in the form of package redact.
type rule struct {
	source
	name       string // pattern of the name in a framed rule
	value      string // pattern of the value in a framed rule
	fold       bool   // the value ignores case
	min, max   int    // length of the value, or of the whole match
	solid      bool   // a match contains no blank and no quote
	before     int    // maximum number of bytes from the start of a match to its keyword
	allowlists []allowlist
}

// unlimited is the maximum length of a match without a limit.
const unlimited = 4096

func convert(s source) (rule, error) {
	r := rule{source: s}
	pattern := s.Regex
	if name, value, fold, ok := unframe(s.Regex); ok && !strings.Contains(value, `"`) {
		r.name, r.value, r.fold = name, value, fold
		r.Keywords = nameWords(name, s.Keywords)
		pattern = value
	}
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return r, err
	}
	r.min, r.max = lengths(re)
	if r.name == "" {
		body, err := syntax.Parse(strings.TrimSuffix(s.Regex, tail), syntax.Perl)
		if err != nil {
			return r, err
		}
		r.solid = isSolid(body)
	}
	if r.name == "" {
		r.before = before(re, s.Keywords, r.max)
	}
	for _, a := range s.Allowlists {
		if len(a.Regexes)+len(a.Stopwords) > 0 {
			r.allowlists = append(r.allowlists, a)
		}
	}
	return r, nil
}

// unframe removes the frame from a pattern.
func unframe(re string) (name, value string, fold, ok bool) {
	for _, f := range []struct {
		head, mid string
		fold      bool
	}{
		{`(?i)` + frameHead + `(?:`, `)` + frameName + frameOp, true},
		{frameHead + `(?i:` + frameHead + `(?:`, `)` + frameInner + frameOp, false},
	} {
		rest, found := strings.CutPrefix(re, f.head)
		if !found {
			continue
		}
		name, rest, found = strings.Cut(rest, f.mid)
		if !found {
			continue
		}
		value, found = strings.CutSuffix(rest, frameTail)
		if found && balanced(value) {
			return name, value, f.fold, true
		}
	}
	return "", "", false, false
}

// nameWords returns the words that find a name. These are the alternatives of the
// name's pattern and not the keywords, because the keywords of some rules are in
// the value. A name with groups or classes can't be split into words; then it
// returns the keywords.
func nameWords(name string, keywords []string) []string {
	for _, k := range keywords {
		if !strings.Contains(strings.ToLower(name), k) && strings.ContainsAny(name, "()[]\\") {
			return keywords
		}
	}
	if strings.ContainsAny(name, "()[]\\") {
		return keywords
	}
	return strings.Split(strings.ToLower(name), "|")
}

// balanced reports whether the value is one group, and not several alternatives
// with separate frames.
func balanced(s string) bool {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth < 0 {
			return false
		}
	}
	return depth == 0
}

// lengths returns the length of the shortest and of the longest match.
func lengths(re *syntax.Regexp) (shortest, longest int) {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune), len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1, 1
	case syntax.OpCapture:
		return lengths(re.Sub[0])
	case syntax.OpStar:
		return 0, unlimited
	case syntax.OpPlus:
		n, _ := lengths(re.Sub[0])
		return n, unlimited
	case syntax.OpQuest:
		_, m := lengths(re.Sub[0])
		return 0, m
	case syntax.OpRepeat:
		n, m := lengths(re.Sub[0])
		if re.Max < 0 {
			return n * re.Min, unlimited
		}
		return n * re.Min, min(unlimited, m*re.Max)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			n, m := lengths(sub)
			shortest, longest = shortest+n, min(unlimited, longest+m)
		}
		return shortest, longest
	case syntax.OpAlternate:
		shortest = unlimited
		for _, sub := range re.Sub {
			n, m := lengths(sub)
			shortest, longest = min(shortest, n), max(longest, m)
		}
		return shortest, longest
	}
	return 0, 0
}

// isSolid reports whether no match of re contains a blank or a quote.
func isSolid(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return false
	case syntax.OpLiteral:
		return !strings.ContainsAny(string(re.Rune), " \"'")
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			for _, c := range " \n\"'" {
				if re.Rune[i] <= c && c <= re.Rune[i+1] {
					return false
				}
			}
		}
	}
	for _, sub := range re.Sub {
		if !isSolid(sub) {
			return false
		}
	}
	return true
}

// before returns the maximum number of bytes from the start of a match to a
// keyword, at most 400, and 0 if every alternative begins with a keyword.
func before(re *syntax.Regexp, keywords []string, longest int) int {
	if beginsWith(re, keywords) {
		return 0
	}
	return min(longest, 400)
}

// beginsWith reports whether every match of re begins with a keyword.
func beginsWith(re *syntax.Regexp, keywords []string) bool {
	switch re.Op {
	case syntax.OpLiteral:
		for _, k := range keywords {
			if strings.HasPrefix(strings.ToLower(string(re.Rune)), k) {
				return true
			}
		}
		return false
	case syntax.OpCapture:
		return beginsWith(re.Sub[0], keywords)
	case syntax.OpConcat:
		for i, sub := range re.Sub {
			if _, longest := lengths(sub); longest == 0 {
				continue
			}
			return beginsWith(sub, keywords) || literalPrefix(re.Sub[i:], keywords)
		}
		return false
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if !beginsWith(sub, keywords) {
				return false
			}
		}
		return true
	}
	return false
}

// literalPrefix reports whether neighboring literals and optional groups, which
// the parser separates, begin with a keyword.
func literalPrefix(subs []*syntax.Regexp, keywords []string) bool {
	prefixes := []string{""}
	for _, sub := range subs {
		choices := literals(sub)
		if choices == nil {
			break
		}
		var longer []string
		for _, p := range prefixes {
			for _, c := range choices {
				longer = append(longer, p+c)
			}
		}
		prefixes = longer
	}
	for _, p := range prefixes {
		if !beginsWith(&syntax.Regexp{Op: syntax.OpLiteral, Rune: []rune(p)}, keywords) {
			return false
		}
	}
	return true
}

// literals returns the texts that re matches, in lower case; nil if there are
// many, or if re is of another form.
func literals(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(re.Rune))}
	case syntax.OpCapture:
		return literals(re.Sub[0])
	case syntax.OpCharClass:
		var all []string
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i+1]-re.Rune[i] > 8 {
				return nil
			}
			for c := re.Rune[i]; c <= re.Rune[i+1]; c++ {
				all = append(all, strings.ToLower(string(c)))
			}
		}
		return all
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			some := literals(sub)
			if some == nil {
				return nil
			}
			all = append(all, some...)
		}
		return all
	}
	return nil
}

// write writes the rule as a Go literal.
func (r rule) write(out *bytes.Buffer) {
	fmt.Fprintf(out, "{\nid: %q,\n", r.ID)
	if r.name != "" {
		if !isPlain(r.name, r.Keywords) {
			fmt.Fprintf(out, "name: %s,\n", quoted(r.name))
		}
		value := r.value
		if r.fold {
			value = "(?i)" + value
		}
		fmt.Fprintf(out, "framed: true, re: %s,\n", quoted(value))
	} else {
		fmt.Fprintf(out, "re: %s,\nbefore: %d,\n", quoted(r.Regex), r.before)
		if r.solid && r.before == 0 {
			out.WriteString("solid: true,\n")
		}
	}
	fmt.Fprintf(out, "min: %d, max: %d,\n", r.min, r.max)
	if strings.Contains(r.Regex, "(?P<") || repeatsGroup(r.Regex) {
		out.WriteString("group: wholeMatch,\n") // its groups are parts of the match
	}
	if r.SecretGroup > 0 && r.name == "" {
		fmt.Fprintf(out, "group: %d,\n", r.SecretGroup)
	}
	if r.Entropy > 0 {
		fmt.Fprintf(out, "entropy: %v,\n", r.Entropy)
	}
	fmt.Fprintf(out, "words: %#v,\n", r.Keywords)
	if len(r.allowlists) > 0 {
		out.WriteString("allow: []allowRule{\n")
		for _, a := range r.allowlists {
			a.write(out)
		}
		out.WriteString("},\n")
	}
	out.WriteString("},\n")
}

// repeatsGroup reports whether the pattern repeats a group, so that the group holds only the
// last of its matches.
func repeatsGroup(pattern string) bool {
	for _, end := range [...]string{"){", ")*", ")+"} {
		for at := 0; ; {
			i := strings.Index(pattern[at:], end)
			if i < 0 {
				break
			}
			at += i + 1
			if open := strings.LastIndexByte(pattern[:at], '('); open >= 0 && pattern[open+1] != '?' {
				return true
			}
		}
	}
	return false
}

// isPlain reports whether the pattern of a name is just its keywords.
func isPlain(name string, keywords []string) bool {
	return strings.EqualFold(name, strings.Join(keywords, "|"))
}

// write writes the list as a Go literal. Well-known public secrets are written
// as hashes, so that no scanner treats the file as a leak.
func (a allowlist) write(out *bytes.Buffer) {
	var patterns []string
	var sums []uint64
	for _, re := range a.Regexes {
		if len(re) >= 32 && regexp.QuoteMeta(re) == re {
			h := fnv.New64a()
			h.Write([]byte(re))
			sums = append(sums, h.Sum64())
			continue
		}
		patterns = append(patterns, re)
	}
	fmt.Fprintf(out, "{target: %q,\n", a.RegexTarget)
	if len(patterns) > 0 {
		fmt.Fprintf(out, "re: %s,\n", quoted("(?:"+strings.Join(patterns, ")|(?:")+")"))
	}
	if len(sums) > 0 {
		fmt.Fprintf(out, "sums: %#v,\n", sums)
	}
	if len(a.Stopwords) > 0 {
		fmt.Fprintf(out, "words: %#v,\n", a.Stopwords)
	}
	out.WriteString("},\n")
}
