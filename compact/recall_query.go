package compact

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/agentcompact/compact/internal/excerpt"
	"github.com/agentcompact/compact/internal/lookup"
	"github.com/agentcompact/compact/recall"
)

// recallQuery holds the arguments of a call of the recall tool.
type recallQuery struct {
	Ref     string `json:"ref"`
	Head    int    `json:"head"`
	Tail    int    `json:"tail"`
	Lines   string `json:"lines"`
	Pattern string `json:"pattern"`
	Context int    `json:"context"`

	first, last int // parsed from Lines
	pattern     *regexp.Regexp
}

// parseRecall parses arguments. Its errors are texts for the model.
func parseRecall(arguments json.RawMessage) (*recallQuery, error) {
	q := &recallQuery{}
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.DisallowUnknownFields()
	if err := d.Decode(q); err != nil {
		return nil, fmt.Errorf("the arguments can't be read: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the arguments are more than one JSON object")
	}
	if q.Ref == "" && q.Pattern == "" {
		return nil, errors.New("ref is missing: use the reference in a placeholder, or give only a pattern to search everything that was removed")
	}
	if n := q.selections(); n > 1 {
		return nil, errors.New("give at most one of head, tail, lines and pattern")
	}
	if q.Head < 0 || q.Tail < 0 || q.Context < 0 || q.Context > recallAround {
		return nil, fmt.Errorf("head and tail are at least 1, context is 0 to %d", recallAround)
	}
	return q, errors.Join(q.parseLines(), q.parsePattern())
}

func (q *recallQuery) selections() (n int) {
	for _, given := range []bool{q.Head != 0, q.Tail != 0, q.Lines != "", q.Pattern != ""} {
		if given {
			n++
		}
	}
	return n
}

// parseLines parses FROM-TO, or the number of one line.
func (q *recallQuery) parseLines() error {
	if q.Lines == "" {
		return nil
	}
	from, to, ok := strings.Cut(q.Lines, "-")
	if !ok {
		to = from
	}
	var err1, err2 error
	q.first, err1 = strconv.Atoi(strings.TrimSpace(from))
	q.last, err2 = strconv.Atoi(strings.TrimSpace(to))
	if err1 != nil || err2 != nil || q.first < 1 || q.last < q.first {
		return fmt.Errorf("lines %q is not FROM-TO, counted from 1", shorten(q.Lines))
	}
	return nil
}

func (q *recallQuery) parsePattern() (err error) {
	if len(q.Pattern) > recallPattern {
		return fmt.Errorf("the pattern is longer than %d bytes", recallPattern)
	}
	if q.Pattern != "" {
		compile := regexp.Compile
		if q.Ref == "" {
			compile = recall.SearchPattern
		}
		if q.pattern, err = compile(q.Pattern); err != nil {
			return fmt.Errorf("the pattern is not a regular expression: %w", err)
		}
	}
	return nil
}

// answer returns the requested part of text in at most a given number of bytes, with a
// note about the rest.
func (q *recallQuery) answer(ctx context.Context, text string, bytes int) string {
	lines := strings.Split(text, "\n")
	switch {
	case q.pattern != nil:
		return q.matches(ctx, lines, bytes)
	case q.Tail > 0:
		return tailOf(lines, q.Tail, bytes)
	case q.Lines != "" && q.first > len(lines):
		return fmt.Sprintf("[the text has %d lines]", len(lines))
	case q.Lines != "":
		return rangeOf(lines, q.first-1, min(q.last, len(lines)), bytes)
	case q.Head > 0:
		return rangeOf(lines, 0, min(q.Head, len(lines)), bytes)
	}
	return rangeOf(lines, 0, len(lines), bytes)
}

// unread returns a note about the messages that a reference names but one answer does not
// read, "" if there are none.
func unread(ref string) string {
	r, err := lookup.ParseRef(ref)
	if err != nil || r.Beyond == 0 {
		return ""
	}
	return fmt.Sprintf("\n[only s%d to s%d were read; ask for s%d-s%d, too]", r.First, r.Last, r.Last+1, r.Beyond)
}

// listed returns the matches of a search in at most a given number of bytes: for each
// part its reference, and then its lines with numbers.
func listed(f recall.Found, bytes int) string {
	if f.Lines == 0 {
		return "[no line of the removed text matches]"
	}
	out, shows := matchLines(f.Matches)
	kept, left := excerpt.Fitting(out, bytes-noteBytes)
	shown := 0
	for _, matches := range shows[:len(kept)] {
		if matches {
			shown++
		}
	}
	if left == 0 && shown == f.Lines && !f.Cut {
		return strings.Join(out, "\n")
	}
	return strings.Join(kept, "\n") + "\n" + restOf(f, shown)
}

