package ledger

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"
	"sort"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/record"
)

// editPrefix is the beginning of the lines of edits.jsonl that are not originals.
const editPrefix = `{"edit":`

// IsEdit reports whether a line of edits.jsonl describes changes; other lines are
// originals.
func IsEdit(line []byte) bool { return bytes.HasPrefix(line, []byte(editPrefix)) }

// An Edit is a line of edits.jsonl that describes changes.
type Edit struct {
	Edit Step `json:"edit"`
}

// Edits holds the edits read from a session's edits.jsonl. It is not safe for
// concurrent use; the list All is never modified in place.
type Edits struct {
	All  []Step // in the order of the log
	Read int64  // bytes of the log that were read
	End  int64  // end of the log when this process last read or wrote it
	of   map[Owner]int

	void  []Step           // void edits in the order of the log; another process may have shown such an edit before it became void
	tries map[attempt]bool // tries of void edits
	whole map[outcome]bool // outcomes whose results a process sent whole
}

// outcome identifies the conversation that results from the edits of a call. attempt
// identifies one attempt of a process to store that outcome.
type (
	outcome struct {
		Owner
		out reduce.Link
	}
	attempt struct {
		outcome
		try string
	}
)

func outcomeOf(e *Step) outcome { return outcome{e.Owner(), e.Out} }
func attemptOf(e *Step) attempt { return attempt{outcomeOf(e), e.Try} }

// Add adds the edits of one call, and reports whether they are new and not void. A void
// line is not added; it removes the edits that it names.
func (d *Edits) Add(e Step) bool {
	if d.isVoid(&e) {
		return false
	}
	all := d.All
	at := sort.Search(len(all), func(i int) bool { return all[i].Seq >= e.Seq })
	if at < len(all) && all[at].Seq == e.Seq {
		return false
	}
	if at < len(all) {
		all = slices.Clone(all) // others can be reading the old slice
	}
	d.All = slices.Insert(all, at, e)
	if d.of == nil {
		d.of = map[Owner]int{}
	}
	d.of[e.Owner()]++
	return true
}

// isVoid reports whether an edit is void. If e is itself a void line, it marks
// its edit as void and removes it.
func (d *Edits) isVoid(e *Step) bool {
	this := attemptOf(e)
	if e.Kind != KindVoid {
		if !d.tries[this] {
			return false
		}
		d.keepVoid(*e)
		return true
	}
	if d.tries == nil {
		d.tries, d.whole = map[attempt]bool{}, map[outcome]bool{}
	}
	d.tries[this], d.whole[this.outcome] = true, true
	if at := slices.IndexFunc(d.All, func(x Step) bool { return x.Kind == KindTidy && attemptOf(&x) == this }); at >= 0 {
		d.keepVoid(d.All[at])
		d.All = slices.Delete(slices.Clone(d.All), at, at+1)
		d.of[this.Owner]--
	}
	return true
}

// keepVoid adds edits to the void ones.
func (d *Edits) keepVoid(e Step) {
	at := sort.Search(len(d.void), func(i int) bool { return d.void[i].Seq >= e.Seq })
	if at == len(d.void) || d.void[at].Seq != e.Seq {
		d.void = slices.Insert(d.void, at, e)
	}
}

// Logged returns all edits of the log, including void ones, in its order.
func (d *Edits) Logged() []Step {
	if len(d.void) == 0 {
		return d.All[:len(d.All):len(d.All)]
	}
	out := slices.Concat(d.All, d.void)
	slices.SortStableFunc(out, func(a, b Step) int { return cmp.Compare(a.Seq, b.Seq) })
	return out
}

// Whole reports whether a process has sent the results of a step whole, because its edits
// with the same outcome were not stored in time. Another process's edits with that
// outcome can be valid.
func (d *Edits) Whole(e *Step) bool { return d.whole[outcomeOf(e)] }

// Count returns the number of edits of an owner.
func (d *Edits) Count(of Owner) int { return d.of[of] }

// Pending returns the edits of an owner that no step has archived, oldest first.
func Pending(steps, all []Step, of Owner) []Step {
	after := int64(0)
	for i := len(steps) - 1; i >= 0; i-- {
		if steps[i].Owner() == of {
			after = steps[i].Edits
			break
		}
	}
	var out []Step
	for i := len(all) - 1; i >= 0 && all[i].Seq > after; i-- {
		if all[i].Owner() == of {
			out = append(out, all[i])
		}
	}
	slices.Reverse(out)
	return out
}

// A Span is a part of edits.jsonl, from the start of one line to the start of another, in
// bytes.
type Span struct{ From, To int64 }

// openEnd is the end of a part that extends to the end of the log.
const openEnd = math.MaxInt64

// nearby is the maximum gap, in bytes, between two parts that are read as one.
const nearby = 256 << 10

// Unarchived returns the parts of edits.jsonl whose originals no step has archived under
// the reference that was shown, in order. These are the originals of four kinds of
// edits: edits after the last step of their owner, edits that the history no longer
// contained when the step was made, void edits, and edits that are sealed with another
// key than the current one. The last part extends to the end of the log if it contains
// the last edit. logged holds all edits ([Edits.Logged]).
func Unarchived(steps, logged []Step, key string) []Span {
	if len(logged) == 0 {
		return nil
	}
	archived := map[message.Fingerprint]bool{}
	for i := range steps {
		for k := 0; k < len(steps[i].Evicted) && !steps[i].Volatile; k++ {
			archived[steps[i].Evicted[k].FP] = true
		}
	}
	var out []Span
	for i := range logged {
		e := &logged[i]
		if e.Key == key && !slices.ContainsFunc(e.Evicted, func(e Eviction) bool { return !archived[e.FP] }) {
			continue
		}
		to := int64(openEnd)
		if i+1 < len(logged) {
			to = logged[i+1].Off
		}
		if n := len(out); n > 0 && e.Off-out[n-1].To <= nearby {
			out[n-1].To = to
		} else {
			out = append(out, Span{e.Off, to})
		}
	}
	return out
}

// ReadSteps returns the steps of a session from a step number on.
func ReadSteps(ctx context.Context, log *record.Session, from int) (steps []Step, err error) {
	read := NewReader()
	for l, err := range log.Ledgers(ctx, from) {
		if err != nil {
			return nil, err
		}
		step, err := read.Stored(l)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	return steps, nil
}
