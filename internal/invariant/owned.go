package invariant

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/message"
)

// The exact grammar of the texts that this module writes into a view. A text with an
// impossible number, such as one with a leading zero, is ordinary text.
var (
	summaryHead = regexp.MustCompile(`\A<COMPACT-SUMMARY v([1-9][0-9]{0,6})>\n`)
	noticeForm  = regexp.MustCompile(`\A\[conversation truncated — (0|[1-9][0-9]*) older messages omitted\]\z`)

	observationForm = regexp.MustCompile(`\[observation masked — (0|[1-9][0-9]{0,17}) chars` +
		`(?: · ([^\s"\[\]·]+)(?: "([^·\x00-\x1f]+)"(?: · says "([^·\x00-\x1f]+)")?)?)?(?: · exit (0|-?[1-9][0-9]*))?(?: · recall ([0-9a-f]{12}))?\]\z`)
	resultForm   = regexp.MustCompile(`\A\[result masked — ~(0|[1-9][0-9]{0,17}) tokens removed\]\z`)
	dispatchForm = regexp.MustCompile(`\A\[dispatch output masked — (0|[1-9][0-9]{0,17}) chars\]\n`)

	headMarker = regexp.MustCompile(`\n\n\[truncated: kept first ~([0-9]+) of ~([0-9]+) tokens \(head\)\]\z`)
	tailMarker = regexp.MustCompile(`\A\[truncated: kept last ~([0-9]+) of ~([0-9]+) tokens \(tail\)\]\n\n`)
	bothMarker = regexp.MustCompile(`\n\n\[truncated: kept first\+last ~([0-9]+) of ~([0-9]+) tokens \(both\)\]\n\n`)
)

// parseSummary recognizes a summary of this module: one text, nothing else.
func parseSummary(m message.Message) (version int, body string, ok bool) {
	if m.Role != message.RoleAssistant && m.Role != message.RoleUser || len(m.Parts) != 1 || m.Parts[0].Kind != message.KindText {
		return 0, "", false
	}
	text := m.Parts[0].Text
	if !strings.HasPrefix(text, "<COMPACT-SUMMARY v") {
		return 0, "", false
	}
	head := summaryHead.FindStringSubmatch(text) // reads only the first line, because a regular expression would take long for the body
	if head == nil {
		return 0, "", false
	}
	body, ok = strings.CutSuffix(text[len(head[0]):], "\n</COMPACT-SUMMARY>")
	version, _ = strconv.Atoi(head[1])
	return version, body, ok
}

// parseNotice recognizes the notice, the system message that states how many messages
// were dropped.
func parseNotice(m message.Message) (omitted int, ok bool) {
	if m.Role != message.RoleSystem || m.Protected || len(m.Parts) != 1 {
		return 0, false
	}
	found := noticeForm.FindStringSubmatch(m.Parts[0].Text)
	if found == nil {
		return 0, false
	}
	omitted, err := strconv.Atoi(found[1])
	return omitted, err == nil
}

// ours reports whether a message is a summary or a notice of this module.
func ours(m message.Message) bool {
	if _, _, ok := parseSummary(m); ok {
		return true
	}
	_, ok := parseNotice(m)
	return ok
}

// placeholder reports whether a whole text is a placeholder.
func (c *Case) placeholder(text string) bool {
	if c.Placeholder != nil && c.Placeholder(text) {
		return true
	}
	return wholePlaceholder(text)
}

func wholePlaceholder(text string) bool {
	if rest, ok := cutDispatch(text); ok {
		_, ok = remainingBlocks(rest)
		return ok
	}
	const longest = 160 // maximum length of a placeholder, in characters
	if len(text) > 4*longest || utf8.RuneCountInString(text) > longest {
		return false
	}
	at := observationForm.FindStringIndex(text)
	return at != nil && at[0] == 0 || resultForm.MatchString(text) || mediaForm.MatchString(text)
}

// cutDispatch returns the text after the placeholder of a dispatch result.
func cutDispatch(text string) (rest string, ok bool) {
	at := dispatchForm.FindStringIndex(text)
	if at == nil {
		return "", false
	}
	return text[at[1]:], true
}

const (
	blockBegin = "BEGIN_DISPATCH_RESULT"
	blockEnd   = "END_DISPATCH_RESULT"
)

// dispatched returns the blocks of a text that survive masking. A block without an
// end may survive to the end of the text; whole counts the blocks with an end,
// which must survive.
func dispatched(text string) (blocks []string, whole int) {
	for {
		_, rest, found := strings.Cut(text, blockBegin)
		if !found {
			return blocks, whole
		}
		body, after, closed := strings.Cut(rest, blockEnd)
		if !closed {
			return append(blocks, blockBegin+rest), whole
		}
		blocks = append(blocks, blockBegin+body+blockEnd)
		whole++
		text = after
	}
}

// blocks returns the dispatch blocks of a result of In that survive masking; only
// results of a tool that dispatches work have them.
func (j *judge) blocks(i, p int) (blocks []string, whole int) {
	if !j.dispatches(i, p) {
		return nil, 0
	}
	return dispatched(j.In[i].Parts[p].Text)
}

// dispatches reports whether a result of In comes from a tool that dispatches work.
func (j *judge) dispatches(i, p int) bool {
	if j.Dispatch == nil {
		return true
	}
	part := j.In[i].Parts[p]
	if part.Name != "" {
		return j.Dispatch(part.Name)
	}
	call, _ := j.answered(i, p)
	return j.Dispatch(call.Name)
}

// answered returns the call that a result of In answers: the newest call before the
// result, because ids can recur.
func (j *judge) answered(i, p int) (message.Part, bool) {
	id := j.In[i].Parts[p].CallID
	for i--; i >= 0; i-- {
		for _, call := range slices.Backward(j.In[i].Parts) {
			if call.Kind == message.KindToolCall && call.CallID == id {
				return call, true
			}
		}
	}
	return message.Part{}, false
}

// cameMasked reports whether a result of In is a placeholder. A placeholder with
// blocks counts only if a tool that dispatches work returned it, or if an earlier
// compaction is known to have written it.
func (j *judge) cameMasked(i, p int) bool {
	text := j.In[i].Parts[p].Text
	if _, ok := cutDispatch(text); ok && j.originOf(i, p) == text && !j.dispatches(i, p) {
		return false
	}
	return j.placeholder(text)
}

// remainingBlocks splits the text after the placeholder of a dispatch result into its
// blocks. It returns false if the text holds anything else, or no block.
func remainingBlocks(rest string) ([]string, bool) {
	blocks, _ := dispatched(rest)
	return blocks, len(blocks) > 0 && rest == strings.Join(blocks, "\n")
}

// isSubsequence reports whether the elements of some occur in all, in their order.
func isSubsequence(some, all []string, alike func(some, one string) bool) bool {
	for _, b := range all {
		if len(some) > 0 && alike(some[0], b) {
			some = some[1:]
		}
	}
	return len(some) == 0
}

func equal(a, b string) bool { return a == b }

// cutBlock reports whether left can be block after a truncation: the same bytes, up
// to a marker if there is one. The marker can be followed by the end of a later
// block.
func cutBlock(left, block string) bool {
	for _, marker := range []*regexp.Regexp{headMarker, bothMarker} {
		if at := marker.FindStringIndex(left); at != nil && strings.HasPrefix(block, left[:at[0]]) {
			return true
		}
	}
	return left == block
}
