// Package material holds the source of a summary. Package internal/summarize provides it,
// and package strategy reads it. No other package can.
package material

import "github.com/agentcompact/compact/message"

// StageName is the name of the stage that summarizes, in configurations and events.
const StageName = "summarize"

// BackendExtractive is the name of strategy.Extractive in reports and events.
const BackendExtractive = "extractive"

// Aim is the share of the limit that a prompt gives to a model as its limit. The rest
// leaves room for references and for counting errors of the model.
const Aim = 0.75

// An Input is the source of a summary.
type Input struct {
	Previous string // body of the previous summary; "" = none
	Messages []message.Message
	// Visible are the messages that stay in the view next to the summary, so that their identifiers
	// need not be repeated.
	Visible   []message.Message
	First     int // number of the first message, for ids of steps; default 1
	MaxTokens int // maximum tokens, the user's words included; 0 = no limit
	// UserTokens is the maximum number of tokens of the user's words, at most the limit in
	// Terms; 0 = the limit in Terms.
	UserTokens int
	// Ref returns the reference of message i for a recall, "" if there is none. It may
	// be nil.
	Ref    func(i int) string
	Tokens int // tokens of Messages and Previous, for observers; 0 = not counted
	// Count returns the tokens of a text. It is required, and must be safe for
	// concurrent use.
	Count func(text string) int
	// After is the number of Messages that came after the last message of the
	// user in Visible; 0 = none.
	After int
	// Upto is the number of messages in the view up to the last of Messages;
	// 0 = unknown.
	Upto int
}

// Terms are the settings of a writer on which the text of a summary depends.
type Terms struct {
	MaxTokens    int    // maximum tokens of a summary without the user's words
	UserTokens   int    // maximum tokens of the user's words
	Instructions string // for a model, in addition to the strategy's instructions
	// Redact is applied to all input before its use, and to every summary. nil = no
	// redaction.
	Redact func(text string) string
	Raw    bool // the messages reach the summarizer unredacted
	Recall bool // the agent can recall references
	First  int  // number of the first message of an Input without First; 0 = the number after the last number that Previous cites
	// AllSeen says that the model has read the visible messages, too.
	AllSeen bool
}

// A Text is the text of a finished summary.
type Text struct {
	Text       string
	Named      int     // identifiers in the text
	References int     // identifiers that only the section References names
	Invented   int     // identifiers that were removed because the source lacks them
	Retention  float64 // share of the most salient identifiers in the text
}

// FromUser reports whether a message has the user's role and holds no results.
func FromUser(m *message.Message) bool {
	return m.Role == message.RoleUser && !m.Has(message.KindToolResult)
}
