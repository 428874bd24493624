package compact

import (
	"crypto/sha256"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/record"
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
// lines without a file name. The file name is not recorded in the lines while it can
// still change: if another process takes the name, lines would refer to its file.
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

// summaryOf returns the summary that a run made, nil if it made none.
func summaryOf(out *reduce.Outcome) *policy.SummaryInfo {
	for _, p := range out.Passes {
		if p.Applied > 0 && p.Summary != nil && p.Summary.Text != "" {
			return p.Summary
		}
	}
	return nil
}

// place returns the place of a file: an absolute path, or a URL in a bucket. For
// other archives both are empty.
func place(w record.Written) (file, s3 string) {
	switch {
	case strings.HasPrefix(w.Location, "s3://"):
		return "", w.Location
	case w.Location == "", w.Location == w.Key.String(): // unknown place
		return "", ""
	}
	file, err := filepath.Abs(w.Location)
	if err != nil {
		file = w.Location
	}
	return file, ""
}
