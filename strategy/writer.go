package strategy

import (
	"context"
	"errors"
	"time"

	"github.com/agentcompact/compact/message"
)

// What takes the place of a summary that could not be had.
const (
	FallbackPruning    = "pruning-only" // no summary: the messages go, a notice stands for them
	FallbackExtractive = "extractive"
	FallbackBrief      = "brief" // the brief strategy, after a refusal
)

// Defaults of a [Writer].
const (
	DefaultMaxTokens  = 1500
	DefaultUserTokens = 2000
	DefaultTimeout    = 2 * time.Minute
	DefaultAttempt    = time.Minute
	DefaultBackoff    = 500 * time.Millisecond
	DefaultParallel   = 4
	DefaultRetries    = 4
)

// A Writer gets a summary out of a Summarizer: it cuts what is too large into
// pieces, asks again where that helps, checks what comes back, verifies it and
// adds what is missing. The zero value is usable: task_state, extractive. A
// Writer may be used concurrently; it must not be changed once in use.
type Writer struct {
	Strategy   Strategy   // default TaskState
	Summarizer Summarizer // default Extractive
	MaxTokens  int        // of a summary, the user's words not included; default 1500
	// Instructions are added to those of the strategy, for a summarizer that is
	// a model.
	Instructions string
	// UserTokens is the most that the words of the user may take beside
	// MaxTokens; default 2000.
	UserTokens int
	// Fallback is FallbackPruning (default), which means an error here, or
	// FallbackExtractive.
	Fallback string
	// Redact is applied to all text before anything reads it and to every
	// summary. nil = nothing is redacted.
	Redact func(text string) string
	// Recall says that what a reference stands for can be asked for: only then
	// a summary speaks of it.
	Recall bool
	// Original returns the text that stands under a reference in the archive,
	// for what an earlier run masked or truncated. May be nil: nothing is said
	// of how such calls came out.
	Original func(ref string) (text string, ok bool)
	// First is the number of the first message of an Input that says none, where
	// earlier ones have been summarized; default: the one after the last that the
	// summary before cites.
	First int
	// Raw sends messages to a remote Summarizer as they are
	// (redaction.summarizer: false). What it answers is redacted all the same.
	Raw bool

	Timeout  time.Duration // for the whole summary; default 2 minutes
	Attempt  time.Duration // for one call of the Summarizer; default 1 minute, and never more than its share of Timeout
	Backoff  time.Duration // before the first retry, doubled for each further one; default 500 ms
	Retries  int           // of a call that failed on the way (network, 429, 5xx); default 4
	Parallel int           // calls at once; default 4

	// Observe is told of each call. Never called by two goroutines at once for
	// the same summary; must not block for long. May be nil.
	Observe func(CallInfo)
}

// An Input is what a summary is written of.
type Input struct {
	Previous string // body of the summary before; "" = there is none
	Messages []message.Message
	// Visible messages stay in the view beside the summary: what they name
	// need not be named again.
	Visible   []message.Message
	First     int // number of the first message, for ids of steps; default 1
	MaxTokens int // most that fits here, the user's words included; 0 = there is room enough
	// UserTokens is the most that the user's words may take here; 0 or above
	// the Writer's: the Writer's.
	UserTokens int
	// Ref returns the reference under which message i can be had again, "" for
	// none. May be nil.
	Ref    func(i int) string
	Tokens int // of Messages and Previous, for observers; 0 = not counted
	// Count says what text costs. Required; safe for concurrent use.
	Count func(text string) int
	// Upto is how many messages of the view there are up to the last of Messages;
	// 0 = it is of no view.
	Upto int
}

// A Summary is what a Writer wrote.
type Summary struct {
	Text       string // body, without tags
	Tokens     int    // of Text
	Strategy   string
	Backend    string // which one wrote it
	Model      string
	Fallback   string  // "", FallbackBrief or FallbackExtractive
	Pieces     int     // into how many the input was cut
	Calls      int     // drafts that were needed: pieces and merges
	Attempts   int     // calls of the Summarizer, those that failed included
	First      int     // number of the first message that it was written of, as lines cite it
	Named      int     // identifiers that Text names
	Invented   int     // identifiers that were cut, because the source lacks them
	References int     // identifiers that References alone name: the sections leave them out
	Retention  float64 // share of the most salient identifiers that Text names
	Prompt     int     // tokens billed, as far as known
	Completion int
	Cached     int // of Prompt: read from a cache
	Written    int // likewise: written into one
	Elapsed    time.Duration
	Errors     []error // of the attempts that failed, in order
}

// Write writes a summary. The error is the context's when that ended, else a
// *[WriteError]; the Summary then still tells attempts and errors.
func (w Writer) Write(ctx context.Context, in Input) (Summary, error) {
	w = w.defaults()
	start := time.Now()
	job := w.job(in)
	text, err := job.run(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return job.summary(start), ctx.Err()
		}
		if w.Fallback != FallbackExtractive || job.info.Name == BackendExtractive {
			return job.summary(start), err
		}
		job.fallBack()
		if text, err = job.run(ctx); err != nil {
			return job.summary(start), err
		}
	}
	s := job.summary(start)
	s.Text, s.Tokens = text, in.Count(text)
	return s, nil
}

func (w Writer) defaults() Writer {
	if w.Strategy.Name == "" {
		w.Strategy = TaskState
	}
	if w.Summarizer == nil {
		w.Summarizer = Extractive{}
	}
	w.MaxTokens = or(w.MaxTokens, DefaultMaxTokens)
	w.UserTokens = or(w.UserTokens, DefaultUserTokens)
	w.Timeout = or(w.Timeout, DefaultTimeout)
	w.Attempt = or(w.Attempt, DefaultAttempt)
	w.Backoff = or(w.Backoff, DefaultBackoff)
	w.Parallel = or(w.Parallel, DefaultParallel)
	if w.Retries == 0 {
		w.Retries = DefaultRetries
	}
	if tries := w.Retries + 1; tries > 1 {
		w.Attempt = min(w.Attempt, w.Timeout/time.Duration(tries)) // one stalled call leaves time for the others
	}
	return w
}

func or[T int | time.Duration](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}

// ErrOptions is wrapped by the errors of [NewStage].
var ErrOptions = errors.New("strategy: the options are not possible")

func (w Writer) check() error {
	switch w.Fallback {
	case "", FallbackPruning, FallbackExtractive:
		return nil
	}
	return &OptionError{"fallback", w.Fallback, "pruning-only or extractive"}
}

// An OptionError names an option that can't be. It wraps [ErrOptions].
type OptionError struct{ Option, Value, Want string }

func (e *OptionError) Error() string {
	return "strategy: " + e.Option + " must be " + e.Want + " (got " + e.Value + ")"
}

// Unwrap returns ErrOptions.
func (e *OptionError) Unwrap() error { return ErrOptions }
