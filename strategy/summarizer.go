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

// A Describer is a Summarizer that says what it is.
type Describer interface {
	// Describe returns the same Info whenever it is called, and asks nobody
	// for it. It may be called concurrently.
	Describe() Info
}

// Info describes a Summarizer.
type Info struct {
	Name  string // "extractive", "openai", "agent"
	Model string // that is asked; empty where none is
	// Window is how many tokens fit a request and its answer together, as
	// near as the summarizer knows. 0 = it takes any amount.
	Window int
	// Reserve is kept free in the window beside the answer, for what a model
	// writes before it (reasoning).
	Reserve int
	// Remote says that the messages leave the process.
	Remote bool
}

// describe returns what s says of itself; of one that says nothing, that it
// is remote and has a common window.
func describe(s Summarizer) Info {
	if d, ok := s.(Describer); ok {
		return d.Describe()
	}
	return Info{Name: "custom", Window: 128_000, Remote: true}
}

// A Request is what a Summarizer writes a draft of.
type Request struct {
	Strategy Strategy
	// Previous is the body of the summary before this one; it is part of what
	// is to be summarized.
	Previous string
	// Messages to summarize. Complete rounds; already redacted.
	Messages []message.Message
	// Visible messages stay in the view: what they name need not be named
	// again. They are redacted too.
	Visible []message.Message
	// First is the number of the first message, for ids of steps.
	First int
	// Partial drafts of pieces, in order, that are to become one; Messages is
	// empty then.
	Partial []string
	// Notes were taken of all the messages without a model, for one that is to
	// write a better summary; "" = there are none.
	Notes string
	// Instructions of the people who run the agent, added to those of the
	// strategy.
	Instructions string
	// MaxTokens is the most that the draft may cost by Count.
	MaxTokens int
	// Count says what text costs. It is safe for concurrent use.
	Count func(text string) int
	// Shorten is how large an observation may be in the prompt, in
	// characters; the rest of them become one line. 0 = any size.
	Shorten int
	// Clip is how much of any text the prompt shows, in characters: its
	// beginning and its end. 0 = all of it.
	Clip int

	// Upto is how many messages of the view there are up to the last of those
	// that are to be summarized; 0 = nobody says.
	Upto int

	history *History // of these messages, where it was read already
}

// A Draft is what a Summarizer wrote.
type Draft struct {
	Text             string // markdown, with the strategy's headings
	PromptTokens     int    // billed; 0 = not known
	CompletionTokens int

	CacheKnown    bool // the server says what of the prompt had to do with a cache
	CachedTokens  int  // of PromptTokens: read from it
	WrittenTokens int  // likewise: written into it

	Answer Answer
}

// An Answer is what the server of a model says of it. All may be missing.
type Answer struct {
	ID     string // of the completion
	Model  string // that wrote it
	Finish string // why it ended: "stop", "length"
	Server string // whom was asked: host:port
	Seed   *int   // that the request carried
}
