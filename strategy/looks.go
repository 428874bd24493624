package strategy

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// maxLooks is the maximum number of looks in one entry. A larger entry would have no room
// for names.
const maxLooks = 24

// looks collects the files, searches and commands of calls that only look.
type looks struct {
	read, sought, other []string
	vain                []string // searches that found nothing
}

func (l *looks) n() int { return len(l.read) + len(l.sought) + len(l.other) + len(l.vain) }

func (l *looks) add(o *looks) {
	l.read = prose.AppendNew(l.read, o.read...)
	l.sought = prose.AppendNew(l.sought, o.sought...)
	l.other = prose.AppendNew(l.other, o.other...)
	l.vain = prose.AppendNew(l.vain, o.vain...)
}

// looks returns the files, searches and commands of the call.
func (c *Call) looks() *looks {
	l := &looks{}
	sought := prose.CutText(prose.Squash(c.arg("pattern", "query", "q", "search", "regex")), 60)
	if sought != "" && foundNothing(c.Result) {
		return &looks{vain: []string{sought}}
	}
	for _, f := range c.files {
		if sought == "" || strings.Contains(path.Base(f.Path), ".") { // a search reads files of a folder, not the folder
			l.read = prose.AppendNew(l.read, f.Path)
		}
	}
	l.sought = prose.AppendNew(l.sought, sought)
	l.read = prose.AppendNew(l.read, c.arg("url"))
	if l.n() > 0 {
		return l
	}
	if cmd := c.Command(); cmd != "" {
		l.other = append(l.other, shortCommand(shortPaths(cmd, c.base)))
	} else if t := c.Target(); t != "" {
		l.other = append(l.other, c.Tool+" "+prose.CutText(prose.Squash(t), 60))
	}
	return l
}

// searches lists beginnings of commands that exit with status 1 if they find
// nothing.
var searches = []string{"grep ", "rg ", "egrep ", "git grep ", "fgrep ", "ag "}

// searchedInVain reports whether a command is a search that found nothing, or reads files
// and shows nothing. Such a search does not count as a failure, although its exit status is 1.
func (c *Call) searchedInVain() bool {
	if c.deed() == deedLook && c.readsInVain() {
		return true
	}
	if c.Exit != 1 || !prose.BeginsAny(shortCommand(c.Command()), searches) && !endsInSearch(c.Command()) {
		return false
	}
	for line := range strings.Lines(c.Result[:min(len(c.Result), edge)]) {
		if line = strings.TrimSpace(line); !framed(line) && strings.TrimSpace(plainText(line)) != "" {
			return false
		}
	}
	return true
}

// emptyResults lists beginnings of results of searches that found nothing.
var emptyResults = []string{"no matches found", "no files found", "no results", "no match", "found 0 ", "0 results", "0 matches", "no search results", "nothing found", "no documents found"}

// foundNothing reports whether a result states that nothing was found.
func foundNothing(result string) bool {
	head := strings.ToLower(strings.TrimSpace(result[:min(len(result), edge)]))
	return prose.BeginsAny(head, emptyResults) || head == "[]" || head == "{}" || strings.HasPrefix(head, `{"results":[]`) || strings.HasPrefix(head, `{"results": []`)
}

// namedLooks is the maximum number of read files that an entry names.
const namedLooks = 3

// tell describes the looks. It names the most important files.
func (l *looks) tell(x *nameIndex) string {
	var out []string
	if n := len(l.read); n > 0 {
		best := x.best(l.read, namedLooks)
		text := "read " + joinAnd(best, "`")
		if n > len(best) {
			text += fmt.Sprintf(" and %d more", n-len(best))
			if d := commonFolder(l.read); d != "" {
				text += " under " + d
			}
		}
		out = append(out, text)
	}
	if n := len(l.sought); n > 0 {
		text := "searched for " + joinAnd(l.sought[:min(n, 2)], "`")
		if n > 2 {
			text += fmt.Sprintf(" and %d other things", n-2)
		}
		out = append(out, text)
	}
	if n := len(l.vain); n > 0 {
		text := "found nothing for " + joinAnd(l.vain[:min(n, 4)], "`")
		if n > 4 {
			text += fmt.Sprintf(" and %d other searches", n-4)
		}
		out = append(out, text)
	}
	if n := len(l.other); n > 0 {
		text := "looked with " + joinAnd(l.other[:min(n, 2)], "`")
		if n > 2 {
			text += fmt.Sprintf(" and %d more commands", n-2)
		}
		out = append(out, text)
	}
	return strings.Join(out, "; then ")
}

// best returns the n highest scored names, in their original order.
func (x *nameIndex) best(names []string, n int) []string {
	if len(names) <= n {
		return names
	}
	byScore := slices.Clone(names)
	score := func(s string) float64 {
		if e := x.Lookup(s); e != nil {
			return e.Score
		}
		return 0
	}
	slices.SortStableFunc(byScore, func(a, b string) int { return cmp.Compare(score(b), score(a)) })
	return slices.DeleteFunc(slices.Clone(names), func(s string) bool { return !slices.Contains(byScore[:n], s) })
}

// joinAnd joins names into a phrase.
func joinAnd(names []string, quote string) string {
	var b strings.Builder
	for i, s := range names {
		switch {
		case i == 0:
		case i == len(names)-1:
			b.WriteString(" and ")
		default:
			b.WriteString(", then ")
		}
		b.WriteString(quote + strings.ReplaceAll(s, "`", "'") + quote)
	}
	return b.String()
}

// pairs joins names into a shorter phrase, in pairs: "a and b, c and d".
func pairs(names []string) string {
	var b strings.Builder
	for i, s := range names {
		switch {
		case i == 0:
		case i%2 == 1:
			b.WriteString(" and ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(s)
	}
	return b.String()
}

// commonFolder returns the folder that contains all paths, "" if this is the root or if
// there is no such folder.
func commonFolder(paths []string) string {
	common := folderOf(paths[0])
	for _, p := range paths[1:] {
		for common != "" && !strings.HasPrefix(strings.ReplaceAll(p, `\`, "/"), common+"/") {
			common = folderOf(common)
			if common == "/" {
				return ""
			}
		}
	}
	if common == "" {
		return ""
	}
	return common + "/"
}
