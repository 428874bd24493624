package tidy

import (
	"runtime/debug"
	"slices"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// Version is that of the reducers: it changes whenever one of them makes
// something else of a result than it did.
const Version = 2

// A Result is a tool result that has just come.
type Result struct {
	Text string
	Call Call
	// Said is what was said before the call: by the user, and with the call. What
	// it names is left in what remains of a large result.
	Said []string
	// Tokens is what Text costs.
	Tokens int
	// Earlier are results of the same conversation that are in full in the view,
	// oldest first.
	Earlier []Earlier

	asked asked
	terms *terms
}

// words are the words that were said.
func (r *Result) words() terms {
	if r.terms == nil {
		t := termsOf(r.Said...)
		r.terms = &t
	}
	return *r.terms
}

// Earlier is a result that came before.
type Earlier struct {
	Text string
	Call Call
	Ref  string // what it is had back by; "" = ask the view

	view *policy.View
	of   *message.Part
}

// ref returns what the result is had back by. It is asked of few.
func (e *Earlier) ref() string {
	if e.Ref == "" && e.of != nil {
		return e.view.RefOf(e.of)
	}
	return e.Ref
}

// Options say what is done.
type Options struct {
	// Large is from how many tokens on a result is large; 0 = 2,000.
	Large int
	// Off are the names of reducers that are not used.
	Off []string
}

// DefaultLarge is the default of [Options.Large].
const DefaultLarge = 2000

// A Share is what one reducer did.
type Share struct {
	Name  string
	Bytes int // that it took off
}

// A Reduced result.
type Reduced struct {
	// Segments are what it is made of: ranges of the text, and words of our own.
	Segments []policy.Segment
	// What says what was left out of it; "" where a reader lacks nothing.
	What string
	// By says which reducers worked, in their order.
	By []Share
	// Err is why the result was left whole where a reducer panicked, a
	// [*ReducerError].
	Err error
}

// A ReducerError is what a reducer failed with. Err is a [*policy.PanicError].
type ReducerError struct {
	Reducer string
	Err     error
}

func (e *ReducerError) Error() string {
	return "tidy: reducer " + e.Reducer + " failed, the result went out whole: " + e.Err.Error()
}

// Unwrap returns the panic.
func (e *ReducerError) Unwrap() error { return e.Err }

// Main is the reducer that took the most.
func (r *Reduced) Main() string {
	best := Share{}
	for _, s := range r.By {
		if s.Bytes > best.Bytes {
			best = s
		}
	}
	return best.Name
}

// A verdict is what a reducer says of a draft.
type verdict uint8

const (
	pass   verdict = iota // it has nothing to do with it; the draft is as it was
	did                   // it changed the draft
	leaves                // of its kind, and nothing is to be left out; likewise
)

// done is the verdict of a reducer that may have changed something.
func done(changed bool) verdict {
	if changed {
		return did
	}
	return pass
}

// A reducer works on a draft.
type reducer struct {
	name string
	// large reducers work on what is still large.
	large bool
	// last: the kind is known, and no other reducer works on what is left.
	last bool
	work func(d *draft, r *Result, room int) verdict
}

// reducers are all of them, in the order in which they work.
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

// bytesPerToken is how many bytes a token has, roughly: it only says how much
// room there is for what is left of a large result.
const bytesPerToken = 4

// least is from how many bytes on a result is looked at.
const least = 256

// leastShare is what share of a large result must go, one of so many, for it to be
// worth what is lost.
const leastShare = 4

// Reduce reduces a result. It reports false where nothing is to be gained, where
// the text is one that was reduced already, and where a reducer panicked.
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
			out, ok = Reduced{Err: &ReducerError{w.now, err}}, false
		}
	}()
	defer w.d.lent.back()
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

// work is one reduction on its way.
type work struct {
	d     *draft
	r     *Result
	o     Options
	size  int // of the draft, in bytes
	by    []Share
	now   string // the reducer that works
	ended bool
}

// run lets the reducers work, those for large results or the others.
func (w *work) run(large bool) {
	d := *w.d // what was done before may be gone back to
	w.d = &d
	for _, x := range reducers {
		if w.ended || x.large != large || slices.Contains(w.o.Off, x.name) || large && !w.isLarge() {
			continue
		}
		w.now = x.name
		is := x.work(&d, w.r, w.o.Large*bytesPerToken/2)
		if is == did {
			before := w.size
			w.size = d.size()
			w.by = append(w.by[:len(w.by):len(w.by)], Share{x.name, before - w.size})
		}
		w.ended = is == leaves || is == did && x.last
	}
}

// isLarge reports whether what is left of a result costs as much as a large one,
// by its share of the bytes.
func (w *work) isLarge() bool {
	return !w.ended && w.r.Tokens*w.size/len(w.r.Text) > w.o.Large
}
