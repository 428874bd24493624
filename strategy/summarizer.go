package strategy

import (
	"context"

	"github.com/agentcompact/compact/message"
)

// A Summarizer writes drafts of summaries. It may be used concurrently.
type Summarizer interface {
	// Summarize writes one draft. It
	//   - makes one attempt: asking again is the caller's;
	//   - must not modify the messages, nor keep them after it returned;
	//   - returns the context's error soon after the context ends;
	//   - returns a *[Failure] where it can tell why there is no draft; any
	//     other error ends the attempts at once.
	// A draft need not be verified, nor within the limit: the caller checks both.
	Summarize(ctx context.Context, r Request) (Draft, error)
}

// A Describer is a Summarizer that describes itself.
type Describer interface {
	// Describe always returns the same Info, without any I/O. It may be called
	// concurrently.
	Describe() Info
}

// Info describes a Summarizer.
type Info struct {
	Name  string // "extractive", "openai", "agent"
	Model string // the model; empty if there is none
	// Window is the approximate number of tokens of a request and its answer
	// together; 0 = no limit.
	Window int
	// Reserve is the number of tokens kept free in the window besides the
	// answer, for reasoning.
	Reserve int
	// Remote: the messages leave the process.
	Remote bool
}

// describe returns the Info of s. If s is no Describer, it is assumed to be
// remote, with a common window.
func describe(s Summarizer) Info {
	if d, ok := s.(Describer); ok {
		return d.Describe()
	}
	return Info{Name: "custom", Window: 128_000, Remote: true}
}

// A Request is the input of a Summarizer.
type Request struct {
	Strategy Strategy
	// Previous is the body of the previous summary, which is to be summarized
	// as well.
	Previous string
	// Messages to summarize. Complete rounds; already redacted.
	Messages []message.Message
	// Visible messages stay in the view, so their identifiers need not be
	// repeated. They are redacted, too.
	Visible []message.Message
	// After is the number of Messages that came after the last message of the
	// user in Visible; 0 = none.
	After int
	// First is the number of the first message, for ids of steps.
	First int
	// Partial holds the drafts of pieces to merge, in order; Messages is empty
	// then.
	Partial []string
	// Notes are notes on all the messages, made without a model, as help for a
	// model; "" = none.
	Notes string
	// Instructions of the people who run the agent, added to those of the
	// strategy.
	Instructions string
	// MaxTokens is the maximum size of the draft, by Count.
	MaxTokens int
	// Count returns the tokens of a text. It is safe for concurrent use.
	Count func(text string) int
	// Shorten is the maximum size of an observation in the prompt, in
	// characters; a larger one becomes one line. 0 = no limit.
	Shorten int
	// Clip is the maximum size of any text in the prompt, in characters: its
	// beginning and its end are kept. 0 = no limit.
	Clip int

	// Upto is the number of messages of the view up to the last message to
	// summarize; 0 = unknown.
	Upto int

	history *History // of these messages, if it was read already
}

// A Draft is the output of a Summarizer.
type Draft struct {
	Text             string // markdown, with the strategy's headings
	PromptTokens     int    // billed; 0 = not known
	CompletionTokens int

	CacheKnown    bool // the server reported cached tokens
	CachedTokens  int  // of PromptTokens: read from it
	WrittenTokens int  // likewise: written into it

	Answer Answer
}

// An Answer holds the metadata of a model's answer. All fields may be empty.
type Answer struct {
	ID     string // of the completion
	Model  string // that wrote it
	Finish string // why it ended: "stop", "length"
	Server string // host:port of the server
	Seed   *int   // that the request carried
}
