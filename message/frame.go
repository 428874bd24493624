package message

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// MaxSummaryVersion is the highest version of a summary, so that a forged version
// cannot overflow the counter. The summary after a summary of this version gets the
// same version.
const MaxSummaryVersion = 1_000_000_000

const (
	summaryOpen  = "<COMPACT-SUMMARY v"
	summaryClose = "</COMPACT-SUMMARY>"
	noticeOpen   = "[conversation truncated — "
	noticeClose  = " older messages omitted]"
	mediaMasked  = " masked — ~"
	mediaTokens  = " tokens, "
	mediaBytes   = " bytes · ref "
)

// SummaryText returns the text of a summary within its tags:
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
	number, rest, _ := strings.Cut(rest, ">\n")
	version, _ = strconv.Atoi(number)
	if version < 1 || version > MaxSummaryVersion || strconv.Itoa(version) != number {
		return 0, "", false
	}
	body, ok = strings.CutSuffix(rest, "\n"+summaryClose)
	return version, body, ok
}

// NoticeText returns the text that replaces messages removed without a summary.
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
	n, _ := strconv.Atoi(s)
	return n, n >= 0 && strconv.Itoa(n) == s
}

// MediaText returns the text that replaces a picture, a sound or a file. size is
// the size of the original in bytes, ref its reference in the archive:
//
//	[image masked — ~1568 tokens, 412345 bytes · ref 3f9a2c1b70de]
func MediaText(k Kind, tokens, size int, ref string) string {
	return "[" + k.String() + mediaMasked + strconv.Itoa(tokens) + mediaTokens + strconv.Itoa(size) + mediaBytes + ref + "]"
}

// ParseMediaText parses a text of [MediaText], exactly.
func ParseMediaText(s string) (k Kind, tokens, size int, ref string, ok bool) {
	const most = 128 // maximum length of such a text, in bytes
	if len(s) > most || !strings.HasPrefix(s, "[") {
		return 0, 0, 0, "", false
	}
	what, rest, _ := strings.Cut(s[1:], mediaMasked)
	cost, rest, _ := strings.Cut(rest, mediaTokens)
	length, rest, _ := strings.Cut(rest, mediaBytes)
	tokens, _ = strconv.Atoi(cost)
	size, _ = strconv.Atoi(length)
	ref = strings.TrimSuffix(rest, "]")
	for k = KindImage; k < KindFile && k.String() != what; k++ {
	}
	digits, err := hex.DecodeString(ref)
	if err != nil || len(digits) != 6 || MediaText(k, tokens, size, ref) != s {
		return 0, 0, 0, "", false
	}
	return k, tokens, size, ref, true
}

// FrameRole returns the original role of a user message with this one text. On
// a wire that requires a user message at the start, a summary (assistant) and a
// notice (system) are written as user texts. When they come back, they must
// have their original role again. For any other text it returns the user's
// role.
func FrameRole(text string) Role {
	if _, _, ok := ParseSummaryText(text); ok {
		return RoleAssistant
	}
	if _, ok := ParseNoticeText(text); ok {
		return RoleSystem
	}
	return RoleUser
}
