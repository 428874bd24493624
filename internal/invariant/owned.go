package invariant

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/message"
)

// What the project itself writes into a view, by exact grammar. A number that
// no text can have is text.
var (
	summaryForm = regexp.MustCompile(`(?s)\A<COMPACT-SUMMARY v([1-9][0-9]{0,6})>\n(.*)\n</COMPACT-SUMMARY>\z`)
	noticeForm  = regexp.MustCompile(`\A\[conversation truncated — (0|[1-9][0-9]*) older messages omitted\]\z`)

	observationForm = regexp.MustCompile(`\[observation masked — (0|[1-9][0-9]{0,17}) chars(?: · recall ([0-9a-f]{12}))?\]\z`)
	resultForm      = regexp.MustCompile(`\A\[result masked — ~(0|[1-9][0-9]{0,17}) tokens removed\]\z`)
	dispatchForm    = regexp.MustCompile(`\A\[dispatch output masked — (0|[1-9][0-9]{0,17}) chars\]\n`)

	headMarker = regexp.MustCompile(`\n\n\[truncated: kept first ~([0-9]+) of ~([0-9]+) tokens \(head\)\]\z`)
	tailMarker = regexp.MustCompile(`\A\[truncated: kept last ~([0-9]+) of ~([0-9]+) tokens \(tail\)\]\n\n`)
	bothMarker = regexp.MustCompile(`\n\n\[truncated: kept first\+last ~([0-9]+) of ~([0-9]+) tokens \(both\)\]\n\n`)
)

// parseSummary recognises a summary of ours: one text, nothing else.
func parseSummary(m message.Message) (version int, body string, ok bool) {
	if m.Role != message.RoleAssistant && m.Role != message.RoleUser || len(m.Parts) != 1 || m.Parts[0].Kind != message.KindText {
		return 0, "", false
	}
	text := m.Parts[0].Text
	if !strings.HasPrefix(text, "<COMPACT-SUMMARY v") {
		return 0, "", false
	}
	found := summaryForm.FindStringSubmatch(text)
	if found == nil {
		return 0, "", false
	}
	version, _ = strconv.Atoi(found[1])
	return version, found[2], version <= 1_000_000_000
}

// parseNotice recognises the system message that says how much was given up.
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

// ours reports whether a message is a summary or a notice.
func ours(m message.Message) bool {
	if _, _, ok := parseSummary(m); ok {
		return true
	}
	_, ok := parseNotice(m)
	return ok
}

// placeholder reports whether a text is a placeholder as a whole.
func (c *Case) placeholder(text string) bool {
	if c.Placeholder != nil && c.Placeholder(text) {
		return true
	}
	return wholePlaceholder(text)
}

func wholePlaceholder(text string) bool {
	if rest, ok := cutDispatch(text); ok {
		blocks, _ := dispatched(rest)
		return rest == strings.Join(blocks, "\n")
	}
	if len(text) > 200 {
		return false
	}
	at := observationForm.FindStringIndex(text)
	return at != nil && at[0] == 0 || resultForm.MatchString(text)
}

// cutDispatch returns what follows the placeholder of a dispatch result.
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

// dispatched returns the blocks of a text that survive masking, and the number
// of characters outside of them.
func dispatched(text string) (blocks []string, outside int) {
	for {
		before, rest, found := strings.Cut(text, blockBegin)
		body, after, closed := strings.Cut(rest, blockEnd)
		if !found {
			return blocks, outside + utf8.RuneCountInString(text)
		}
		if !closed { // a block that was cut off goes on to the end
			return append(blocks, blockBegin+rest), outside + utf8.RuneCountInString(before)
		}
		outside += utf8.RuneCountInString(before)
		blocks = append(blocks, blockBegin+body+blockEnd)
		text = after
	}
}