// matchLines returns the lines of an answer; shows marks the matching ones.
func matchLines(matches []recall.Match) (out []string, shows []bool) {
	add := func(line string, matches bool) { out, shows = append(out, line), append(shows, matches) }
	for i := range matches {
		m, sep := &matches[i], ":"
		switch {
		case i == 0 || m.Ref != matches[i-1].Ref:
			add(headingOf(m), false)
		case m.Line != matches[i-1].Line+1 && (m.Near || matches[i-1].Near):
			add("--", false)
		}
		if m.Near {
			sep = "-"
		}
		add(strconv.Itoa(m.Line)+sep+m.Text, !m.Near)
	}
	return out, shows
}

// restOf describes the matching lines that an answer does not show, and why.
func restOf(f recall.Found, shown int) string {
	var why []string
	if f.Same > 0 {
		why = append(why, fmt.Sprintf("%d repeat one of these", f.Same))
	}
	if more := f.Lines - f.Same - shown; more > 0 {
		why = append(why, fmt.Sprintf("%d more match: narrow the pattern, or ask for a reference", more))
	}
	if f.Cut {
		why = append(why, "the oldest messages were not searched")
	}
	if len(why) == 0 {
		why = append(why, "lines around them are left out: ask with less context")
	}
	return fmt.Sprintf("[%d of %d matching lines: messages before tool results, newest first; %s]", shown, f.Lines, strings.Join(why, "; "))
}

// headingOf describes the part whose lines follow, and how to recall all of it.
func headingOf(m *recall.Match) string {
	what := string(m.Role)
	if m.Tool != "" {
		what += " " + m.Tool
	}
	if m.Turn > 0 {
		what += ", turn " + strconv.Itoa(m.Turn)
	}
	if m.Number > 0 {
		what = "s" + strconv.Itoa(m.Number) + " " + what
	}
	return "[" + what + " · ref " + m.Ref + "]"
}

// noteBytes is reserved for the note.
const noteBytes = 160

// rangeOf returns as many of lines[from:to] as fit.
func rangeOf(lines []string, from, to, bytes int) string {
	kept, left := excerpt.Fitting(lines[from:to], bytes)
	if left == 0 {
		return strings.Join(kept, "\n")
	}
	if kept, left = excerpt.Fitting(lines[from:to], bytes-noteBytes); left == 0 {
		return strings.Join(kept, "\n")
	}
	next := from + len(kept) + 1
	note := fmt.Sprintf("[lines %d-%d of %d; %d bytes are left out; ask for lines %d-%d, or for a pattern]", from+1, from+len(kept), len(lines), left, next, to)
	if len(kept[len(kept)-1]) < len(lines[from+len(kept)-1]) {
		note = fmt.Sprintf("[the beginning of line %d of %d; %d bytes are left out; ask for a pattern, or for other lines]", from+1, len(lines), left)
	}
	return strings.Join(kept, "\n") + "\n" + note
}

// tailOf returns as many of the last n lines as fit, from the end.
func tailOf(lines []string, n, bytes int) string {
	from, size := len(lines), 0
	for from > max(len(lines)-n, 0) && size+len(lines[from-1])+1 <= bytes-noteBytes {
		from--
		size += len(lines[from]) + 1
	}
	if from == len(lines) { // the last line alone does not fit
		return rangeOf(lines, from-1, from, bytes)
	}
	text := strings.Join(lines[from:], "\n")
	if from > max(len(lines)-n, 0) {
		text = fmt.Sprintf("[lines %d-%d of %d; those before are left out]\n", from+1, len(lines), len(lines)) + text
	}
	return text
}

// matches returns the matching lines with their numbers, in the form of
// "grep -n".
func (q *recallQuery) matches(ctx context.Context, lines []string, bytes int) string {
	ctx, cancel := excerpt.WithMatchTime(ctx)
	defer cancel()
	hits, err := excerpt.Matching(excerpt.NewMatcher(ctx, q.pattern), lines, q.Context)
	if err != nil {
		return "[" + excerpt.ErrLongMatch.Error() + ": ask with a simpler pattern, or for lines]"
	}
	if len(hits) == 0 {
		return fmt.Sprintf("[no line of %d matches]", len(lines))
	}
	var out []string
	for k, h := range hits {
		if k > 0 && hits[k-1].At != h.At-1 && q.Context > 0 {
			out = append(out, "--")
		}
		sep := "-"
		if h.Matches {
			sep = ":"
		}
		out = append(out, strconv.Itoa(h.At+1)+sep+lines[h.At])
	}
	kept, left := excerpt.Fitting(out, bytes-noteBytes)
	if left == 0 {
		return strings.Join(out, "\n")
	}
	return strings.Join(kept, "\n") + fmt.Sprintf("\n[%d of %d lines with matches; %d bytes are left out; ask with a narrower pattern, or for lines]", len(kept), len(out), left)
}

// Limits of one answer of the recall tool.
const (
	recallName    = "recall"
	recallBytes   = 16 << 10 // default; see ToolBytes
	recallLeast   = 256
	recallPattern = 1000 // bytes of a pattern
	recallAround  = 50   // lines around a match
)

func shorten(s string) string {
	const most = 80
	return s[:excerpt.Prefix(s, most)]
}
