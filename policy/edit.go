package policy

import (
	"context"

	"github.com/agentcompact/compact/message"
)

// A Decision is what became of a message.
type Decision uint8

// Every input message has exactly one of these.
const (
	Kept Decision = iota
	Truncated
	Masked
	Summarized
	Dropped
)

var decisionNames = [...]string{"kept", "truncated", "masked", "summarized", "dropped"}

// String returns the word that reports and ledgers use.
func (d Decision) String() string { return decisionNames[d] }

// MarshalText writes the word.
func (d Decision) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// An Edit is one change that a stage proposes: the text of one part, or a cut.
// Exactly one of Text and Cut is set.
type Edit struct {
	Decision Decision
	Reason   string
	Text     *TextEdit
	Cut      *Cut
}

// A TextEdit rewrites the text of one part out of ranges of the old text and
// marks. It holds no text itself, so that a ledger can store it.
type TextEdit struct {
	Index    int // of the message in the view
	Part     int
	Segments []Segment
}

// A Segment is a range [From, To) of the old text in bytes, a mark, or a
// literal of the stage's own (never text of the history: a ledger stores it).
type Segment struct {
	From int    `json:"from,omitempty"`
	To   int    `json:"to,omitempty"`
	Mark *Mark  `json:"mark,omitempty"`
	Lit  string `json:"lit,omitempty"`
}

// A Mark is a placeholder or a truncation marker before it is rendered. Sizes
// are those of the original, however often it was edited since.
type Mark struct {
	Form   string `json:"form"` // see [Forms]
	Chars  int    `json:"chars,omitempty"`
	Tokens int    `json:"tokens,omitempty"`
	Kept   int    `json:"kept,omitempty"` // tokens that a truncation kept
	Turn   int    `json:"turn,omitempty"`
	Ref    string `json:"ref,omitempty"`
	// Ended says that Exit is known: the exit code that the status line of the
	// result states.
	Ended bool `json:"ended,omitempty"`
	Exit  int  `json:"exit,omitempty"`
	// What is the kind of the media that the mark stands for: image, audio or
	// file. Chars are their bytes then.
	What string `json:"what,omitempty"`
}

// origin is what the mark says of the part that it stands for.
func (k Mark) origin(masked bool) Origin {
	return Origin{Chars: k.Chars, Tokens: k.Tokens, Ref: k.Ref, Masked: masked, Media: k.What != ""}
}

// kind is that of the media that the mark stands for.
func (k *Mark) kind() message.Kind {
	for _, kind := range []message.Kind{message.KindAudio, message.KindFile} {
		if kind.String() == k.What {
			return kind
		}
	}
	return message.KindImage
}

// A Cut takes whole rounds out of the view and puts one message in their place.
// What is left stands in this order: pinned rounds from before Recent, New,
// what else is kept from before Recent (the anchor), and everything from
// Recent on. Where the anchor's round is pinned itself, the pinned rounds after
// it stay behind it, so that pinned rounds never change places.
type Cut struct {
	Removed []int            // messages of the view, ascending, whole rounds
	Recent  int              // the message at which the recent span begins
	New     *message.Message // the summary or the notice; nil = nothing stands for them
	// Summary describes New where it is a summary.
	Summary *SummaryInfo
	// Behind puts New first, and the pinned rounds that the conversation does not
	// begin with behind what else is kept from before Recent: for a wire that
	// would refuse the usual order, because it wants the user to speak first, or
	// instructions between the user and the model.
	Behind bool
	// First leaves the first message where it is, in front of all: it is not
	// removed, and no role pins it, but the wire wants it there.
	First bool
	// Copies says that what is removed are older copies of pinned messages, see
	// [Duplicates]. Nothing else moves.
	Copies bool

	// anchor is, in a replay, the message that was the last user message when
	// the cut was made, from 1; -1 = none. 0 = not a replay.
	anchor int
}

// SummaryInfo is what a ledger, a report and the events say of a summary.
type SummaryInfo struct {
	Version   int      `json:"version"`
	Strategy  string   `json:"strategy"`
	Backend   string   `json:"backend"` // which one wrote it: "extractive", "openai", …
	Model     string   `json:"model,omitempty"`
	Text      string   `json:"text"`                    // of the message, tags included
	Tokens    int      `json:"tokens"`                  // of Text
	First     int      `json:"first_message,omitempty"` // number of the first message of the input, as the text cites it; 0 = not known
	Input     int      `json:"input_messages"`
	InputSize int      `json:"input_tokens"`
	Calls     int      `json:"calls"`
	Attempts  int      `json:"attempts"`
	Fallback  string   `json:"fallback,omitempty"` // "pruning-only", "extractive", "brief"
	Retention float64  `json:"entity_retention"`
	Named     int      `json:"identifiers"` // that the summary names
	Invented  int      `json:"invented_removed"`
	Added     int      `json:"references_added"`
	Errors    []string `json:"errors,omitempty"`
}

// A Proposal is what a stage offers: groups of edits, least regretted first.
// A group is taken whole or not at all. The engine takes the shortest run of
// groups that reaches the goal.
type Proposal struct {
	Groups [][]Edit
	// Alternatives: each group stands for itself and replaces the one before
	// it, instead of adding to it. They must free more and more tokens.
	Alternatives bool
	// Summary describes an attempt to summarize, successful or not.
	Summary *SummaryInfo
	// Failed are errors of parts of the view that the stage leaves as they are. The
	// groups count all the same.
	Failed []error
}

// A Stage proposes edits that make a conversation smaller. Its methods may be
// called concurrently, for different views.
type Stage interface {
	// Name is what results and events call the stage; it never changes.
	Name() string
	// Propose must not modify the view, and must propose the same for the same
	// view where it can. An empty Proposal means that there is nothing to offer;
	// that is no error. An error ends the compaction only where it is the
	// context's; any other is reported and the next stage goes on.
	Propose(ctx context.Context, v *View) (Proposal, error)
}

// An Estimator is a stage that can say what its proposal would cost the view
// without spending anything; dry runs ask it instead of [Stage.Propose].
type Estimator interface {
	Stage
	// Estimate is Propose with a stand-in of the size that is to be expected in
	// place of each new message.
	Estimate(v *View) (Proposal, error)
}

// When says at which calls a stage works.
type When string

// Stages work at the trigger, in one batch that sticks, or at every call. A
// whole policy works by the window, also where it pays, or never; AtTrigger is
// AtWindow there.
const (
	AtTrigger When = "trigger"
	AtWindow  When = "window"
	Always    When = "always"
	Never     When = "never"
	Economic  When = "economic"
)
