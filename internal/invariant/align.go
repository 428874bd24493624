package invariant

import (
	"slices"

	"github.com/agentcompact/compact/message"
)

// align assigns the messages of the view to messages of the history. It first tries the
// required order: pinned rounds, the messages of the compaction, the rest. If the view
// has another order, align matches messages by content, so that the rules can describe
// the mistakes.
func (j *judge) align() {
	j.src = make([]int, len(j.Out))
	if j.strict = j.layOut(); !j.strict {
		j.matchContent()
	}
	j.place = make([]int, len(j.In))
	for i := range j.place {
		j.place[i] = -1
	}
	for o, i := range j.src {
		if i >= 0 {
			j.place[i] = o
		}
	}
}

// layOut tries every choice of the messages that the compaction made.
func (j *judge) layOut() bool {
	var left []int
	for i := range j.In {
		if j.survives(i) {
			left = append(left, i)
		}
	}
	fresh := len(j.Out) - len(left)
	var candidates []int
	for o, m := range j.Out {
		if ours(m) {
			candidates = append(candidates, o)
		}
	}
	if fresh < 0 || fresh > 2 || fresh > len(candidates) {
		return false
	}
	if fresh == 0 {
		return j.fitWithoutMark(left)
	}
	for a := range candidates {
		if fresh == 1 && j.fit(left, []int{candidates[a]}, candidates[a]) {
			return true
		}
		for b := a + 1; fresh == 2 && b < len(candidates); b++ {
			if j.fit(left, []int{candidates[a], candidates[b]}, candidates[a]) {
				return true
			}
		}
	}
	return false
}

// fitWithoutMark assigns a view in which no message of the compaction marks the end
// of the pinned rounds that were moved to the front.
func (j *judge) fitWithoutMark(left []int) bool {
	pinned := 0
	for _, i := range left {
		if j.pinnedRound[i] {
			pinned++
		}
	}
	for front := 0; front <= pinned; front++ {
		if j.fit(left, nil, front) {
			return true
		}
		if len(left) == len(j.In) && !j.Earlier {
			return false // no message was removed, so none moved
		}
	}
	return false
}

// fit assigns the remaining messages to the view: first a number of messages from
// pinned rounds (front), then the messages of the compaction (fresh), then the others.
// It keeps the order of the history.
func (j *judge) fit(left, fresh []int, front int) bool {
	f := fitter{judge: j, left: left, front: front, dead: map[[2]int]bool{}}
	for o := range j.Out {
		if o >= front && !slices.Contains(fresh, o) {
			f.back = append(f.back, o)
		}
	}
	if front+len(f.back) != len(left) || !f.search(0, 0) {
		return false
	}
	if j.Earlier && !f.shuffleFront() {
		return false
	}
	for _, o := range fresh {
		j.src[o] = -1
	}
	return true
}

type fitter struct {
	*judge
	left  []int           // messages of In
	front int             // Out[:front] are pinned rounds
	back  []int           // the other messages of Out that come from In
	dead  map[[2]int]bool // arguments of search that have failed
	moved []int           // messages assigned to the front, last first
}

// search assigns left[i:]. b of the messages before left[i] are already assigned to the back.
func (f *fitter) search(i, b int) bool {
	if i == len(f.left) {
		return b == len(f.back)
	}
	if f.dead[[2]int{i, b}] {
		return false
	}
	src, ahead := f.left[i], i-b
	if ahead < f.front && f.mayLead(src) && (f.Earlier || f.matches(src, ahead)) && f.search(i+1, b) {
		f.src[ahead] = src
		f.moved = append(f.moved, src)
		return true
	}
	if b < len(f.back) && f.matches(src, f.back[b]) && f.search(i+1, b+1) {
		f.src[f.back[b]] = src
		return true
	}
	f.dead[[2]int{i, b}] = true
	return false
}

// mayLead reports whether a message may come before the summary.
func (j *judge) mayLead(i int) bool {
	return j.pinnedRound[i] && (j.in.anchor < 0 || j.in.round[i] != j.in.round[j.in.anchor])
}

// shuffleFront assigns the front by content: in a chain of compactions, a pinned
// message that was the anchor before comes later than other pinned messages.
func (f *fitter) shuffleFront() bool {
	slices.Reverse(f.moved)
	used := make([]bool, len(f.moved))
	for o := range f.front {
		at := -1
		for k, src := range f.moved {
			if !used[k] && f.matches(src, o) {
				at = k
				break
			}
		}
		if at < 0 {
			return false
		}
		used[at] = true
		f.src[o] = f.moved[at]
	}
	return true
}

// matches reports whether Out[o] can be In[i] after the decision about In[i].
func (j *judge) matches(i, o int) bool {
	if j.Decisions[i] == kept {
		return same(j.In[i], j.Out[o])
	}
	return related(j.In[i], j.Out[o])
}

// matchContent assigns every message of the view to the most similar message of
// the history: first one with the same bytes, then one that differs only in
// results, then one of the same shape.
func (j *judge) matchContent() {
	taken := make([]bool, len(j.In))
	for o := range j.src {
		j.src[o] = -1
	}
	for pass, alike := range []func(a, b message.Message) bool{same, related, alikeExceptTexts} {
		last := -1
		for o := range j.Out {
			if j.src[o] >= 0 || pass == 2 && ours(j.Out[o]) {
				continue
			}
			if i := j.likeliest(o, last, taken, alike); i >= 0 {
				j.src[o], taken[i], last = i, true, i
			}
		}
	}
}

func (j *judge) likeliest(o, last int, taken []bool, alike func(a, b message.Message) bool) int {
	best, rank := -1, 0
	for i := range j.In {
		if taken[i] || !alike(j.In[i], j.Out[o]) {
			continue
		}
		r := 1
		if j.survives(i) {
			r += 2
		}
		if i > last {
			r++
		}
		if r > rank {
			best, rank = i, r
		}
	}
	return best
}

// Sources returns, for every message of the view, its index in the history; -1
// = made by the compaction. It returns false if the decisions do not lead to
// the view; the indexes are then a guess.
func Sources(c Case) ([]int, bool) {
	j := newJudge(&c)
	if !j.decisionsAreValid() {
		return nil, false
	}
	j.align()
	return j.src, j.strict
}
