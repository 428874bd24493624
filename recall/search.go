package recall

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/excerpt"
	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/lookup"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/turnindex"
)

// A Match is a matching line in text that was removed from a session's view.
type Match struct {
	Number int          `json:"number,omitempty"` // number by which summaries cite the message: 12 for [s12]; 0 = in no summary
	Ref    string       `json:"ref"`              // reference of the part with the line, for [Session.Text]
	Role   message.Role `json:"role"`             // role of its message
	Tool   string       `json:"tool,omitempty"`   // tool that the part calls or answers, if the wire names it
	Turn   int          `json:"turn,omitempty"`   // turn of the message; 0 = unknown
	Line   int          `json:"line"`             // number of the line in the part's text, from 1
	Text   string       `json:"text"`             // the line, redacted, at most 400 bytes of it around the match
	Near   bool         `json:"near,omitempty"`   // a context line that does not match itself, see [Around]
}

// Found is the result of a search.
type Found struct {
	Matches []Match `json:"matches"`           // messages before tool results, each newest first, with lines in order; repeated lines are left out
	Lines   int     `json:"matching_lines"`    // number of all matching lines; larger than the number of Matches if these are limited
	Same    int     `json:"same,omitempty"`    // matching lines that were left out as repetitions of a line in Matches
	Cut     bool    `json:"cut,omitempty"`     // the oldest text was not searched: it exceeds the size bound, or the pattern takes too long
	Changed int     `json:"changed,omitempty"` // messages that were not searched, because their archive file was changed
}

// Bounds of a search.
const (
	searchBytes = 64 << 20 // maximum size of the searched lines, newest first
	searchLine  = 400      // maximum length of a shown line in bytes
	searchMost  = 200      // default number of matches
	maxAround   = 50       // lines of context on each side
)

// A SearchOption configures [Session.Search].
type SearchOption func(*searcher)

// Around adds up to n lines of context before and after each match, at most 50.
// They do not count as matches.
func Around(n int) SearchOption {
	return func(r *searcher) { r.around = min(max(n, 0), maxAround) }
}

// Search returns the lines that match a pattern in the text that compactions removed
// from the session's view, redacted. most is the maximum number of matches; 0 is 200. A
// search covers the newest 64 MiB of a session and takes at most ten seconds. It also
// covers steps that were committed since [Open].
//
// Errors are a *[ReadError], even if the context ended, and [ErrInternal]. The context is
// checked every few KB.
func (s *Session) Search(ctx context.Context, pattern *regexp.Regexp, most int, opts ...SearchOption) (found Found, err error) {
	defer s.rescue("Search", &err)
	ctx, cancel := excerpt.WithMatchTime(ctx)
	defer cancel()
	r := &searcher{s: s.lookup(), matcher: excerpt.NewMatcher(ctx, pattern), most: cmp.Or(most, searchMost), left: searchBytes, seen: map[string]bool{}, shown: map[string]bool{}}
	for _, o := range opts {
		o(r)
	}
	err = s.lookup().Book().Reload(ctx)
	if err == nil {
		err = r.edits(ctx)
	}
	steps := s.lookup().Book().Steps()
	for k := len(steps) - 1; k >= 0 && err == nil; k-- {
		err = r.step(ctx, &steps[k])
	}
	switch {
	case errors.Is(context.Cause(ctx), excerpt.ErrLongMatch):
		r.found.Cut = true
	case err != nil:
		return Found{}, s.failed(err)
	}
	slices.SortStableFunc(r.found.Matches, func(x, y Match) int { return cmp.Compare(x.rank(), y.rank()) })
	return r.found, nil
}

// rank returns the sort key of a match: messages of people and models come before
// tool calls and results.
func (m *Match) rank() int {
	if m.Role == message.RoleTool || m.Tool != "" {
		return 1
	}
	return 0
}

// SearchPattern compiles a pattern for [Session.Search]. A pattern without capital
// letters ignores case.
func SearchPattern(pattern string) (*regexp.Regexp, error) {
	p, err := regexp.Compile(pattern)
	if err != nil || strings.ToLower(pattern) != pattern {
		return p, err // the error has the caller's own pattern
	}
	return regexp.Compile("(?i)" + pattern)
}

// searcher searches the removed messages, newest first.
type searcher struct {
	s       *lookup.Session
	matcher excerpt.Matcher
	most    int
	around  int             // lines of context on each side of a match
	matched int             // matching lines in found.Matches
	left    int64           // bytes left of the limit
	seen    map[string]bool // searched messages, because a message that was masked and then summarized was removed twice
	shown   map[string]bool // lines that were shown
	found   Found
}

