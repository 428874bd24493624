package summarize

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/strategy"
)

// Limits on repeated requests after an answer that was readable but unusable.
const (
	maxHalvings = 2
	maxEmpty    = 1
)

// minLimit is the lowest limit to which a request may be halved, in tokens.
const minLimit = 40

// An asker requests one draft. It repeats the request until a draft is usable
// or another attempt is pointless.
type asker struct {
	*job
	r        strategy.Request
	piece    int
	halvings int
	empties  int
	retries  int
}

// ask returns the text of a usable draft.
func (j *job) ask(ctx context.Context, r strategy.Request, piece int) (string, error) {
	a := &asker{job: j, r: r, piece: piece}
	for {
		start, asked := time.Now(), a.r
		d, err := a.once(ctx)
		if err == nil {
			a.taken(d, time.Since(start))
			return d.Text, nil
		}
		if j.info.Name == BackendExtractive && errors.Is(err, strategy.ErrEmpty) {
			return "", nil // the messages hold nothing to summarize besides the user's words
		}
		if ctx.Err() != nil {
			err = ended(ctx, err)
			a.note(asked, d, err, "give up", time.Since(start))
			return "", err
		}
		action, wait, ok := a.react(ctx, err)
		a.note(asked, d, err, action, time.Since(start))
		if !ok {
			return "", err
		}
		if err := sleep(ctx, wait); err != nil {
			return "", ended(ctx, err)
		}
	}
}

// ended returns ErrDeadline if the summary's deadline ended ctx. It returns err
// if the caller canceled it.
func ended(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), ErrDeadline) {
		return &strategy.Failure{Reason: ErrDeadline, Detail: err}
	}
	return err
}

// once makes one call and judges the answer.
func (a *asker) once(ctx context.Context) (strategy.Draft, error) {
	a.mu.Lock()
	a.outcome.Attempts++
	if a.w.sends {
		a.tell(CallInfo{Phase: Sent, Strategy: a.r.Strategy.Name, Piece: a.piece, MaxTokens: a.r.MaxTokens})
	}
	a.mu.Unlock()
	attempt, cancel := context.WithTimeout(ctx, a.w.Attempt)
	defer cancel()
	d, err := safely(attempt, a.w.Summarizer, a.r)
	if err != nil {
		if attempt.Err() != nil && ctx.Err() == nil {
			err = &strategy.Failure{Reason: strategy.ErrTransient, Detail: err}
		}
		return d, err
	}
	d.Text = a.task.Bare(a.r.Strategy, d.Text)
	return d, a.judge(d)
}

// safely calls a summarizer and returns its panic as an error. The call may run
// in a goroutine, where no caller could recover the panic.
func safely(ctx context.Context, s strategy.Summarizer, r strategy.Request) (d strategy.Draft, err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case *policy.PanicError: // from the caller's own extractor; it holds the extractor's stack
			err = v
		case *strategy.OwnError: // about a value that the caller's own extractor returned
			err = v
		default:
			err = &policy.PanicError{Stage: StageName, Value: v, Stack: debug.Stack()}
		}
	}()
	return s.Summarize(ctx, r)
}

// judge returns the reason why a draft can't be used, or nil.
func (a *asker) judge(d strategy.Draft) error {
	text := strings.TrimSpace(d.Text)
	if err := a.task.Judge(a.r.Strategy, text, a.model()); err != nil {
		return err
	}
	n := a.in.Count(text)
	if n > a.limit {
		return &strategy.Failure{Reason: ErrTooLong, Detail: fmt.Errorf("%d tokens, limit %d", n, a.limit)}
	}
	if source := sourceTokens(a.r, n); n >= source {
		return &strategy.Failure{Reason: ErrNotSmaller, Detail: fmt.Errorf("%d tokens instead of %d", n, source)}
	}
	return nil
}

