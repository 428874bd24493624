package summarize

import (
	"context"
	"errors"
	"time"

	"github.com/agentcompact/compact/internal/material"
	"github.com/agentcompact/compact/strategy"
)

// The names of the stage and of the summarizer without a model, in configurations and events.
const (
	StageName         = material.StageName
	BackendExtractive = material.BackendExtractive
)

// Fallbacks for a failed summary.
const (
	FallbackPruning    = "pruning-only" // no summary: a notice replaces the removed messages
	FallbackExtractive = "extractive"
	FallbackBrief      = "brief" // the brief strategy, after a refusal
)

// Defaults of a [Writer].
const (
	DefaultMaxTokens  = 1500
	DefaultUserTokens = 2000
	defaultTimeout    = 2 * time.Minute
	defaultAttempt    = time.Minute
	defaultBackoff    = 500 * time.Millisecond
	defaultParallel   = 4
	defaultRetries    = 4
)

// A Writer writes a summary with a Summarizer: it splits a large input into pieces, retries
// if a retry can help, verifies the drafts, and adds missing identifiers. The zero value is
// usable: its strategy is task_state, its Summarizer is extractive. A Writer may be used
// concurrently. It must not be changed after its first use.
type Writer struct {
	Strategy   strategy.Strategy   // default: task_state
	Summarizer strategy.Summarizer // default: Extractive
	MaxTokens  int                 // maximum tokens of a summary without the user's words; default 1500
	// Instructions are added to the instructions of the strategy, for a Summarizer with
	// a model.
	Instructions string
	// UserTokens is the maximum tokens of the user's words, in addition to
	// MaxTokens; default 2000.
	UserTokens int
	// Fallback is FallbackPruning, the default, or FallbackExtractive. With
	// FallbackPruning, Write returns an error if the Summarizer fails.
	Fallback string
	// Redact is applied to all input before its use, and to every summary. nil = no
	// redaction.
	Redact func(text string) string
	// Recall says that the agent can recall references, so that the summary may name
	// them.
	Recall bool
	// Original returns the archived text of a reference, for results that an earlier
	// run masked or truncated. If it is nil, the summary states no outcome of such
	// calls.
	Original func(ref string) (text string, ok bool)
	// First is the number of the first message of an Input without First, if earlier
	// messages have been summarized. The default is the number after the last number
	// that the previous summary cites.
	First int
	// Raw sends unredacted messages to a remote Summarizer
	// (redaction.summarizer: false). The answer is redacted nevertheless.
	Raw bool

	Timeout  time.Duration // time limit of the whole summary; default 2 minutes
	Attempt  time.Duration // time limit of one call of the Summarizer; default 1 minute, at most its share of Timeout
	Backoff  time.Duration // wait before the first retry, doubled for each further retry; default 500 ms
	Retries  int           // maximum retries after a transient failure of a call (network, 429, 5xx); default 4; -1 = none
	Parallel int           // maximum concurrent calls; default 4

	// Observe is called for each event. Calls for one summary do not overlap. Observe
	// must not block for long; it may be nil.
	Observe func(CallInfo)

	sends bool // Observe also gets an event for each call before its answer
}

// An Input is the source of a summary.
type Input = material.Input

// A Summary is the output of a Writer.
type Summary struct {
	Text       string // body, without tags
	Tokens     int    // tokens of Text
	Strategy   string
	Backend    string // the backend that wrote it
	Model      string
	Fallback   string  // "", FallbackBrief or FallbackExtractive
	Pieces     int     // number of pieces of the input
	Calls      int     // required drafts: pieces and merges
	Attempts   int     // calls of the Summarizer, including failed calls, without calls of the fallback
	First      int     // number of the first summarized message, as lines cite it
	Named      int     // identifiers that Text names
	Invented   int     // identifiers that were removed because the source lacks them
	References int     // identifiers that only the section References names
	Retention  float64 // share of the most salient identifiers that Text names
	Prompt     int     // billed tokens, as far as known
	Completion int
	Cached     int // part of Prompt read from a cache
	Written    int // part of Prompt written into a cache
	Elapsed    time.Duration
	Errors     []error // errors of the failed attempts, in order
}

// Write writes a summary. If the context ended, the error is the context's; any other
// error is a *[WriteError]. With an error, the Summary still lists attempts and errors.
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
		w.Strategy = builtIn("task_state")
	}
	if w.Summarizer == nil {
		w.Summarizer = strategy.Extractive{}
	}
	w.MaxTokens = or(w.MaxTokens, DefaultMaxTokens)
	w.UserTokens = or(w.UserTokens, DefaultUserTokens)
	w.Timeout = or(w.Timeout, defaultTimeout)
	w.Attempt = or(w.Attempt, defaultAttempt)
	w.Backoff = or(w.Backoff, defaultBackoff)
	w.Parallel = or(w.Parallel, defaultParallel)
	if w.Retries == 0 {
		w.Retries = defaultRetries
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

func (w Writer) check() error {
	switch w.Fallback {
	case "", FallbackPruning, FallbackExtractive:
		return nil
	}
	return errors.New("strategy: fallback must be pruning-only or extractive (got " + w.Fallback + ")")
}

// builtIn returns a strategy that package strategy has.
func builtIn(name string) strategy.Strategy {
	s, err := strategy.Lookup(name)
	if err != nil {
		panic(err)
	}
	return s
}
