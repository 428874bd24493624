package policy

import "github.com/agentcompact/compact/message"

// NewSummary returns the message that replaces summarized messages: an assistant
// message
//
//	<COMPACT-SUMMARY v3>
//	…
//	</COMPACT-SUMMARY>
func NewSummary(version int, body string) message.Message {
	return message.Assistant(message.SummaryText(version, body))
}

// ParseSummary returns the version and the body of a summary. The parse is exact:
// m must be an assistant or user message with a single text part that has the
// form of [NewSummary]. ok is false for anything else.
func ParseSummary(m message.Message) (version int, body string, ok bool) {
	if (m.Role != message.RoleAssistant && m.Role != message.RoleUser) || len(m.Parts) != 1 || m.Parts[0].Kind != message.KindText {
		return 0, "", false
	}
	return message.ParseSummaryText(m.Parts[0].Text)
}

// IsSummary reports whether [ParseSummary] accepts m.
func IsSummary(m message.Message) bool {
	_, _, ok := ParseSummary(m)
	return ok
}

// NewNotice returns the system message that replaces messages that were removed
// without a summary.
func NewNotice(omitted int) message.Message { return message.System(message.NoticeText(omitted)) }

// ParseNotice returns the number of omitted messages that a notice of [NewNotice]
// states.
func ParseNotice(m message.Message) (omitted int, ok bool) {
	if m.Role != message.RoleSystem || m.Protected || len(m.Parts) != 1 {
		return 0, false
	}
	return message.ParseNoticeText(m.Parts[0].Text)
}
