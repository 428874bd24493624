package compact

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
)

// An eviction is a message that a step edited or took out, and where the
// archive has it: what a ledger proves it with.
type eviction struct {
	FP     message.Fingerprint `json:"fp"`             // as it came in, sealed
	File   string              `json:"file,omitempty"` // that has its line; "" = the ledger's archive file
	Off    int64               `json:"off"`            // of its line in that file
	Len    int64               `json:"len"`            // without the line feed
	SHA256 string              `json:"sha256"`
	Is     string              `json:"is"` // the decision
	Turn   uint32              `json:"turn,omitempty"`
	Number uint32              `json:"n,omitempty"` // as the summary of the step cites it: [s12]

	of message.Fingerprint // FP, before it was sealed
}

// stored is the messages that a run has written to the archive, line by line:
// where each stands and what it hashes to. The lines themselves are as large as
// the history, and nobody needs them once they are written.
type stored struct {
	lines []storedLine
	only  []int // which messages they are; nil = all
}

type storedLine struct {
	span
	sum    [sha256.Size]byte
	file   string // that has it
	number int    // in that file, from 1
}

// span is where a line stands in its file, without the line feed.
type span struct{ off, len int64 }

// storedLines is what was written as lines of these messages; nil: of all.
func storedLines(lines []redact.Text, only []int) stored {
	s := stored{lines: make([]storedLine, len(lines)), only: only}
	off := int64(0)
	for k, l := range lines {
		s.lines[k] = storedLine{span: span{off, int64(l.Len())}, sum: sha256.Sum256([]byte(l.String())), number: k + 1}
		off += int64(l.Len()) + 1
	}
	return s
}

// in says which file has the lines that stand in none yet.
func (s *stored) in(file string) {
	for k := range s.lines {
		if s.lines[k].file == "" {
			s.lines[k].file = file
		}
	}
}

// as is stored with another name of the file that was called so.
func (s *stored) as(was, is string) stored {
	out := stored{slices.Clone(s.lines), s.only}
	for k := range out.lines {
		if out.lines[k].file == was {
			out.lines[k].file = is
		}
	}
	return out
}

// elsewhere is the name of a file, "" where it is the one that is meant anyway.
func elsewhere(file, meant string) string {
	if file == meant {
		return ""
	}
	return file
}

// at returns where the archive has a message that the step edited or took out.
func (s *ledgerStep) at(e *eviction) lineAt { return lineAt{cmp.Or(e.File, s.Archive), e.Off} }

// places returns where the line of each message stands. A message that was not
// written has none.
func (s *stored) places() map[int]*storedLine {
	out := make(map[int]*storedLine, len(s.lines))
	for k := range s.lines {
		i := k
		if s.only != nil {
			i = s.only[k]
		}
		out[i] = &s.lines[k]
	}
	return out
}

// evicted lists what the step edited or took out.
func (c *call) evicted(r *run, out *policy.Outcome, n *numbered) []eviction {
	at := r.stored.places()
	var all []eviction
	var of []int
	for _, i := range c.taken(out) {
		p, ok := at[i]
		if !ok {
			continue
		}
		is, _ := out.Conversation.Decision(i)
		all = append(all, eviction{
			FP: c.s.sealed(c.history[i].Fingerprint()), of: c.history[i].Fingerprint(), File: elsewhere(p.file, r.archive()), Off: p.off, Len: p.len,
			SHA256: hex.EncodeToString(p.sum[:]), Is: is.String(), Turn: n.turn(i),
		})
		of = append(of, i)
	}
	c.cited(all, of, out)
	return all
}

// cited gives the messages that a summary was written of the numbers that it
// cites them by. Where they are not those that it was given, none has one.
func (c *call) cited(all []eviction, of []int, out *policy.Outcome) {
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

// summaryOf is the summary that a run made; nil where it made none.
func summaryOf(out *policy.Outcome) *policy.SummaryInfo {
	for _, p := range out.Passes {
		if p.Applied > 0 && p.Summary != nil && p.Summary.Text != "" {
			return p.Summary
		}
	}
	return nil
}

// lastNumber returns the highest number by which a summary of a lane cites a
// message, 0 where there is none.
func (s *session) lastNumber(of owner) int {
	last := 0
	for _, step := range s.snapshot() {
		if step.owner() == of {
			last = max(last, step.Numbers)
		}
	}
	return last
}

// Refs returns, for each message that the step of a ledger edited or removed,
// its place and bytes in the archive and the turn index that finds it. It is
// for [storage.VerifyOptions].
func Refs(l storage.Ledger) ([]storage.Ref, error) {
	step, err := parseLedger(l.Data)
	if err != nil {
		return nil, err
	}
	refs := make([]storage.Ref, len(step.Evicted))
	for i, e := range step.Evicted {
		refs[i] = storage.Ref{File: step.at(&e).file, Off: e.Off, Len: e.Len, SHA256: e.SHA256, ID: e.FP.String()}
		if step.Index != nil {
			refs[i].Index = step.Index.File
		}
	}
	return refs, nil
}

// evictions returns what the step edited or took out by where it stands.
func (s *ledgerStep) evictions() map[lineAt]*eviction {
	at := make(map[lineAt]*eviction, len(s.Evicted))
	for i := range s.Evicted {
		at[s.at(&s.Evicted[i])] = &s.Evicted[i]
	}
	return at
}
