package compact

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/turnindex"
	"github.com/agentcompact/compact/trace"
)

// A Match is a matching line in text that was removed from a session's view.
type Match struct {
	Number int          `json:"number,omitempty"` // of the message as cited in summaries: 12 for [s12]; 0 = in no summary
	Ref    string       `json:"ref"`              // of the part with the line, for [CompactManager.Recall]
	Role   message.Role `json:"role"`             // of its message
	Tool   string       `json:"tool,omitempty"`   // that the part calls or answers, if the wire names it
	Turn   int          `json:"turn,omitempty"`   // of the message; 0 = not known
	Line   int          `json:"line"`             // of the part's text, from 1
	Text   string       `json:"text"`             // the line, redacted, at most 400 bytes of it around the match
	Near   bool         `json:"near,omitempty"`   // a context line that does not match itself, see [Around]
}

// Found is the result of a search.
type Found struct {
	Matches []Match `json:"matches"`           // messages before tool results, each newest first, with lines in order; repeated lines are left out
	Lines   int     `json:"matching_lines"`    // number of all matching lines; more than Matches if those are bounded
	Same    int     `json:"same,omitempty"`    // matching lines that were left out as repetitions of a line in Matches
	Cut     bool    `json:"cut,omitempty"`     // the oldest text was not searched: it exceeds the size bound, or the pattern takes too long
	Changed int     `json:"changed,omitempty"` // messages that were not searched, as their archive file was changed
}

// Bounds of a search.
const (
	searchBytes = 64 << 20 // maximum size of the searched lines, newest first
	searchLine  = 400      // maximum length of a shown line in bytes
	searchMost  = 200      // default number of matches
)

// A SearchOption configures a search.
type SearchOption func(*searcher)

// Around adds up to n lines of context before and after each match, at most 50.
// They do not count as matches.
func Around(n int) SearchOption {
	return func(r *searcher) { r.around = min(max(n, 0), recallAround) }
}

// Search returns the lines that match a pattern in the text that compactions removed
// from a session's view, redacted, from the archive and never from memory. most is
// the maximum number of matches; 0 is 200. A search covers the newest 64 MiB of a
// session and takes at most ten seconds.
//
// A session without a name cannot be searched, as it may hold the conversations
// of others. Errors are [ErrNotFound], [ErrSession], an *[ArchiveError] and the
// context's, which is checked every few KB.
func (m *CompactManager) Search(ctx context.Context, sessionID string, pattern *regexp.Regexp, most int, opts ...SearchOption) (found Found, err error) {
	defer m.rescue("Search", &err)
	switch {
	case sessionID == "":
		return Found{}, ErrSession
	case isUnnamed(sessionID):
		return Found{}, fmt.Errorf("%w: the session has no name", ErrNotFound)
	}
	s, err := m.session(ctx, sessionID)
	if err != nil {
		return Found{}, err
	}
	defer m.release(s)
	if err := m.recordRead(ctx, s, "search", pattern.String()); err != nil {
		return Found{}, err
	}
	began := m.now()
	found, err = s.search(ctx, pattern, most, opts)
	chars := 0
	for i := range found.Matches {
		chars += utf8.RuneCountInString(found.Matches[i].Text)
	}
	m.sayRecall(ctx, s, trace.Recalled{Pattern: pattern.String(), Found: found.Lines > 0, Matches: found.Lines, Chars: chars}, began, err)
	return found, err
}

// Search is [CompactManager.Search] for those who have an archive and no
// manager. It only reads. sessionID is the id that the archive lists.
func Search(ctx context.Context, archive storage.Archive, sessionID string, pattern *regexp.Regexp, most int, opts ...SearchOption) (found Found, err error) {
	defer rescue(nil, nil, "Search", &err)
	if sessionID == "" {
		return Found{}, ErrSession
	}
	s, err := openSession(ctx, archive, sessionID, nil)
	if err != nil {
		return Found{}, &ArchiveError{Op: "read", Session: sessionID, Err: err}
	}
	return s.search(ctx, pattern, most, opts)
}

