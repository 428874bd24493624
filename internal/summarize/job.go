package summarize

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/agentcompact/compact/internal/material"
	"github.com/agentcompact/compact/strategy"
)

// A job writes one summary.
type job struct {
	w        Writer
	in       Input
	task     *strategy.Task
	info     strategy.Info
	limit    int // maximum tokens of the text after the user's words
	first    int // number of the first message
	fallback string
	strategy strategy.Strategy // strategy of the final summary

	mu      sync.Mutex // guards the fields below
	outcome Summary
	givenUp Summary         // outcome of the backend before the fallback
	answer  strategy.Answer // the last answer
}

func (w Writer) job(in Input) *job {
	j := &job{w: w, in: in, info: describe(w.Summarizer), strategy: w.Strategy}
	j.task = w.Strategy.Task(in, material.Terms{
		MaxTokens: w.MaxTokens, UserTokens: w.UserTokens, Instructions: w.Instructions, Redact: w.Redact, Raw: w.Raw && j.info.Remote,
		Recall: w.Recall, First: w.First, AllSeen: j.info.Name == BackendAgent,
	})
	j.limit, j.first = j.task.Prepare()
	return j
}

// model reports whether a model writes the drafts. Such drafts need a check.
func (j *job) model() bool { return j.info.Name != BackendExtractive }

// fallBack switches to the extractive backend and counts its calls from zero.
func (j *job) fallBack() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.givenUp, j.outcome = j.outcome, Summary{Errors: j.outcome.Errors}
	j.w.Summarizer, j.info, j.fallback = strategy.Extractive{}, strategy.Info{Name: BackendExtractive}, FallbackExtractive
	j.strategy = j.w.Strategy
}

// summary returns the Summary without its text.
func (j *job) summary(start time.Time) Summary {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.outcome
	s.Attempts = j.attempts()
	s.Prompt, s.Completion = s.Prompt+j.givenUp.Prompt, s.Completion+j.givenUp.Completion
	s.Cached, s.Written = s.Cached+j.givenUp.Cached, s.Written+j.givenUp.Written
	s.Strategy, s.Backend, s.Model, s.Fallback = j.strategy.Name, j.info.Name, j.info.Model, j.fallback
	s.First, s.Elapsed = j.first, time.Since(start)
	return s
}

// attempts returns the number of calls of the backend that was asked for the summary,
// without the calls of its fallback. The caller holds j.mu.
func (j *job) attempts() int {
	if j.givenUp.Attempts > 0 {
		return j.givenUp.Attempts
	}
	return j.outcome.Attempts
}

// run writes a draft, then verifies and completes it.
func (j *job) run(ctx context.Context) (string, error) {
	j.observe(CallInfo{Phase: Started})
	ctx, cancel := context.WithTimeoutCause(ctx, j.w.Timeout, ErrDeadline)
	defer cancel()
	start := time.Now()
	j.task.Read(j.task.Request(j.strategy))
	draft, err := j.draft(ctx)
	text := ""
	if err == nil {
		text, err = j.complete(draft)
	}
	if err != nil {
		err = j.failed(err)
	}
	j.observe(CallInfo{Phase: Finished, SummaryTokens: j.count(text), Err: err, Elapsed: time.Since(start)})
	return text, err
}

func (j *job) count(s string) int {
	if s == "" {
		return 0
	}
	return j.in.Count(s)
}

// failed returns the error for Write.
func (j *job) failed(err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if n := len(j.outcome.Errors); n == 0 || !errors.Is(err, j.outcome.Errors[n-1]) {
		j.outcome.Errors = append(j.outcome.Errors, err)
	}
	return &WriteError{Strategy: j.strategy.Name, Attempts: j.attempts(), Errors: append([]error(nil), j.outcome.Errors...)}
}

func (j *job) observe(c CallInfo) {
	if j.w.Observe == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.tell(c)
}

// tell calls the observer. The caller holds j.mu.
func (j *job) tell(c CallInfo) {
	if j.w.Observe == nil {
		return
	}
	if c.Strategy == "" {
		c.Strategy = j.strategy.Name
	}
	c.Backend, c.Model, c.InputMessages, c.InputTokens = j.info.Name, j.info.Model, len(j.in.Messages), j.in.Tokens
	if c.Phase == Finished {
		c.Answer = j.answer
		c.Prompt, c.Completion, c.Cached, c.Written = j.outcome.Prompt, j.outcome.Completion, j.outcome.Cached, j.outcome.Written
	}
	c.Pieces, c.Attempt = max(j.outcome.Pieces, c.Pieces), j.outcome.Attempts
	if c.MaxTokens == 0 {
		c.MaxTokens = j.limit
	}
	c.At = time.Now()
	j.w.Observe(c)
}

