package strategy

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/agentcompact/compact/message"
)

// A job writes one summary.
type job struct {
	w        Writer
	in       Input
	info     Info
	history  *History
	limit    int
	fallback string
	strategy Strategy       // strategy of the final summary
	words    []Word         // the user's words, clipped to their limit
	intro    string         // introduction of the summary
	material func() *source // source of the summary, read once
	visible  func() *source // the messages that stay in view, read once
	judging  sync.Mutex     // guards the two sources while pieces are written concurrently

	mu      sync.Mutex // guards the fields below
	outcome Summary
	givenUp Summary // outcome of the backend before the fallback
	answer  Answer  // the last answer
}

func (w Writer) job(in Input) *job {
	j := &job{w: w, in: in, info: describe(w.Summarizer), strategy: w.Strategy}
	j.in.Previous = fullPaths(in.Previous)
	j.in.First = max(in.First, w.First, ParseDocument(w.Strategy, in.Previous).lastStep()+1)
	if w.Redact != nil && !(w.Raw && j.info.Remote) {
		j.in.Messages, j.in.Visible = redacted(in.Messages, w.Redact), redacted(in.Visible, w.Redact)
		j.in.Previous = w.Redact(j.in.Previous)
	}
	j.material = sync.OnceValue(j.source)
	j.visible = sync.OnceValue(func() *source { return newSource(j.in.Visible) })
	j.measure()
	return j
}

// wordsShare is the maximum share of in.MaxTokens for the user's words.
const wordsShare = 0.5

// leastIntroduced is the smallest limit of a summary with an introduction, in
// tokens.
const leastIntroduced = 250

// measure sets the user's words and the limit of the remaining text.
func (j *job) measure() {
	limit := j.w.UserTokens
	if j.in.UserTokens > 0 {
		limit = min(limit, j.in.UserTokens)
	}
	hard := 4 * limit
	if j.in.MaxTokens > 0 {
		hard = int(float64(j.in.MaxTokens) * wordsShare)
	}
	ref := j.in.Ref
	if !j.w.Recall {
		ref = nil
	}
	words := append(ParseDocument(j.strategy, j.in.Previous).Words, wordsOf(j.in.Messages, j.in.First, ref)...)
	if j.w.Redact != nil {
		for i := range words {
			words[i].Text = j.w.Redact(words[i].Text)
		}
	}
	j.words = fitWords(words, min(limit, hard), hard, j.in.Count)
	if j.in.MaxTokens == 0 || j.in.MaxTokens >= leastIntroduced {
		r := j.request()
		j.intro = introduction(j.words, j.w.Recall && ref != nil) + r.order().sentences()
	}
	j.limit = j.w.MaxTokens
	if j.in.MaxTokens > 0 {
		j.limit = min(j.limit, j.in.MaxTokens-j.count(j.head(j.strategy)))
	}
}

// head returns the text before the sections: the introduction and the words of
// the user.
func (j *job) head(s Strategy) string {
	text := ""
	if j.intro != "" {
		text = j.intro + "\n\n"
	}
	if words := renderWords(j.words, s.title); words != "" {
		text += words + "\n\n"
	}
	return text
}

// redacted returns copies of messages with f applied to every text.
func redacted(msgs []message.Message, f func(string) string) []message.Message {
	out := make([]message.Message, len(msgs))
	for i, m := range msgs {
		out[i] = message.Message{Role: m.Role, Name: f(m.Name), Parts: redactedParts(m.Parts, f), Protected: m.Protected}
	}
	return out
}

// redactedParts returns parts with f applied to every text. It returns parts
// itself if f changes nothing, which is the common case.
func redactedParts(parts []message.Part, f func(string) string) []message.Part {
	out, own := parts, false
	for k := range parts {
		p, changed := redactedPart(parts[k], f)
		if changed && !own {
			out, own = slices.Clone(parts), true
		}
		if changed {
			out[k] = p
		}
	}
	return out
}

