package compact

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
)

// stored holds the place and the hash of each message that a run has written to the
// archive. It does not hold the text of the lines, because that is as large as the
// history.
type stored struct {
	lines []storedLine
	only  []int // indexes of the messages; nil = all
}

type storedLine struct {
	span
	sum    [sha256.Size]byte
	file   string // file with the line
	number int    // line number in that file, from 1
}

// span is the place of a line in its file, without the line feed.
type span struct{ off, len int64 }

// storedLines returns the places of lines written for the messages in only;
// nil: for all.
func storedLines(lines []redact.Text, only []int) stored {
	s := stored{lines: make([]storedLine, len(lines)), only: only}
	off := int64(0)
	for k, l := range lines {
		s.lines[k] = storedLine{span: span{off, int64(l.Len())}, sum: sha256.Sum256([]byte(l.String())), number: k + 1}
		off += int64(l.Len()) + 1
	}
	return s
}

// in sets the file of the lines without a file.
func (s *stored) in(file string) {
	for k := range s.lines {
		if s.lines[k].file == "" {
			s.lines[k].file = file
		}
	}
}

// elsewhere returns the name of a file, or "" if it is the default one.
func elsewhere(file, meant string) string {
	if file == meant {
		return ""
	}
	return file
}

// places returns the place of each written message, by index. file is the file of the
// lines without one. The file name is not recorded in the lines while it can still
// change: if another process takes the name, lines would refer to its file.
func (s *stored) places(file string) map[int]*storedLine {
	lines := stored{lines: slices.Clone(s.lines)}
	lines.in(file)
	out := make(map[int]*storedLine, len(s.lines))
	for k := range lines.lines {
		i := k
		if s.only != nil {
			i = s.only[k]
		}
		out[i] = &lines.lines[k]
	}
	return out
}

// evicted returns the messages that the step edited or removed.
func (c *call) evicted(r *run, out *reduce.Outcome, n *numbered) []ledger.Eviction {
	at := r.stored.places(r.archive())
	var all []ledger.Eviction
	var of []int
	for _, i := range c.taken(out) {
		p, ok := at[i]
		if !ok {
			continue
		}
		is, _ := out.Conversation.Decision(i)
		all = append(all, ledger.Eviction{
			FP: c.s.sealed(c.history[i].Fingerprint()), Of: c.history[i].Fingerprint(), File: elsewhere(p.file, r.archive()), Off: p.off, Len: p.len,
			SHA256: hex.EncodeToString(p.sum[:]), Is: is.String(), Turn: n.turn(i),
		})
		of = append(of, i)
	}
	c.cited(all, of, out)
	return all
}

// cited sets the numbers by which a summary cites its messages. It sets no numbers if
// the summary was written from more or fewer messages.
func (c *call) cited(all []ledger.Eviction, of []int, out *reduce.Outcome) {
	info := summaryOf(out)
	if info == nil || info.First < 1 {
		return
	}
	var fresh []int
	for k, i := range of {
		was, _ := c.now.conv.Decision(i)
		if is, _ := out.Conversation.Decision(i); is == policy.Summarized && was != policy.Summarized {
			fresh = append(fresh, k)
		}
	}
	if len(fresh) != info.Input {
		return
	}
	for n, k := range fresh {
		all[k].Number = uint32(info.First + n)
	}
}

// summaryOf returns the summary that a run made, nil if it made none.
func summaryOf(out *reduce.Outcome) *policy.SummaryInfo {
	for _, p := range out.Passes {
		if p.Applied > 0 && p.Summary != nil && p.Summary.Text != "" {
			return p.Summary
		}
	}
	return nil
}

// lastNumber returns the highest number by which a summary of a lane cites a
// message, 0 if there is none.
func (s *session) lastNumber(of ledger.Owner) int {
	last := 0
	for _, step := range s.snapshot() {
		if step.Owner() == of {
			last = max(last, step.Numbers)
		}
	}
	return last
}