// draft writes one draft of the whole input, in one call or by map and reduce.
func (j *job) draft(ctx context.Context) (string, error) {
	whole := j.task.Request(j.strategy)
	if j.info.Window == 0 {
		j.pieces(1)
		whole = j.task.Known(whole)
		// Without a model, the limit must be below the size of the source, because a
		// summary that is not smaller is useless.
		if n := sourceTokens(whole, whole.MaxTokens); n <= whole.MaxTokens {
			whole.MaxTokens = n - 1
		}
		return j.ask(ctx, whole, 0)
	}
	if j.info.Remote {
		whole.Notes = j.task.Notes(whole)
	}
	window := j.info.Window
	for try := 0; ; try++ {
		text, err := j.mapReduce(ctx, whole, j.task.Room(whole, window, j.info.Reserve))
		if !errors.Is(err, strategy.ErrContextLength) || try >= maxShrinks || ctx.Err() != nil {
			return text, err
		}
		window /= 2
	}
}

// maxShrinks is the maximum number of retries with smaller pieces after the
// summarizer reports that a request exceeds its window.
const maxShrinks = 3

func (j *job) pieces(n int) {
	j.mu.Lock()
	j.outcome.Pieces = n
	j.mu.Unlock()
}

// mapReduce requests drafts of the pieces concurrently, and merges the drafts.
func (j *job) mapReduce(ctx context.Context, r strategy.Request, room int) (string, error) {
	parts := j.task.Pieces(r, room)
	j.pieces(len(parts))
	if len(parts) == 1 {
		return j.ask(ctx, parts[0], 0)
	}
	drafts, err := j.each(ctx, parts)
	for err == nil && len(drafts) > 1 {
		merged := merges(r, drafts, room)
		if len(merged) == len(drafts) {
			return "", &strategy.Failure{Reason: strategy.ErrContextLength}
		}
		drafts, err = j.each(ctx, merged)
	}
	if err != nil {
		return "", err
	}
	return drafts[0], nil
}

// merges groups drafts into requests that fit room. A single request also gets
// the previous summary and the notes.
func merges(r strategy.Request, drafts []string, room int) []strategy.Request {
	r.Messages = nil
	previous, notes := r.Previous, r.Notes
	r.Previous, r.Notes = "", ""
	var out []strategy.Request
	used := 0
	for _, d := range drafts {
		n := r.Count(d) + 30
		if k := len(out); k > 0 && (used+n <= room || len(out[k-1].Partial) < 2) {
			out[k-1].Partial = append(out[k-1].Partial, d)
			used += n
			continue
		}
		next := r
		next.Partial = []string{d}
		out, used = append(out, next), n
	}
	if len(out) == 1 {
		out[0].Previous, out[0].Notes = previous, notes
	}
	return out
}

// errEnded means that a summarizer ended its goroutine ([runtime.Goexit]): there is no draft.
var errEnded = errors.New("the summarizer ended its goroutine")

// each sends all requests, at most w.Parallel at once. The first error cancels
// the others.
func (j *job) each(ctx context.Context, reqs []strategy.Request) ([]string, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := make([]string, len(reqs))
	slots := make(chan struct{}, j.w.Parallel)
	var wg sync.WaitGroup
	for i := range reqs {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wg.Add(1)
		go func() {
			err := errEnded
			defer func() {
				if err != nil {
					cancel(err)
				}
				<-slots
				wg.Done()
			}()
			out[i], err = j.ask(ctx, reqs[i], i+1)
		}()
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return out, nil
}

// complete turns a draft into the text of the summary.
func (j *job) complete(draft string) (string, error) {
	text, err := j.task.Complete(j.strategy, draft, j.model())
	if err != nil {
		return "", err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.outcome.Named, j.outcome.References, j.outcome.Invented, j.outcome.Retention = text.Named, text.References, text.Invented, text.Retention
	return text.Text, nil
}