// redactedPart applies f to a part and reports whether the part changed. The copy of a
// media part keeps only type and name.
func redactedPart(was message.Part, f func(string) string) (p message.Part, changed bool) {
	p = was
	p.Text, p.Name, p.CallID = f(was.Text), f(was.Name), f(was.CallID)
	changed = p.Text != was.Text || p.Name != was.Name || p.CallID != was.CallID
	if len(was.Args) > 0 {
		if args := f(string(was.Args)); args != string(was.Args) {
			p.Args, changed = []byte(args), true
		}
	}
	if was.Media != nil {
		p.Media, changed = &message.Media{MIME: was.Media.MIME, Name: f(was.Media.Name)}, true
	}
	return p, changed
}

// fallBack switches to the extractive backend and counts its calls from zero.
func (j *job) fallBack() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.givenUp, j.outcome = j.outcome, Summary{Errors: j.outcome.Errors}
	j.w.Summarizer, j.info, j.fallback = Extractive{}, Info{Name: BackendExtractive}, FallbackExtractive
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
	s.First, s.Elapsed = j.in.First, time.Since(start)
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
	j.history = NewHistory(j.request())
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

// request returns the whole input as one request.
func (j *job) request() Request {
	return Request{Strategy: j.strategy, Previous: j.in.Previous, Messages: j.in.Messages, Visible: j.in.Visible, First: j.in.First,
		After: j.in.After, MaxTokens: j.limit, Instructions: j.w.Instructions, Count: j.in.Count, Upto: j.in.Upto}
}

// draft writes one draft of the whole input, in one call or by map and reduce.
func (j *job) draft(ctx context.Context) (string, error) {
	whole := j.request()
	if j.info.Window == 0 {
		j.pieces(1)
		whole.history = j.history
		// Without a model, the limit must be below the size of the source, because a
		// summary that is not smaller is useless.
		if n := whole.sourceTokens(whole.MaxTokens); n <= whole.MaxTokens {
			whole.MaxTokens = n - 1
		}
		return j.ask(ctx, whole, 0)
	}
	if d := j.history.compose(whole); j.info.Remote && !d.empty() {
		whole.Notes = d.full().Render(j.strategy)
	}
	window := j.info.Window
	for try := 0; ; try++ {
		text, err := j.mapReduce(ctx, whole, j.room(whole, window))
		if !errors.Is(err, ErrContextLength) || try >= maxShrinks || ctx.Err() != nil {
			return text, err
		}
		window /= 2
	}
}

// maxShrinks is the maximum number of retries with smaller pieces after the
// summarizer reports that a request exceeds its window.
const maxShrinks = 3

// minRoom is the minimum room for history in a piece, in tokens.
const minRoom = 400

// room returns the number of tokens for the history in a request to a model with this
// window.
func (j *job) room(r Request, window int) int {
	fixed := r.Count(r.system()) + r.Count(r.Previous) + r.Count(r.Notes) + r.MaxTokens + j.info.Reserve + 200
	return max(int(float64(window)*(1-margin))-fixed, minRoom)
}

func (j *job) pieces(n int) {
	j.mu.Lock()
	j.outcome.Pieces = n
	j.mu.Unlock()
}

// mapReduce requests drafts of the pieces concurrently, and merges the drafts.
func (j *job) mapReduce(ctx context.Context, r Request, room int) (string, error) {
	parts := r.split(room)
	j.pieces(len(parts))
	if len(parts) == 1 {
		return j.ask(ctx, parts[0], 0)
	}
	drafts, err := j.each(ctx, parts)
	for err == nil && len(drafts) > 1 {
		merged := r.merges(drafts, room)
		if len(merged) == len(drafts) {
			return "", &Failure{Reason: ErrContextLength}
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
func (r Request) merges(drafts []string, room int) []Request {
	r.Messages = nil
	previous, notes := r.Previous, r.Notes
	r.Previous, r.Notes = "", ""
	var out []Request
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

// each sends all requests, at most w.Parallel at once. The first error cancels
// the others.
func (j *job) each(ctx context.Context, reqs []Request) ([]string, error) {
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
			defer func() { <-slots; wg.Done() }()
			text, err := j.ask(ctx, reqs[i], i+1)
			if err != nil {
				cancel(err)
			}
			out[i] = text
		}()
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return out, nil
}
