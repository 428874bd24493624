package invariant

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/message"
)

// checkTexts checks every edited part: only results may be edited, by a placeholder
// or a cut that states the size of the original.
func (j *judge) checkTexts() {
	for i, o := range j.place {
		if o < 0 || same(j.In[i], j.Out[o]) || len(j.In[i].Parts) != len(j.Out[o].Parts) {
			continue
		}
		for p, part := range j.In[i].Parts {
			if is := j.Out[o].Parts[p]; is.Text != part.Text {
				j.checkText(i, p, part, is.Text)
			}
		}
		j.checkBytes(i, o)
	}
}

func (j *judge) checkText(i, p int, was message.Part, is string) {
	switch {
	case was.Kind.IsMedia() && standsFor(was, j.Out[j.place[i]].Parts[p]):
		j.checkStandsFor(i, p, is)
	case was.Kind != resultKind || was.Sealed:
		j.fail(RuleText, "part %d of message %d is %s (sealed: %v) and was edited", p, i, was.Kind, was.Sealed)
	case j.cameMasked(i, p) && lostOnlyDetails(was.Text, is):
		// The reference may be missing if it does not fit the budget.
	case j.cameMasked(i, p):
		j.fail(RuleMasked, "message %d: %q became %.80q", i, was.Text, is)
	case utf8.ValidString(was.Text) && !utf8.ValidString(is):
		j.fail(RuleText, "message %d is cut inside a character", i)
	case j.isMasked(i, p, is):
		j.checkPlaceholder(i, p, is)
	case j.Tidies && !isCut(is):
		if why := tidied(j.originOf(i, p), is); why != "" {
			j.fail(RuleText, "message %d: %s", i, why)
		}
	default:
		if why := j.truncation(i, p, was.Text, is); why != "" {
			j.fail(RuleText, "message %d: %s", i, why)
		}
	}
}

// checkStandsFor: the text that replaces media states the size of the media.
func (j *judge) checkStandsFor(i, p int, is string) {
	m, part := mediaForm.FindStringSubmatch(is), j.In[i].Parts[p]
	if part.Media != nil && part.Media.Bytes > 0 && m[3] != strconv.Itoa(part.Media.Bytes) {
		j.fail(RuleText, "message %d: part %d has %d bytes, but the text in its place is %q", i, p, part.Media.Bytes, is)
	}
}

// lostOnlyDetails reports whether a placeholder lost only its reference and the description
// of the call, or its dispatch blocks if it had nothing else to lose.
func lostOnlyDetails(was, is string) bool {
	if rest, ok := cutDispatch(was); ok && rest != "" {
		return observationAlone.MatchString(is)
	}
	m := observationForm.FindStringSubmatch(was)
	return m != nil && m[0] == was && "[observation masked — "+m[1]+" chars]" == is
}

var observationAlone = regexp.MustCompile(`^\[observation masked — \d+ chars\]$`)

// isMasked reports whether the new text of a part is a placeholder, with the
// beginning of the old text or its surviving dispatch blocks.
func (j *judge) isMasked(i, p int, is string) bool {
	if rest, ok := cutDispatch(is); ok {
		blocks, _ := j.blocks(i, p)
		survived, ok := remainingBlocks(rest)
		alike := equal
		if j.Earlier { // the result may have been truncated before
			alike = cutBlock
		}
		return ok && isSubsequence(survived, blocks, alike)
	}
	if j.placeholder(is) {
		return true
	}
	head, _, ok := cutObservation(is)
	return ok && strings.HasPrefix(j.In[i].Parts[p].Text, head)
}

// cutObservation splits a masked text into the kept beginning and the placeholder.
func cutObservation(text string) (head string, found []string, ok bool) {
	at := strings.LastIndex(text, "\n")
	found = observationForm.FindStringSubmatch(text[at+1:])
	if found == nil || found[0] != text[at+1:] {
		return "", nil, false
	}
	return text[:max(at, 0)], found, true
}

func (j *judge) checkPlaceholder(i, p int, is string) {
	origin := j.originOf(i, p)
	var survived []string
	if rest, ok := cutDispatch(is); ok {
		survived, _ = remainingBlocks(rest)
		n := utf8.RuneCountInString(origin) - utf8.RuneCountInString(strings.Join(survived, ""))
		if said := dispatchForm.FindStringSubmatch(is)[1]; said != strconv.Itoa(n) {
			j.fail(RuleText, "message %d: the placeholder states %s masked characters, but there are %d", i, said, n)
		}
	}
	// Blocks that an earlier truncation removed can't survive.
	if blocks, whole := j.blocks(i, p); !j.Earlier && !isSubsequence(blocks[:whole], survived, equal) {
		j.fail(RuleDispatch, "message %d: %d blocks became %.80q", i, whole, is)
	}
	if _, found, ok := cutObservation(is); ok {
		if n := utf8.RuneCountInString(origin); found[1] != strconv.Itoa(n) {
			j.fail(RuleText, "message %d: the original had %d characters, but the placeholder is %q", i, n, found[0])
		}
		part := j.In[i].Parts[p]
		part.Text = origin
		if ref := part.Fingerprint().Ref(); found[6] != "" && found[6] != ref {
			j.fail(RuleText, "message %d: the original's reference is %s, but the placeholder is %q", i, ref, found[0])
		}
		if why := j.misnamed(i, p, found[2], found[3]) + misquoted(origin, found[4], found[5]) + j.concealed(i, p, found[3], found[4]); why != "" {
			j.fail(RuleText, "message %d: %q: %s", i, found[0], why)
		}
	}
	if found := resultForm.FindStringSubmatch(is); found != nil {
		j.checkTokens(i, origin, found[1])
	}
}

func (j *judge) checkTokens(i int, origin, said string) {
	if j.Text == nil {
		return
	}
	if n := j.Text(origin); said != strconv.Itoa(n) {
		j.fail(RuleText, "message %d: the original had %d tokens, the marker says %s", i, n, said)
	}
}

// truncation returns the reason why a text can't be the truncation of another, or "".
func (j *judge) truncation(i, p int, was, is string) string {
	for _, form := range []struct {
		marker *regexp.Regexp
		fits   func(before, after string) bool
	}{
		{headMarker, func(before, after string) bool { return after == "" && strings.HasPrefix(was, before) }},
		{tailMarker, func(before, after string) bool { return before == "" && strings.HasSuffix(was, after) }},
		{bothMarker, func(before, after string) bool {
			return len(before)+len(after) <= len(was) && strings.HasPrefix(was, before) && strings.HasSuffix(was, after)
		}},
	} {
		for _, at := range form.marker.FindAllStringSubmatchIndex(is, -1) {
			if form.fits(is[:at[0]], is[at[1]:]) {
				j.checkTokens(i, j.originOf(i, p), is[at[4]:at[5]])
				return j.limit(is, is[at[0]:at[1]], is[at[2]:at[3]])
			}
		}
	}
	return "the new text is neither a placeholder nor a truncation: " + strconv.Quote(is[:min(len(is), 120)])
}

// limit compares the remaining text with the limit in the marker. A marker alone
// may exceed it.
func (j *judge) limit(is, marker, stated string) string {
	limit, err := strconv.Atoi(stated)
	if err != nil {
		return err.Error()
	}
	if j.Text == nil {
		return ""
	}
	if n := j.Text(is); n > limit+j.Text(marker) {
		return "cut to " + strconv.Itoa(n) + " tokens, and the marker says " + stated
	}
	return ""
}
