package strategy

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/agentcompact/compact/message"
)

// A job is one summary in the making.
type job struct {
	w        Writer
	in       Input
	info     Info
	history  *History
	limit    int
	fallback string
	strategy Strategy       // of what is written in the end
	words    []Word         // of the user, cut as far as they must be
	intro    string         // what the block is
	material func() *source // read once
	visible  func() *source // likewise, of what stays
	judging  sync.Mutex     // guards what these return while pieces are asked for

	mu      sync.Mutex // guards what follows
	outcome Summary
	answer  Answer // the last one
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

// wordsShare is the most that the user's words may take of what fits, where
// little does.
const wordsShare = 0.5

// leastIntroduced is the room from which on a summary says what it is, in tokens.
const leastIntroduced = 250

// measure sets the user's words and what they leave for the rest.
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
		j.intro = introduction(len(j.words) > 0, j.w.Recall && ref != nil)
	}
	j.limit = j.w.MaxTokens
	if j.in.MaxTokens > 0 {
		j.limit = min(j.limit, j.in.MaxTokens-j.count(j.head(j.strategy)))
	}
}

// head is what stands before the sections: what the block is, and the words of
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

// redacted returns copies for reading, every text of which went through f.
func redacted(msgs []message.Message, f func(string) string) []message.Message {
	out := make([]message.Message, len(msgs))
	for i, m := range msgs {
		out[i] = message.Message{Role: m.Role, Name: f(m.Name), Parts: redactedParts(m.Parts, f), Protected: m.Protected}
	}
	return out
}

// redactedParts returns what f makes of parts: these very ones where it changes
// nothing, as of nearly all of a history.
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

// redactedPart reports whether f changes a part. Of media the name alone is read.
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

// fallBack switches to the extractive backend.
func (j *job) fallBack() {
	j.w.Summarizer, j.info, j.fallback = Extractive{}, Info{Name: BackendExtractive}, FallbackExtractive
	j.strategy = j.w.Strategy
}

// summary is what there is to tell, without the text.
func (j *job) summary(start time.Time) Summary {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.outcome
	s.Strategy, s.Backend, s.Model, s.Fallback = j.strategy.Name, j.info.Name, j.info.Model, j.fallback
	s.First, s.Elapsed = j.in.First, time.Since(start)
	return s
}

// run writes the draft, checks and completes it.
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

// failed is the error that Write returns.
func (j *job) failed(err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if n := len(j.outcome.Errors); n == 0 || !errors.Is(err, j.outcome.Errors[n-1]) {
		j.outcome.Errors = append(j.outcome.Errors, err)
	}
	return &WriteError{Strategy: j.strategy.Name, Attempts: j.outcome.Attempts, Errors: append([]error(nil), j.outcome.Errors...)}
}

func (j *job) observe(c CallInfo) {
	if j.w.Observe == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.tell(c)
}

// tell calls the observer; j.mu is held.
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

// request is the whole input as one request.
func (j *job) request() Request {
	return Request{Strategy: j.strategy, Previous: j.in.Previous, Messages: j.in.Messages, Visible: j.in.Visible, First: j.in.First,
		MaxTokens: j.limit, Instructions: j.w.Instructions, Count: j.in.Count, Upto: j.in.Upto}
}

// draft gets one draft of everything: in one call, or by map and reduce.
func (j *job) draft(ctx context.Context) (string, error) {
	whole := j.request()
	if j.info.Window == 0 {
		j.pieces(1)
		whole.history = j.history
		// No model has to be told twice: what is not smaller is not offered.
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

// maxShrinks is how often the pieces are made smaller because the summarizer
// says that its window is.
const maxShrinks = 3

// minRoom is the least room for history that is tried, in tokens.
const minRoom = 400

// room is what a window leaves for the history.
func (j *job) room(r Request, window int) int {
	fixed := r.Count(r.system()) + r.Count(r.Previous) + r.Count(r.Notes) + r.MaxTokens + j.info.Reserve + 200
	return max(int(float64(window)*(1-margin))-fixed, minRoom)
}

func (j *job) pieces(n int) {
	j.mu.Lock()
	j.outcome.Pieces = n
	j.mu.Unlock()
}

// mapReduce asks for each piece, several at once, and merges the answers.
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

// merges puts drafts into requests that fit room; the last summary is merged
// with them in the request that is the only one.
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

// each asks for every request, at most w.Parallel at once. The first error
// ends the others.
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
