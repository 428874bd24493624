package policy

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agentcompact/compact/message"
)

const (
	summaryOpen  = "<COMPACT-SUMMARY v"
	summaryClose = "</COMPACT-SUMMARY>"
)

// MaxSummaryVersion bounds what a forged summary can claim. A summary that
// follows one of this version has it too.
const MaxSummaryVersion = 1_000_000_000

// NewSummary returns the message that stands for summarised ones: an assistant
// message
//
//	<COMPACT-SUMMARY v3>
//	…
//	</COMPACT-SUMMARY>
func NewSummary(version int, body string) message.Message {
	return message.Assistant(WrapSummary(version, body))
}

// WrapSummary puts the tags around the text of a summary.
func WrapSummary(version int, body string) string {
	return fmt.Sprintf("%s%d>\n%s\n%s", summaryOpen, version, strings.TrimSpace(body), summaryClose)
}

// ParseSummary returns version and body of a summary message, by an exact
// parse: an assistant message whose one text has the form of [NewSummary].
// Anything that merely looks like one is somebody's text.
func ParseSummary(m message.Message) (version int, body string, ok bool) {
	if (m.Role != message.RoleAssistant && m.Role != message.RoleUser) || len(m.Parts) != 1 || m.Parts[0].Kind != message.KindText {
		return 0, "", false
	}
	rest, ok := strings.CutPrefix(m.Parts[0].Text, summaryOpen)
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

// IsSummary reports whether m is a summary of ours.
func IsSummary(m message.Message) bool {
	_, _, ok := ParseSummary(m)
	return ok
}

const (
	noticeOpen  = "[conversation truncated — "
	noticeClose = " older messages omitted]"
)

// NewNotice returns the system message that stands for messages that were
// given up without a summary.
func NewNotice(omitted int) message.Message {
	return message.System(noticeOpen + strconv.Itoa(omitted) + noticeClose)
}

// ParseNotice returns the number that a notice of ours states.
func ParseNotice(m message.Message) (omitted int, ok bool) {
	if m.Role != message.RoleSystem || m.Protected || len(m.Parts) != 1 {
		return 0, false
	}
	s, ok := strings.CutPrefix(m.Parts[0].Text, noticeOpen)
	if !ok {
		return 0, false
	}
	if s, ok = strings.CutSuffix(s, noticeClose); !ok {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 0 && strconv.Itoa(n) == s
}
