package tidy

import (
	"encoding/json"
	"fmt"
)

// leastAgain is from how many bytes on it pays to say that a result came before.
const leastAgain = 1000

// again says of a result that came before, or that is a file which has changed
// little since it was read, how it differs. It does not say that the other one
// is still to be seen: it names what it is had back by.
func again(d *draft, r *Result, _ int) verdict {
	if len(r.Text) < leastAgain || r.asked.ranged {
		return pass
	}
	for i := len(r.Earlier) - 1; i >= 0; i-- {
		e := &r.Earlier[i]
		switch {
		case e.Text == r.Text:
			d.lines = []line{ours(fmt.Sprintf("[the same %d lines as %s]", d.total, e.named(sameCall(e.Call, r.Call))))}
			d.what = "it came before"
			return did
		case sameCall(e.Call, r.Call) && r.asked.file != "" && len(e.Text) >= leastAgain:
			return done(d.since(e, r))
		}
	}
	return pass
}

// named says which result it was.
func (e *Earlier) named(same bool) string {
	name := "an earlier result"
	if same {
		name = "the earlier result of this call"
	}
	if ref := e.ref(); ref != "" {
		name += " (recall " + ref + ")"
	}
	return name
}

func sameCall(a, b Call) bool {
	return a.Tool == b.Tool && string(compacted(a.Args)) == string(compacted(b.Args))
}

func compacted(raw json.RawMessage) []byte {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return raw
	}
	out, _ := json.Marshal(v)
	return out
}

// diffMost is what share of a file may have changed for it to be told as a
// difference.
const diffMost = 4

// since leaves of a file what is new in it since it was read.
func (d *draft) since(e *Earlier, r *Result) bool {
	was := newDraft(e.Text)
	hunks, ok := differ(was.lines, d.lines)
	if !ok {
		return false
	}
	out := []line{ours(fmt.Sprintf("[only what is not as in %s]", e.named(true)))}
	size := len(out[0].text)
	for _, h := range hunks {
		out = append(out, h.lines(d)...)
	}
	for _, l := range out {
		size += len(l.text) + 1
	}
	if size*diffMost > len(r.Text) {
		return false
	}
	d.lines, d.what = out, "only what changed since it was read"
	return true
}
