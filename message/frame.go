package message

import (
	"strconv"
	"strings"
)

// MaxSummaryVersion bounds what a forged summary can claim. A summary that
// follows one of this version has it too.
const MaxSummaryVersion = 1_000_000_000

const (
	summaryOpen  = "<COMPACT-SUMMARY v"
	summaryClose = "</COMPACT-SUMMARY>"
	noticeOpen   = "[conversation truncated — "
	noticeClose  = " older messages omitted]"
)

// SummaryText puts the tags around the text of a summary:
//
//	<COMPACT-SUMMARY v3>
//	…
//	</COMPACT-SUMMARY>
func SummaryText(version int, body string) string {
	return summaryOpen + strconv.Itoa(version) + ">\n" + strings.TrimSpace(body) + "\n" + summaryClose
}

// ParseSummaryText returns version and body of a text that [SummaryText] made,
// by an exact parse.
func ParseSummaryText(s string) (version int, body string, ok bool) {
	rest, ok := strings.CutPrefix(s, summaryOpen)
	if !ok {
		return 0, "", false
	}
	number, rest, ok := strings.Cut(rest, ">\n")
	if !ok {
		return 0, "", false
	}
	version, err := strconv.Atoi(number)
	if err != nil || version < 1 || version > MaxSummaryVersion || strconv.Itoa(version) != number {
		return 0, "", false
	}
	body, ok = strings.CutSuffix(rest, "\n"+summaryClose)
	return version, body, ok
}

// NoticeText is the text that stands for messages that were given up without
// a summary.
func NoticeText(omitted int) string { return noticeOpen + strconv.Itoa(omitted) + noticeClose }

// ParseNoticeText returns the number in a text that [NoticeText] made, by an
// exact parse.
func ParseNoticeText(s string) (omitted int, ok bool) {
	s, ok = strings.CutPrefix(s, noticeOpen)
	if !ok {
		return 0, false
	}
	if s, ok = strings.CutSuffix(s, noticeClose); !ok {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 0 && strconv.Itoa(n) == s
}

// FrameRole returns the role that a user message with this one text has in a
// conversation: a wire that wants a user's message first writes a summary
// (assistant) and a notice (system) as user text, and they must mean the same
// when they come back. Any other text is the user's.
func FrameRole(text string) Role {
	if _, _, ok := ParseSummaryText(text); ok {
		return RoleAssistant
	}
	if _, ok := ParseNoticeText(text); ok {
		return RoleSystem
	}
	return RoleUser
}
