package strategy

import (
	"github.com/agentcompact/compact/message"
)

// thresholds are sizes in bytes, mildest first: an observation above the threshold is
// shortened to one line. The threshold 0 shortens none.
var thresholds = []int{0, 24_000, 8_000, 3_000, 1_000, 300, 1}

// margin is the share of a window that stays unused, because a summarizer may
// count tokens differently.
const margin = 0.1

// split cuts a request into requests that fit room tokens of history each. It first
// shortens observations, beginning with the largest. It makes several pieces, of complete
// rounds, only if the request does not fit with all observations on single lines. If one
// round alone is too large, its texts are clipped.
func (r Request) split(room int) []Request {
	if len(r.Messages) == 0 {
		return []Request{r}
	}
	costs := r.costs()
	for _, t := range thresholds {
		if costs.total(t) <= room {
			r.Shorten = t
			return []Request{r}
		}
	}
	r.Shorten = thresholds[len(thresholds)-1]
	return r.pack(room)
}

// costs holds the tokens of each message's head and observations.
type costs struct {
	heads, briefHeads []int
	obs               [][]obsCost
}

type obsCost struct{ chars, full, line int }

func (r Request) costs() costs {
	full := r.entries()
	r.Shorten = 1
	brief := r.entries()
	c := costs{heads: make([]int, len(full)), briefHeads: make([]int, len(full)), obs: make([][]obsCost, len(full))}
	for i := range full {
		c.heads[i], c.briefHeads[i] = r.Count(full[i].head), r.Count(brief[i].head)
		for _, o := range full[i].observations {
			c.obs[i] = append(c.obs[i], obsCost{len(o.full), r.Count(o.full), r.Count(o.line)})
		}
	}
	return c
}

// perLine is the number of tokens for the line breaks and label of a text.
const perLine = 4

// total returns the tokens of the messages if observations above t bytes are shortened.
func (c costs) total(t int) int {
	n := 0
	for i := range c.heads {
		n += perLine
		if t == 0 {
			n += c.heads[i]
		} else {
			n += c.briefHeads[i]
		}
		for _, o := range c.obs[i] {
			n += perLine
			if t > 0 && o.chars > t {
				n += o.line
			} else {
				n += o.full
			}
		}
	}
	return n
}

// pack groups complete rounds into pieces, in order.
func (r Request) pack(room int) []Request {
	var out []Request
	start, used := 0, 0
	entries := r.entries()
	cost := func(from, to int) int {
		n := 0
		for i := from; i < to; i++ {
			n += r.Count(entries[i].text(r.Shorten, r.Clip))
		}
		return n
	}
	flush := func(end int) {
		if end > start {
			out = append(out, r.piece(start, end))
		}
		start, used = end, 0
	}
	for _, round := range message.Rounds(r.Messages) {
		n := cost(round.Start, round.End)
		if used+n > room {
			flush(round.Start)
		}
		if n > room {
			out = append(out, r.piece(round.Start, round.End).clipTo(room)...)
			start, used = round.End, 0
			continue
		}
		used += n
	}
	flush(len(r.Messages))
	return out
}

func (r Request) piece(start, end int) Request {
	r.Messages, r.First = r.Messages[start:end], r.First+start
	r.Previous, r.Notes = "", ""
	return r
}

// leastClip is the minimum length of a clipped text, in bytes.
const leastClip = 60

// clipTo clips the texts of a request until they fit room tokens. If that is
// not enough, it splits the request in half.
func (r Request) clipTo(room int) []Request {
	fits := func(clip int) bool {
		r.Clip = clip
		return r.Count(r.transcript()) <= room
	}
	half := len(r.Messages) / 2
	if !fits(leastClip) && half > 0 {
		return append(r.piece(0, half).clipTo(room), r.piece(half, len(r.Messages)).clipTo(room)...)
	}
	for clip := 1 << 20; clip > leastClip; clip /= 2 {
		if fits(clip) {
			return []Request{r}
		}
	}
	r.Clip = leastClip
	return []Request{r}
}
