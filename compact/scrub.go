package compact

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/record"
)

// ScrubOptions selects what [Scrub] removes from a session.
type ScrubOptions struct {
	// Secrets are the values to remove, at least 4 bytes each, in the forms in which
	// they may be written ([redact.Known]).
	Secrets []string
	// Rules, if not nil, find further secrets in the stored messages. A secret of
	// 8 bytes or more that they find once is removed everywhere.
	Rules *redact.Redactor

	DryRun bool // nothing is written
	Reason redact.Text
}

// ScrubReport is the outcome of [Scrub], or of its dry run.
type ScrubReport struct {
	record.Scrubbed
	// Steps are the steps whose summary or notice held a secret. The
	// part of the view that comes from them changes, so they match no history any more,
	// and the next call of the session compacts again. All other views stay the same.
	Steps []int `json:"steps,omitempty"`
}

// ErrShortSecret means that a secret to scrub has fewer than 4 bytes.
var ErrShortSecret = errors.New("compact: a secret must have at least 4 bytes")

const (
	leastSecret = redact.MinKnown
	leastSpread = 8 // for a secret found by a rule
)

// Scrub overwrites secrets in everything that a session stored, except in names of JSON
// members, offsets and hashes that contain a secret by chance. For details and errors see
// [record.Session.Scrub]; it also returns [ErrShortSecret]. Fingerprints and references
// do not change, so the session continues where it was.
func Scrub(ctx context.Context, s *record.Session, o ScrubOptions) (ScrubReport, error) {
	f := &scrubFinder{rules: o.Rules}
	for _, secret := range o.Secrets {
		if len(secret) < leastSecret {
			return ScrubReport{}, ErrShortSecret
		}
		f.known.Add(secret)
	}
	ended := false
	if !o.DryRun {
		var err error
		if ended, err = s.EndScrub(ctx); err != nil {
			return ScrubReport{}, err
		}
	}
	if o.Rules != nil { // first pass: collect the findings of the rules
		if _, err := s.Scrub(ctx, record.ScrubOptions{Find: f.learn, DryRun: true}); err != nil && !errors.Is(err, record.ErrScrub) {
			return ScrubReport{}, err
		}
	}
	done, err := s.Scrub(ctx, record.ScrubOptions{Find: f.find, DryRun: o.DryRun, Reason: o.Reason})
	done.Resumed = done.Resumed || ended
	report := ScrubReport{Scrubbed: done}
	for _, file := range done.Files {
		if step := stepOfFile(file.Name); step > 0 && file.Places > 0 {
			report.Steps = append(report.Steps, step)
		}
	}
	slices.Sort(report.Steps)
	report.Steps = slices.Compact(report.Steps)
	return report, err
}

// stepOfFile returns the number of the step whose view comes from a file: its ledger, or the
// summary that the ledger names (also as summary-001.2.json). It is 0 for other files.
func stepOfFile(file string) (step int) {
	for _, form := range []string{"ledger-%d.", "summary-%d."} {
		if _, err := fmt.Sscanf(file, form, &step); err == nil {
			return step
		}
	}
	return 0
}

// scrubFinder finds the parts of archive lines that a scrub removes.
type scrubFinder struct {
	known redact.Known
	rules *redact.Redactor
}

// find returns the parts of a line to remove.
func (f *scrubFinder) find(file string, line []byte) (out [][2]int) {
	w := wording{line: line[:textEnd(line)], ours: isOurs(file, line)}
	for _, place := range f.known.Find(string(w.line)) {
		if w.isText(place) {
			out = append(out, place)
		}
	}
	return append(out, f.ruled(file, line)...)
}

// ruled returns the findings of the rules in messages and summaries.
func (f *scrubFinder) ruled(file string, line []byte) (out [][2]int) {
	if f.rules == nil || isOurs(file, line) {
		return nil
	}
	end := textEnd(line)
	for _, at := range f.rules.Find(string(line)) {
		if at.End <= end {
			out = append(out, [2]int{at.Start, at.End})
		}
	}
	return out
}

// learn adds the secrets that the rules find in a line, and returns nothing to
// remove.
func (f *scrubFinder) learn(file string, line []byte) [][2]int {
	for _, at := range f.ruled(file, line) {
		value := string(line[at[0]:at[1]])
		for len(value) >= leastSpread && strings.Trim(value, "*01\"") != "" {
			f.known.Add(value)
			was := value
			if json.Unmarshal([]byte(`"`+was+`"`), &value) != nil || value == was {
				break
			}
		}
	}
	return nil
}

// textEnd returns the start of the archive's metadata in a line.
func textEnd(line []byte) int {
	if i := bytes.LastIndex(line, []byte(`"meta":{"fp":"`)); i >= 0 {
		return i
	}
	return len(line)
}