// sourceTokens returns the token count of the request's source. It stops
// counting once the total exceeds n.
func sourceTokens(r strategy.Request, n int) int {
	total := 0
	add := func(s string) bool {
		total += r.Count(s)
		return total <= n
	}
	if !add(r.Previous) {
		return total
	}
	for _, p := range r.Partial {
		if !add(p) {
			return total
		}
	}
	for i := range r.Messages {
		for k := range r.Messages[i].Parts {
			p := &r.Messages[i].Parts[k]
			if !add(p.Text) || !add(string(p.Args)) {
				return total
			}
		}
	}
	return total
}

// react decides how to respond to a failure. It returns the name of the action, the
// time to wait, and whether to ask again. It also prepares the next request.
func (a *asker) react(ctx context.Context, err error) (action string, wait time.Duration, again bool) {
	var f *strategy.Failure
	errors.As(err, &f)
	is := func(targets ...error) bool {
		for _, t := range targets {
			if errors.Is(err, t) {
				return true
			}
		}
		return false
	}
	switch {
	case is(strategy.ErrTransient, strategy.ErrMalformed):
		return a.retry(ctx, f)
	case is(ErrTooLong, strategy.ErrCutOff, ErrNotSmaller):
		if a.halvings >= maxHalvings || a.r.MaxTokens/2 < minLimit {
			return "give up", 0, false
		}
		a.halvings++
		a.r.MaxTokens /= 2
		return "half the limit", 0, true
	case is(strategy.ErrEmpty) && a.empties < maxEmpty:
		a.empties++
		return "ask again", 0, true
	case is(strategy.ErrRefused, strategy.ErrUnusable, strategy.ErrFiltered, strategy.ErrEmpty) && a.r.Strategy.Name != brief.Name:
		a.becomeBrief()
		return FallbackBrief, 0, true
	case is(strategy.ErrContextLength):
		return "smaller pieces", 0, false
	}
	return "give up", 0, false
}

// brief is the strategy for the attempt after a refusal.
var brief = builtIn("brief")

// becomeBrief switches the following requests to the brief strategy.
func (a *asker) becomeBrief() {
	a.r.Strategy = brief
	a.empties = maxEmpty
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.piece == 0 || len(a.r.Partial) > 0 {
		a.strategy, a.fallback = brief, FallbackBrief
	}
}

// retry asks again after a wait, while retries and time are left.
func (a *asker) retry(ctx context.Context, f *strategy.Failure) (string, time.Duration, bool) {
	if a.retries >= a.w.Retries {
		return "give up", 0, false
	}
	wait := a.w.Backoff << a.retries
	// Pieces that failed at the same time must not retry at the same time.
	wait += wait * time.Duration(a.piece%a.w.Parallel) / 8
	if f != nil {
		wait = max(wait, f.RetryAfter)
	}
	a.retries++
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= wait {
		return "give up: no time left to wait " + wait.String(), 0, false
	}
	return "retry in " + wait.String(), wait, true
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// taken records a draft that is used.
func (a *asker) taken(d strategy.Draft, elapsed time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.outcome.Calls++
	a.bill(d)
	a.tell(a.call(a.r, d, nil, "", elapsed))
}

// note records a failed attempt and its request.
func (a *asker) note(asked strategy.Request, d strategy.Draft, err error, action string, elapsed time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.outcome.Errors = append(a.outcome.Errors, err)
	a.bill(d)
	a.tell(a.call(asked, d, err, action, elapsed))
}

func (a *asker) bill(d strategy.Draft) {
	a.outcome.Prompt += d.PromptTokens
	a.outcome.Completion += d.CompletionTokens
	a.outcome.Cached += d.CachedTokens
	a.outcome.Written += d.WrittenTokens
	a.answer = d.Answer
}

func (a *asker) call(asked strategy.Request, d strategy.Draft, err error, action string, elapsed time.Duration) CallInfo {
	c := CallInfo{Phase: Answered, Strategy: asked.Strategy.Name, Piece: a.piece, MaxTokens: asked.MaxTokens, Prompt: d.PromptTokens,
		Completion: d.CompletionTokens, Cached: d.CachedTokens, Written: d.WrittenTokens, CacheKnown: d.CacheKnown, Answer: d.Answer, Err: err, Action: action, Elapsed: elapsed}
	if d.Text != "" {
		c.SummaryTokens = a.in.Count(d.Text)
	}
	return c
}
