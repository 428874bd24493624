package compact

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/record"
)

// An eviction is a message that a step edited or removed, with its place in the
// archive and its hash, by which a ledger proves it.
type eviction struct {
	FP     message.Fingerprint `json:"fp"`             // of the unedited message, sealed
	File   string              `json:"file,omitempty"` // file with its line; "" = the ledger's archive file
	Off    int64               `json:"off"`            // offset of its line in that file
	Len    int64               `json:"len"`            // length of the line without the line feed
	SHA256 string              `json:"sha256"`
	Is     string              `json:"is"` // the decision
	Turn   uint32              `json:"turn,omitempty"`
	Number uint32              `json:"n,omitempty"` // number by which the step's summary cites it: [s12]

	of message.Fingerprint // FP before sealing
}

// stored holds the place and the hash of each message that a run has written to
// the archive. It does not hold the lines themselves, which are as large as the
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

// in sets the file of the lines that have none.
func (s *stored) in(file string) {
	for k := range s.lines {
		if s.lines[k].file == "" {
			s.lines[k].file = file
		}
	}
}

// as returns a copy for a file that was renamed, from was to is.
func (s *stored) as(was, is string) stored {
	out := stored{slices.Clone(s.lines), s.only}
	for k := range out.lines {
		if out.lines[k].file == was {
			out.lines[k].file = is
		}
	}
	return out
}

// elsewhere returns the name of a file, or "" if it is the default one.
func elsewhere(file, meant string) string {
	if file == meant {
		return ""
	}
	return file
}

// at returns the place in the archive of a message that the step edited or
// removed.
func (s *ledgerStep) at(e *eviction) lineAt { return lineAt{cmp.Or(e.File, s.Archive), e.Off} }

// places returns the place of each written message, by index.
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

// evicted returns the messages that the step edited or removed.
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

// cited sets the numbers by which a summary cites its messages. It sets none if
// there are more or fewer messages than the summary was written from.
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

// summaryOf returns the summary that a run made, nil if none.
func summaryOf(out *policy.Outcome) *policy.SummaryInfo {
	for _, p := range out.Passes {
		if p.Applied > 0 && p.Summary != nil && p.Summary.Text != "" {
			return p.Summary
		}
	}
	return nil
}

// lastNumber returns the highest number by which a summary of a lane cites a
// message, 0 if there is none.
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
// for [record.VerifyOptions].
func Refs(l record.Ledger) ([]record.Ref, error) {
	step, err := parseLedger(l.Data)
	if err != nil {
		return nil, err
	}
	refs := make([]record.Ref, len(step.Evicted))
	for i, e := range step.Evicted {
		refs[i] = record.Ref{File: step.at(&e).file, Off: e.Off, Len: e.Len, SHA256: e.SHA256, ID: e.FP.String()}
		if step.Index != nil {
			refs[i].Index = step.Index.File
		}
	}
	return refs, nil
}

// evictions returns the messages that the step edited or removed, by place.
func (s *ledgerStep) evictions() map[lineAt]*eviction {
	at := make(map[lineAt]*eviction, len(s.Evicted))
	for i := range s.Evicted {
		at[s.at(&s.Evicted[i])] = &s.Evicted[i]
	}
	return at
}
