package tidy

import (
	"runtime/debug"
	"slices"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// Version is the version of the reducers. It changes whenever the output of a
// reducer changes.
const Version = 3

// A Result is a tool result that has just arrived.
type Result struct {
	Text string
	Call Call
	// Said holds the texts before the call: the texts of the user and of the message
	// with the call. Reducers prefer lines of a large result that hold names from
	// these texts.
	Said []string
	// Tokens is the cost of Text.
	Tokens int
	// Earlier are the results of the same conversation that the view shows in
	// full, oldest first.
	Earlier []Earlier

	asked   asked
	terms   *terms
	spotted []int // nil = not yet computed
}

// words returns the terms of Said.
func (r *Result) words() terms {
	if r.terms == nil {
		t := termsOf(r.Said...)
		r.terms = &t
	}
	return *r.terms
}

// Earlier is an earlier result.
type Earlier struct {
	Text string
	Call Call
	Ref  string // reference for a recall; "" = ask the view

	view *policy.View
	part *message.Part
}

// ref returns the reference for a recall. It is computed only on demand.
func (e *Earlier) ref() string {
	if e.Ref == "" && e.part != nil {
		return e.view.RefOf(e.part)
	}
	return e.Ref
}

// Options configures the reducers.
type Options struct {
	// Large is the size in tokens from which a result is large; 0 = 2,000.
	Large int
	// Off lists the names of reducers that are not used.
	Off []string
}

// DefaultLarge is the default of [Options.Large].
const DefaultLarge = 2000

// A Share is the effect of one reducer.
type Share struct {
	Name  string
	Bytes int // bytes that it removed
}

// Reduced is a reduced result.
type Reduced struct {
	// Segments form the reduced text: ranges of the original text and literals.
	Segments []policy.Segment
	// What describes the parts that were left out; "" = nothing that a reader needs.
	What string
	// By lists the reducers that changed something, in order.
	By []Share
	// Err is a [*ReducerError] if a reducer panicked and the result stays whole.
	Err error
}

// A ReducerError reports the panic of a reducer. Err is a [*policy.PanicError].
type ReducerError struct {
	Reducer string
	Err     error
}

func (e *ReducerError) Error() string {
	return "tidy: reducer " + e.Reducer + " failed, the result was sent whole: " + e.Err.Error()
}

// Unwrap returns the panic.
func (e *ReducerError) Unwrap() error { return e.Err }

// Main returns the name of the reducer that removed the most bytes.
func (r *Reduced) Main() string {
	best := Share{}
	for _, s := range r.By {
		if s.Bytes > best.Bytes {
			best = s
		}
	}
	return best.Name
}

// A verdict is the outcome of a reducer on a draft.
type verdict uint8

const (
	pass   verdict = iota // the result is of another kind; the draft is unchanged
	did                   // the reducer changed the draft
	leaves                // the result is of the reducer's kind, but nothing can be left out; the draft is unchanged
)

// done returns did if the reducer changed the draft, and pass otherwise.
func done(changed bool) verdict {
	if changed {
		return did
	}
	return pass
}

// A reducer works on a draft.
type reducer struct {
	name string
	// large means that the reducer runs only while the draft is large.
	large bool
	// last means that no other reducer runs after this one has changed the draft,
	// because the kind of the result is then known.
	last bool
	work func(d *draft, r *Result, room int) verdict
}

// reducers are all reducers in the order in which they run.
var reducers = []reducer{
	{name: "colors", work: colors},
	{name: "progress", work: progress},
	{name: "again", last: true, work: again},
	{name: "base64", work: base64},
	{name: "runs", work: runs},
	{name: "paths", work: paths},
	{name: "json", large: true, last: true, work: jsonShape},
	{name: "pages", large: true, last: true, work: pages},
	{name: "patches", large: true, last: true, work: patches},
	{name: "lines", large: true, work: longLines},
	{name: "searches", large: true, last: true, work: searches},
	{name: "listings", large: true, last: true, work: listings},
	{name: "tests", large: true, last: true, work: tests},
	{name: "logs", large: true, last: true, work: logs},
	{name: "tables", large: true, last: true, work: tables},
	{name: "code", large: true, last: true, work: code},
	{name: "documents", large: true, last: true, work: documents},
	{name: "ends", large: true, last: true, work: ends},
}

// Names returns the names of all reducers.
func Names() []string {
	names := make([]string, len(reducers))
	for i := range reducers {
		names[i] = reducers[i].name
	}
	return names
}

// bytesPerToken is a rough estimate. It only determines the room for a reduced large
// result.
const bytesPerToken = 4

// least is the size in bytes of the smallest result that is reduced.
const least = 256

// leastShare is the inverse of a share: the reducers for large results must remove at least
// 1/leastShare of the bytes. Otherwise their changes are discarded.
const leastShare = 4

// Reduce reduces a result. ok is false if nothing can be gained, if the text is
// already reduced, or if a reducer panicked.
func Reduce(r *Result, o Options) (out Reduced, ok bool) {
	if len(r.Text) < least || IsReduced(r.Text) {
		return Reduced{}, false
	}
	if o.Large == 0 {
		o.Large = DefaultLarge
	}
	q := *r
	q.asked = r.Call.asks()
	w := work{d: newDraft(r.Text), r: &q, o: o}
	w.size = w.d.size()
	defer func() {
		if v := recover(); v != nil {
			err := &policy.PanicError{Stage: StageName, Value: v, Stack: debug.Stack()}
			out, ok = Reduced{Err: &ReducerError{w.running, err}}, false
		}
	}()
	defer w.d.lent.release()
	w.run(false)
	if !q.asked.ranged && w.isLarge() {
		before := w
		w.run(true)
		if before.size-w.size < before.size/leastShare {
			w = before
		}
	}
	if len(w.by) == 0 || w.size >= len(r.Text) {
		return Reduced{}, false
	}
	return Reduced{Segments: w.d.segments(), What: w.d.what, By: w.by}, true
}

// work is the state of one reduction.
type work struct {
	d       *draft
	r       *Result
	o       Options
	size    int // size of the draft in bytes
	by      []Share
	running string // name of the running reducer
	ended   bool
}

// run runs the reducers for large results, or all other reducers if large is false.
func (w *work) run(large bool) {
	d := *w.d // the caller may return to the previous draft
	w.d = &d
	for _, x := range reducers {
		if w.ended || x.large != large || slices.Contains(w.o.Off, x.name) || large && !w.isLarge() {
			continue
		}
		w.running = x.name
		is := x.work(&d, w.r, w.o.Large*bytesPerToken/2)
		if is == did {
			before := w.size
			w.size = d.size()
			w.by = append(w.by[:len(w.by):len(w.by)], Share{x.name, before - w.size})
		}
		w.ended = is == leaves || is == did && x.last
	}
}

// isLarge reports whether the draft is still large and a reducer may still run. It
// estimates the tokens by the share of the bytes that are left.
func (w *work) isLarge() bool {
	return !w.ended && w.r.Tokens*w.size/len(w.r.Text) > w.o.Large
}
