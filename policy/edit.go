package policy

import (
	"context"
	"errors"
	"fmt"

	"github.com/agentcompact/compact/message"
)

// A Decision says what happened to a message.
type Decision uint8

// Every input message has exactly one of these decisions.
const (
	Kept Decision = iota
	Truncated
	Masked
	Summarized
	Dropped
)

var decisionNames = [...]string{"kept", "truncated", "masked", "summarized", "dropped"}

// String returns the word used in reports and ledgers.
func (d Decision) String() string { return decisionNames[d] }

// MarshalText returns the word of [Decision.String].
func (d Decision) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// An Edit is one proposed change: a new text for one part, or a cut. Exactly
// one of Text and Cut is set.
type Edit struct {
	Decision Decision
	Reason   string
	Text     *TextEdit
	Cut      *Cut
}

// A TextEdit builds the new text of one part from ranges of the old text, marks and
// literals. It holds no text of the history, so that a ledger can store it.
type TextEdit struct {
	Index    int // index of the message in the view
	Part     int // index of the part in the message
	Segments []Segment
}

// A Segment is a range [From, To) of bytes of the old text, a mark, or a
// literal. A literal comes from the stage and never from the history, because a
// ledger stores it.
type Segment struct {
	From int    `json:"from,omitempty"`
	To   int    `json:"to,omitempty"`
	Mark *Mark  `json:"mark,omitempty"`
	Lit  string `json:"lit,omitempty"`
}

// A Mark is a placeholder or a truncation marker before it is rendered. It has the
// sizes of the original text, even after several edits.
type Mark struct {
	Form   string `json:"form"` // see [Forms]
	Chars  int    `json:"chars,omitempty"`
	Tokens int    `json:"tokens,omitempty"`
	Kept   int    `json:"kept,omitempty"` // tokens that a truncation kept
	Turn   int    `json:"turn,omitempty"` // number of the turn in the conversation, from 1
	Ref    string `json:"ref,omitempty"`
	// Ended says that Exit is known. Exit is the exit code from the status line
	// of the result.
	Ended bool `json:"ended,omitempty"`
	Exit  int  `json:"exit,omitempty"`
	// SaysFrom and SaysTo delimit the bytes of the replaced text that state the outcome of
	// a test run, a build or a linter. SaysTo 0 means that nothing is quoted.
	SaysFrom int `json:"says_from,omitempty"`
	SaysTo   int `json:"says_to,omitempty"`
	// What is the kind of media that the mark replaces: image, audio or file.
	// Chars is then its size in bytes.
	What string `json:"what,omitempty"`
}

// Origin returns the origin of the part that the mark replaces.
func (k Mark) Origin(masked bool) Origin {
	return Origin{Chars: k.Chars, Tokens: k.Tokens, Ref: k.Ref, Masked: masked, Media: k.What != ""}
}

// kind returns the kind of media that the mark replaces.
func (k *Mark) kind() message.Kind {
	for _, kind := range []message.Kind{message.KindAudio, message.KindFile} {
		if kind.String() == k.What {
			return kind
		}
	}
	return message.KindImage
}

// ErrEdit is wrapped by every error of an edit that does not fit the conversation.
var ErrEdit = errors.New("policy: the edit does not fit the conversation")

// A Cut removes whole rounds from the view and puts one message in their place.
// The remaining messages have this order: pinned rounds from before Recent,
// New, the other kept messages from before Recent (the anchor), and everything
// from Recent on. If the anchor's round is pinned, the pinned rounds after it
// stay behind it, so that pinned rounds never change their order.
type Cut struct {
	Removed []int            // indexes in the view, ascending, whole rounds
	Recent  int              // the index at which the recent span begins
	New     *message.Message // the summary or the notice; nil = no new message
	// Summary describes New if New is a summary.
	Summary *SummaryInfo
	// Behind puts New first, and moves the pinned rounds behind the kept messages from
	// before Recent. The pinned rounds at the start of the conversation stay there. Behind
	// is for providers that refuse the usual order. They require that the user speaks
	// first, or that instructions come between the user and the model.
	Behind bool
	// First leaves the first message in front of all others. Its role does not pin
	// the message, but the provider requires it there.
	First bool
	// Copies says that the removed messages are older copies of pinned
	// messages, see [Duplicates]. No other message moves.
	Copies bool
}

