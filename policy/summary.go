package policy

import "github.com/agentcompact/compact/message"

// MaxSummaryVersion bounds what a forged summary can claim. A summary that
// follows one of this version has it too.
const MaxSummaryVersion = message.MaxSummaryVersion

// NewSummary returns the message that stands for summarized ones: an assistant
// message
//
//	<COMPACT-SUMMARY v3>
//	…
//	</COMPACT-SUMMARY>
func NewSummary(version int, body string) message.Message {
	return message.Assistant(WrapSummary(version, body))
}

// WrapSummary puts the tags around the text of a summary.
func WrapSummary(version int, body string) string { return message.SummaryText(version, body) }

// ParseSummary returns version and body of a summary message, by an exact
// parse: an assistant message whose one text has the form of [NewSummary].
// Anything that merely looks like one is somebody's text.
func ParseSummary(m message.Message) (version int, body string, ok bool) {
	if (m.Role != message.RoleAssistant && m.Role != message.RoleUser) || len(m.Parts) != 1 || m.Parts[0].Kind != message.KindText {
		return 0, "", false
	}
	return message.ParseSummaryText(m.Parts[0].Text)
}

// IsSummary reports whether m is a summary of ours.
func IsSummary(m message.Message) bool {
	_, _, ok := ParseSummary(m)
	return ok
}

// NewNotice returns the system message that stands for messages that were
// given up without a summary.
func NewNotice(omitted int) message.Message { return message.System(message.NoticeText(omitted)) }

// ParseNotice returns the number that a notice of ours states.
func ParseNotice(m message.Message) (omitted int, ok bool) {
	if m.Role != message.RoleSystem || m.Protected || len(m.Parts) != 1 {
		return 0, false
	}
	return message.ParseNoticeText(m.Parts[0].Text)
}
