package summarize

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/strategy"
)

// ErrLate means that the call could not wait for the remote summarizer. It is one of the
// errors of the fallback's summary.
var ErrLate = errors.New("the summary is still being written and the caller's deadline is near")

// Flights holds at most one summary that is written for the successive calls of one agent.
// A started summary outlives the call that asked for it, and the next call can take it.
// The zero value is ready for use. A Flights is safe for concurrent use.
type Flights struct {
	mu     sync.Mutex
	flight *flight
	used   bool // the call that took the flight has not settled yet
}

// Waiting reports whether there is a summary, finished or not, that no view
// uses yet.
func (l *Flights) Waiting() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flight != nil
}

// Weight returns the approximate memory of a finished summary, in bytes; 0 if
// there is none.
func (l *Flights) Weight() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.flight == nil {
		return 0
	}
	return l.flight.weight()
}

// Begin marks the start of a call. A summary that an earlier call took without
// using its view is available again.
func (l *Flights) Begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used = false
}

// Settle marks the last taken summary as used in the view.
func (l *Flights) Settle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.used {
		l.flight, l.used = nil, false
	}
}

// Throw cancels and discards the waiting summary, and returns its start and its cost. It
// returns false if there is no summary, or if the cost was reported already.
func (l *Flights) Throw() (began time.Time, calls []CallInfo, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.flight
	if f == nil {
		return time.Time{}, nil, false
	}
	l.flight = nil
	f.cancel()
	return f.began, f.told(), !f.billed
}

// A flight is a summary that is being written concurrently with calls or is finished,
// together with its inputs.
type flight struct {
	key    string
	view   []message.Fingerprint // the view when the flight began, up to the last message that it replaces
	ahead  bool                  // the flight began before a call needed it
	gone   []int                 // indexes of the messages that the summary replaces
	start  int                   // see [policy.Partition]
	limit  int                   // limit of the summary's body, in tokens
	began  time.Time
	quit   context.Context // ends when the summary is no longer needed
	cancel context.CancelFunc
	billed bool // its cost was reported; guarded by Flights.mu

	mu    sync.Mutex
	heard []CallInfo

	done     chan struct{} // closed when the fields below are set
	sum      Summary
	err      error
	ended    bool // canceled before it was finished
	panicked *policy.PanicError
}

// Beside configures how a remote summarizer writes summaries concurrently with
// calls.
type Beside struct {
	Flights *Flights
	// Key identifies the inputs of a summary other than the view and the Writer, such
	// as the tokenizer.
	Key string
	// Start runs a function that may outlive the call, with a context that ends when
	// summaries are no longer needed. It returns false if they are no longer needed
	// already.
	Start func(func(context.Context)) bool
	// Until is the deadline of the call. After it the call uses the fallback, and the
	// summary continues for the next call. The zero time means no deadline.
	Until time.Time
	// Wait is called when the call begins to wait. Heard is called with the
	// start and the cost of a summary that the call takes or discards. Late is
	// called if the call cannot wait. All run on the goroutine of the call.
	Wait  func()
	Heard func(began time.Time, calls []CallInfo, thrown bool)
	Late  func()
	// Ahead means that no call needs the summary yet. The stage starts a summary unless
	// a usable one exists. It does not wait and proposes nothing.
	Ahead bool
}

// Remote reports whether a remote summarizer writes the summaries.
func (s *Stage) Remote() bool { return describe(s.w.Summarizer).Remote }

// Beside returns a stage whose remote summarizer works concurrently with the
// call.
func (s *Stage) Beside(b Beside) *Stage {
	if !s.Remote() {
		return s
	}
	own := *s
	own.beside = &b
	return &own
}

// fly implements Propose for summaries that are written concurrently with the call.
func (s *Stage) fly(ctx context.Context, v *policy.View) (policy.Proposal, error) {
	c := s.cut(v)
	switch {
	case c != nil && c.limit >= minSummary && s.beside.Ahead:
		s.flight(c)
		return policy.Proposal{}, nil
	case s.beside.Ahead:
		return policy.Proposal{}, nil
	case c == nil || c.limit < minSummary:
		return s.proposeOf(c, nil, ctx.Err)
	}
	s.beside.Wait()
	f := s.flight(c)
	there := f != nil && f.wait(ctx, s.beside.Until)
	switch {
	case ctx.Err() != nil:
		return policy.Proposal{}, ctx.Err()
	case !there:
		return s.late(ctx, c)
	}
	return s.proposeOf(f.cut(c), func(*cut) (Summary, error) { return s.take(f) }, ctx.Err)
}

// late returns the fallback for a call that can't wait for its summary. If the fallback is to prune
// and the view fits already, late removes nothing, so that the next call can use the summary.
func (s *Stage) late(ctx context.Context, c *cut) (policy.Proposal, error) {
	s.beside.Late()
	if s.w.Fallback == FallbackExtractive {
		return s.proposeOf(c, func(c *cut) (Summary, error) {
			w := s.writer(c)
			w.Summarizer, w.Observe = strategy.Extractive{}, nil
			sum, err := w.Write(ctx, c.input())
			sum.Fallback, sum.Errors = FallbackExtractive, append([]error{ErrLate}, sum.Errors...)
			return sum, err
		}, ctx.Err)
	}
	if c.v.Fits() {
		return policy.Proposal{}, nil
	}
	return c.prune(c.info(Summary{Strategy: s.w.Strategy.Name, Errors: []error{ErrLate}})), nil
}

