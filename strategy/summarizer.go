package strategy

import (
	"context"

	"github.com/agentcompact/compact/message"
)

// A Summarizer writes drafts of summaries. It may be used concurrently.
type Summarizer interface {
	// Summarize writes one draft. It
	//   - makes one attempt, because the caller does the retries;
	//   - must not modify the messages, nor keep them after it returns;
	//   - returns the context's error soon after the context ends;
	//   - returns a *[Failure] if it knows why there is no draft; any
	//     other error ends the attempts at once.
	// A draft need not be verified, nor be within the limit: the caller checks both.
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
	// Remote says that the messages leave the process.
	Remote bool
}

// A Request is the input of a Summarizer.
type Request struct {
	Strategy Strategy
	// Previous is the body of the previous summary, which is to be summarized
	// as well.
	Previous string
	// Messages are the messages to summarize: complete rounds, already redacted.
	Messages []message.Message
	// Visible are the messages that stay in the view, so that their identifiers need
	// not be repeated. They are also redacted.
	Visible []message.Message
	// After is the number of Messages that came after the last message of the
	// user in Visible; 0 = none.
	After int
	// First is the number of the first message, for ids of steps.
	First int
	// Partial holds the drafts of pieces to merge, in order. If it is not empty,
	// Messages is empty.
	Partial []string
	// Notes are notes on all messages. The notes are made without a model and help a
	// model; "" = no notes.
	Notes string
	// Instructions come from the people who run the agent. These instructions are added to
	// the instructions of the strategy.
	Instructions string
	// MaxTokens is the maximum size of the draft, by Count.
	MaxTokens int
	// Count returns the tokens of a text. It is safe for concurrent use.
	Count func(text string) int
	// Shorten is the maximum size of an observation in the prompt, in
	// bytes. A larger observation becomes one line. 0 = no limit.
	Shorten int
	// Clip is the approximate maximum size of any text in the prompt, in bytes. A longer
	// text loses its middle. 0 = no limit.
	Clip int

	// Upto is the number of messages of the view up to the last message to
	// summarize; 0 = unknown.
	Upto int

	history *History // of these messages, if it was read already
}

// A Draft is the output of a Summarizer.
type Draft struct {
	Text             string // markdown, with the strategy's headings
	PromptTokens     int    // billed tokens; 0 = unknown
	CompletionTokens int

	CacheKnown    bool // the server reported cached tokens
	CachedTokens  int  // part of PromptTokens read from a cache
	WrittenTokens int  // part of PromptTokens written into a cache

	Answer Answer
}

// An Answer holds the metadata of a model's answer. All fields may be empty.
type Answer struct {
	ID     string // id of the completion
	Model  string // model that wrote the answer
	Finish string // reason why the answer ended: "stop", "length"
	Server string // host:port of the server
	Seed   *int   // seed of the request
}
