package tidy

import (
	"encoding/json"
	"fmt"
)

// leastAgain is the size in bytes from which a repeated result is replaced by a
// note.
const leastAgain = 1000

// again replaces a repeated result by a note, and a file that was read before and has
// changed little by its differences. The note does not claim that the earlier result is
// still in the view, but gives the reference for a recall.
func again(d *draft, r *Result, _ int) verdict {
	if len(r.Text) < leastAgain || r.asked.ranged {
		return pass
	}
	for i := len(r.Earlier) - 1; i >= 0; i-- {
		e := &r.Earlier[i]
		switch {
		case e.Text == r.Text:
			d.lines = []line{literalLine(fmt.Sprintf("[the same %s as %s]", counts(d.total, "line"), e.named(sameCall(e.Call, r.Call))))}
			d.what = "it came before"
			return did
		case sameCall(e.Call, r.Call) && r.asked.file != "" && len(e.Text) >= leastAgain:
			return done(d.reduceToChanges(e, r))
		}
	}
	return pass
}

// named describes the earlier result. same says that it answers the same call.
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

// diffMost limits the differences of a file to 1/diffMost of its size.
const diffMost = 4

// reduceToChanges reduces a file to its changes since the earlier read. It returns false if the
// file has no changes or too many.
func (d *draft) reduceToChanges(e *Earlier, r *Result) bool {
	was := newDraft(e.Text)
	hunks, ok := differ(was.lines, d.lines)
	if !ok {
		return false
	}
	out := []line{literalLine(fmt.Sprintf("[only what is not as in %s]", e.named(true)))}
	size := len(out[0].text)
	for i := 0; i < len(hunks); {
		n := i + 1
		for n < len(hunks) && hunks[n-1].touches(hunks[n]) {
			n++
		}
		out = append(out, unified(hunks[i:n], d)...)
		i = n
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