// SummaryInfo describes a summary in ledgers, reports and events.
type SummaryInfo struct {
	Version   int      `json:"version"`
	Strategy  string   `json:"strategy"`
	Backend   string   `json:"backend"` // the backend that wrote it: "extractive", "openai", …
	Model     string   `json:"model,omitempty"`
	Text      string   `json:"text"`                    // text of the message, tags included
	Tokens    int      `json:"tokens"`                  // tokens of Text
	First     int      `json:"first_message,omitempty"` // number of the first input message in the text's citations; 0 = unknown
	Input     int      `json:"input_messages"`          // number of messages that it replaces
	InputSize int      `json:"input_tokens"`            // tokens of these messages
	Calls     int      `json:"calls"`                   // number of required drafts: pieces and merges
	Attempts  int      `json:"attempts"`                // number of calls of the summarizer, failed ones included, those of the fallback excluded
	Fallback  string   `json:"fallback,omitempty"`      // "pruning-only", "extractive", "brief"
	Retention float64  `json:"entity_retention"`        // share (0 to 1) of the most important identifiers of the input that Text names
	Named     int      `json:"identifiers"`             // number of identifiers in the summary
	Invented  int      `json:"invented_removed"`        // number of identifiers that were cut because the input lacks them
	Added     int      `json:"references_added"`        // number of identifiers that only the section References names
	Errors    []string `json:"errors,omitempty"`
}

// A Proposal is the offer of a stage: groups of edits, the least harmful first. The
// engine takes a group whole or not at all. It takes the shortest run of groups that
// reaches the goal.
type Proposal struct {
	Groups [][]Edit
	// Alternatives means that each group replaces the previous group instead of
	// adding to it. Each group must free at least as many tokens as the previous one.
	Alternatives bool
	// Summary describes an attempt to summarize, successful or not.
	Summary *SummaryInfo
	// Failed holds errors for parts of the view that the stage left unchanged. The
	// groups are valid nevertheless.
	Failed []error
}

// A Stage proposes edits that make a conversation smaller. Its methods may be
// called concurrently, for different views.
type Stage interface {
	// Name returns the name of the stage in results and events. It never changes.
	Name() string
	// Propose must not modify the view, and should return the same proposal for the same
	// view. An empty Proposal means that the stage has nothing to offer; that is not an
	// error. An error of the context ends the compaction. Any other error is reported, and
	// the next stage runs.
	Propose(ctx context.Context, v *View) (Proposal, error)
}

// An Estimator is a stage that can estimate the effect of its proposal without
// spending money. Dry runs call Estimate instead of [Stage.Propose].
type Estimator interface {
	Stage
	// Estimate is like Propose, but each new message is a stand-in of the
	// expected size.
	Estimate(v *View) (Proposal, error)
}

// A Goal says when a stage stops.
type Goal uint8

// Goals of a stage.
const (
	ToTarget Goal = iota // until the view costs no more than the target
	ToBudget             // only if the view exceeds the cap of the budget, and down to the cap
	All                  // until all offered edits are made
)

// When says at which calls a stage or a policy works.
type When string

// A stage works at the trigger, in one batch of lasting edits (AtTrigger), or at every
// call (Always). A whole policy compacts at the trigger (AtWindow; AtTrigger means the
// same), also whenever a compaction pays (Economic), or only on request (Never).
const (
	AtTrigger When = "trigger"
	AtWindow  When = "window"
	Always    When = "always"
	Never     When = "never"
	Economic  When = "economic"
)

// A PanicError reports a panic of a stage.
type PanicError struct {
	Stage string
	Value any
	Stack []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("policy: stage %s panicked: %v", e.Stage, e.Value)
}