func (s *session) search(ctx context.Context, pattern *regexp.Regexp, most int, opts []SearchOption) (Found, error) {
	ctx, cancel := withMatchTime(ctx)
	defer cancel()
	r := &searcher{s: s, matcher: newMatcher(ctx, pattern), most: cmp.Or(most, searchMost), left: searchBytes, seen: map[string]bool{}, shown: map[string]bool{}}
	for _, o := range opts {
		o(r)
	}
	err := s.reload(ctx)
	if err == nil {
		err = r.edits(ctx)
	}
	steps := s.snapshot()
	for k := len(steps) - 1; k >= 0 && err == nil; k-- {
		err = r.step(ctx, &steps[k])
	}
	switch {
	case errors.Is(context.Cause(ctx), errLongMatch):
		r.found.Cut = true
	case err != nil:
		return Found{}, &ArchiveError{Op: "read", Session: s.id, Err: err}
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

// SearchPattern compiles a pattern for [Search]. A pattern without capital
// letters ignores case.
func SearchPattern(pattern string) (*regexp.Regexp, error) {
	if strings.ToLower(pattern) == pattern {
		pattern = "(?i)" + pattern
	}
	return regexp.Compile(pattern)
}

// searcher searches the removed messages, newest first.
type searcher struct {
	s       *session
	matcher matcher
	most    int
	around  int             // lines of context on each side of a match
	matched int             // matching lines in found.Matches
	left    int64           // bytes left of the limit
	seen    map[string]bool // messages, because one that was masked and then summarized was removed twice
	shown   map[string]bool // lines that were shown
	found   Found
}

// step searches the messages that one step removed.
func (r *searcher) step(ctx context.Context, step *ledgerStep) error {
	if step.Volatile || len(step.Evicted) == 0 {
		return nil
	}
	var out pieces
	for i := len(step.Evicted) - 1; i >= 0; i-- {
		e := &step.Evicted[i]
		if r.seen[e.FP.String()] {
			continue
		}
		if r.left -= e.Len; r.left < 0 {
			r.found.Cut = true
			break
		}
		out = append(out, turnindex.Record{File: step.at(e).file, Off: e.Off, Len: e.Len})
	}
	lines, err := r.s.readLines(ctx, out)
	if err != nil {
		return err
	}
	about := step.evictions()
	for _, p := range out {
		at := lineAt{p.File, p.Off}
		line, e := lines[at], about[at]
		if !e.proves(line) {
			r.s.noteChange(e.differs(at.file, line))
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
	from, found := r.s.firstPending()
	if !found {
		return nil
	}
	var lines [][]byte
	for l, err := range r.s.log.EditsLines(ctx, from) {
		if err != nil {
			return err
		}
		if !l.Changed && !bytes.HasPrefix(l.Body, []byte(editPrefix)) {
			lines = append(lines, bytes.Clone(l.Body))
		}
	}
	for _, line := range slices.Backward(lines) {
		if r.left -= int64(len(line)); r.left < 0 {
			r.found.Cut = true
			return nil
		}
		if err := r.line(line, eviction{}); err != nil {
			return err
		}
	}
	return nil
}

// line searches a message in a line of the archive.
func (r *searcher) line(line []byte, about eviction) error {
	a, err := readLine(line)
	if err != nil || r.seen[a.fp] {
		return nil // not a message, or searched already
	}
	r.seen[a.fp] = true
	for i := range a.msg.Parts {
		if i < len(a.refs) && a.refs[i] != "" {
			if err := r.part(&a, i, about); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *searcher) part(a *archived, i int, about eviction) error {
	lines := strings.Split(partText(a.msg.Parts[i]), "\n")
	like := Match{Ref: a.refs[i], Role: a.msg.Role, Tool: a.msg.Parts[i].Name, Turn: int(about.Turn), Number: int(about.Number)}
	next := 0 // first line that is not in Matches
	for k, text := range lines {
		at, err := r.matcher.find(text)
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
	begin = prefix(text, begin)
	end := begin + prefix(text[begin:], room)
	out := text[begin:end]
	if begin > 0 {
		out = "…" + out
	}
	if end < len(text) {
		out += "…"
	}
	return out
}
