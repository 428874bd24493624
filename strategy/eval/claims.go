package eval

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/lazy"
)

// claimChanged matches claims that a file was changed; notChanged matches
// negations.
var (
	claimChanged = lazy.Compile(`\b(?:edited|created|changed|deleted|renamed|modified|updated|wrote|written|rewrote|removed|replaced|moved)\b`)
	notChanged   = lazy.Compile(`\b(?:not|never|fail(?:ed|s)?|refused|rejected|unchanged|error|without)\b|(?:does|did|was|is|were|could|can)n?’?t\b`)
)

// unmade returns the files that a line reports as changed although all their edits were
// refused.
func (f *Facts) unmade(v view) []string {
	var out []string
	for _, p := range f.Refused {
		if v.line(func(l line) bool {
			return !l.words && claimChanged.MatchString(l.low) && !notChanged.MatchString(l.low) && l.path(p)
		}) {
			out = append(out, p)
		}
	}
	return out
}

// claimReturned matches a line that quotes the result of a tool.
var claimReturned = lazy.Compile(`\breturned:? (.+)`)

// quotedHead is the number of quoted bytes that must appear in the result.
const quotedHead = 20

// returns counts the lines that quote the result of a tool, and the lines among them whose
// quotation is in no result of the tool.
func (f *Facts) returns(v view) (stated, wrong int) {
	for _, l := range v.lines {
		m := claimReturned.FindStringSubmatch(l.low)
		if m == nil || l.words {
			continue
		}
		said := strings.TrimPrefix(m[1], "… ") // the mark of a gap is not part of the quotation
		words := unspaced(head(bare(said), quotedHead))
		named, found := false, false
		for _, r := range f.Tools {
			if namesTool(l.low, r.Command) {
				named, found = true, found || strings.Contains(unspaced(r.Result), words) || hasMember(r.Result, said)
			}
		}
		stated += count(named)
		wrong += count(named && !found)
	}
	return stated, wrong
}

// hasMember reports whether a result in JSON has the first member that a line quotes.
// Lines quote the state of a record before its description.
func hasMember(result, said string) bool {
	first, _, _ := strings.Cut(said, ", ")
	return len(first) > 3 && strings.Contains(first, ": ") && strings.Contains(unspaced(result), unspaced(bare(first)))
}

// unspaced removes the spaces of a text, which mean nothing in JSON.
func unspaced(s string) string { return strings.ReplaceAll(s, " ", "") }

// namesTool reports whether a line contains the name of a tool as a whole name.
func namesTool(low, tool string) bool {
	for _, w := range strings.FieldsFunc(low, func(r rune) bool { return !isName(r) }) {
		if w == strings.ToLower(tool) {
			return true
		}
	}
	return false
}

func isName(r rune) bool {
	return r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z'
}

var brackets = strings.NewReplacer("{", "", "}", "", "[", "", "]", "")

// bare returns a normalized text without the brackets of JSON.
func bare(s string) string { return even(brackets.Replace(even(s))) }