// step searches the messages that one step removed.
func (r *searcher) step(ctx context.Context, step *ledger.Step) error {
	if step.Volatile || len(step.Evicted) == 0 {
		return nil
	}
	var out []turnindex.Record
	for i := len(step.Evicted) - 1; i >= 0; i-- {
		e := &step.Evicted[i]
		if r.seen[e.FP.String()] {
			continue
		}
		if r.left -= e.Len; r.left < 0 {
			r.found.Cut = true
			break
		}
		out = append(out, turnindex.Record{File: step.At(e).File, Off: e.Off, Len: e.Len})
	}
	lines, err := r.s.ReadLines(ctx, out)
	if err != nil {
		return err
	}
	about := step.Evictions()
	for _, p := range out {
		at := ledger.Place{File: p.File, Off: p.Off}
		line, e := lines[at], about[at]
		if !e.Proves(line) {
			r.s.Book().NoteChange(e.Differs(at.File, line))
			r.found.Changed++
			continue
		}
		if err := r.line(line, *e); err != nil {
			return err
		}
	}
	return nil
}

// edits searches the originals that no step has archived.
func (r *searcher) edits(ctx context.Context) error {
	var lines [][]byte
	for line, err := range r.s.Unarchived(ctx) {
		if err != nil {
			return err
		}
		lines = append(lines, bytes.Clone(line))
	}
	for _, line := range slices.Backward(lines) {
		if r.left -= int64(len(line)); r.left < 0 {
			r.found.Cut = true
			return nil
		}
		if err := r.line(line, ledger.Eviction{}); err != nil {
			return err
		}
	}
	return nil
}

// line searches a message in a line of the archive.
func (r *searcher) line(line []byte, about ledger.Eviction) error {
	a, err := ledger.ParseLine(line)
	if err != nil || r.seen[a.FP] {
		return nil // not a message, or already searched
	}
	r.seen[a.FP] = true
	for i := range a.Message.Parts {
		if i < len(a.Refs) && a.Refs[i] != "" {
			if err := r.part(&a, i, about); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *searcher) part(a *ledger.Line, i int, about ledger.Eviction) error {
	lines := strings.Split(ledger.PartText(a.Message.Parts[i]), "\n")
	like := Match{Ref: a.Refs[i], Role: a.Message.Role, Tool: a.Message.Parts[i].Name, Turn: int(about.Turn), Number: int(about.Number)}
	next := 0 // first line that is not in Matches
	for k, text := range lines {
		at, err := r.matcher.Find(text)
		if err != nil {
			return err
		}
		if at == nil || !r.wants(text) {
			continue
		}
		for n := max(next, k-r.around); n < k; n++ {
			r.add(like, n, lines[n], nil)
		}
		if k < next { // the line is in Matches as context of the previous match
			r.found.Matches = r.found.Matches[:len(r.found.Matches)-(next-k)]
		}
		r.add(like, k, text, at)
		next = min(k+1+r.around, len(lines))
		for n := k + 1; n < next; n++ {
			r.add(like, n, lines[n], nil)
		}
	}
	return nil
}

// wants counts a matching line, and reports whether to show it.
func (r *searcher) wants(text string) bool {
	r.found.Lines++
	if r.shown[text] {
		r.found.Same++
		return false
	}
	if r.matched >= r.most {
		return false
	}
	r.shown[text] = true
	r.matched++
	return true
}

// add adds a line to Matches; at is the position of its match, nil for a
// context line.
func (r *searcher) add(like Match, line int, text string, at []int) {
	like.Line, like.Near = line+1, at == nil
	if at == nil {
		at = []int{0, 0}
	}
	like.Text = around(text, at[0], at[1])
	r.found.Matches = append(r.found.Matches, like)
}

// around returns the text of a line around a match, in at most searchLine
// bytes.
func around(text string, from, to int) string {
	if len(text) <= searchLine {
		return text
	}
	room := searchLine - 2*len("…")
	begin := max(0, min(from-max(0, room-(to-from))/2, len(text)-room))
	begin = excerpt.Prefix(text, begin)
	end := begin + excerpt.Prefix(text[begin:], room)
	out := text[begin:end]
	if begin > 0 {
		out = "…" + out
	}
	if end < len(text) {
		out += "…"
	}
	return out
}