// flight returns the flight that serves a cut: the current one, or a new one.
// It returns nil if no flight may begin any more.
func (s *Stage) flight(c *cut) *flight {
	l := s.beside.Flights
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.flight; f != nil {
		if s.canServe(f, c) {
			return f
		}
		l.flight = nil
		f.cancel()
		if !f.billed {
			s.beside.Heard(f.began, f.told(), true)
		}
	}
	f := s.newFlight(c)
	w, in := s.writer(c), c.input()
	w.Observe, w.sends = f.hear, true
	if !s.beside.Start(func(ctx context.Context) { f.write(ctx, w, in) }) {
		f.cancel()
		return nil
	}
	l.flight, l.used = f, false
	return f
}

// key identifies the inputs of a summary besides the view.
func (s *Stage) key() string {
	return fmt.Sprintf("%s %+v %s %v %v", s.w.Strategy.Name, describe(s.w.Summarizer), s.beside.Key, s.w.Raw, s.w.Recall)
}

func (s *Stage) newFlight(c *cut) *flight {
	f := &flight{key: s.key(), ahead: s.beside.Ahead, gone: c.part.Remainder, start: c.part.Start, limit: c.limit, began: time.Now(), done: make(chan struct{})}
	f.quit, f.cancel = context.WithCancel(context.Background())
	end := c.part.Start
	for _, i := range f.gone {
		end = max(end, i+1)
	}
	for i := range end {
		f.view = append(f.view, identity(c.v, i))
	}
	return f
}

// identity returns the fingerprint of message i before this run's edits, because a later
// run may mask more.
func identity(v *policy.View, i int) message.Fingerprint {
	m := v.Unedited(i)
	return m.Fingerprint()
}

// canServe reports whether the flight's summary can be used in the view of a cut. The view
// must be the same, or have only grown since. If a flight failed before a call needed it,
// the call starts a new one.
func (s *Stage) canServe(f *flight, c *cut) bool {
	v := c.v
	if f.key != s.key() || len(f.view) > len(v.Messages) || f.ahead && !s.beside.Ahead && f.failed() {
		return false
	}
	for i, fp := range f.view {
		if identity(v, i) != fp {
			return false
		}
	}
	if slices.Equal(f.gone, c.part.Remainder) && f.limit <= c.limit {
		return true
	}
	tags := v.Cost.Message(policy.NewSummary(c.version, "")) + seams
	may, left := v.Partition(v.Shrink(s.most(v)+tags)).Remainder, v.Total()+f.limit+tags
	for _, i := range f.gone {
		if _, ok := slices.BinarySearch(may, i); !ok {
			return false
		}
		left -= v.Tokens[i]
	}
	if left > v.Budget.Cap || v.Manual && len(f.gone) != len(c.part.Remainder) {
		return false
	}
	words := max(min(c.words, spoken(v)), f.cut(c).spoken(s.w.Strategy)) // the newest words are not cut
	return left+words <= v.Budget.Cap
}

// cut returns the flight's cut, applied to the view of c.
func (f *flight) cut(c *cut) *cut {
	own := &cut{v: c.v, version: c.version, limit: f.limit, words: c.words, room: c.room, original: c.original, part: policy.Partition{Remainder: f.gone, Start: f.start}}
	for _, i := range f.gone {
		own.tokens += c.v.Tokens[i]
		own.take(i)
	}
	return own
}

// failed reports whether the flight is done and has no summary.
func (f *flight) failed() bool {
	select {
	case <-f.done:
		return f.err != nil || f.panicked != nil
	default:
		return false
	}
}

// wait waits for the summary, and reports whether the flight has a result. It
// returns false if the flight was canceled, and when ctx or until ends the wait.
func (f *flight) wait(ctx context.Context, until time.Time) bool {
	var near <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		near = timer.C
	}
	select {
	case <-f.done:
	default:
		select {
		case <-f.done:
		case <-ctx.Done():
			return false
		case <-near:
			return false
		}
	}
	return !f.ended
}

// take returns the result of a finished flight. A summary stays available until the call
// settles it. A failure is returned to one call only.
func (s *Stage) take(f *flight) (Summary, error) {
	l := s.beside.Flights
	l.mu.Lock()
	if l.used = true; f.err != nil || f.panicked != nil {
		l.flight = nil
	}
	first := !f.billed
	f.billed = true
	l.mu.Unlock()
	if first {
		s.beside.Heard(f.began, f.told(), false)
	}
	if f.panicked != nil {
		panic(f.panicked) // the caller recovers panics
	}
	sum := f.sum
	if s.w.Redact != nil { // more secrets may be known now than when the summary was written
		sum.Text = s.w.Redact(sum.Text)
	}
	return sum, f.err
}

// write writes the summary, on a separate goroutine.
func (f *flight) write(ctx context.Context, w Writer, in Input) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(f.quit, cancel)()
	defer close(f.done)
	defer func() {
		if r := recover(); r != nil {
			f.panicked = &policy.PanicError{Stage: StageName, Value: r, Stack: debug.Stack()}
		}
	}()
	f.err = errEnded // until there is a result
	f.sum, f.err = w.Write(ctx, in)
	f.ended = ctx.Err() != nil && f.err != nil
}

// weight returns the approximate memory of a flight in bytes. The text counts only
// after the flight is finished.
func (f *flight) weight() int64 {
	const each, told = 64, 512 // bytes per message of the flight, and per summarizer call
	n := int64(each*(len(f.view)+len(f.gone)) + told*len(f.told()))
	select {
	case <-f.done:
		n += int64(len(f.sum.Text))
	default:
	}
	return n
}

func (f *flight) hear(i CallInfo) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.heard = append(f.heard, i)
}

func (f *flight) told() []CallInfo {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.heard)
}
