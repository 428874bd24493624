package tidy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/agentcompact/compact/policy"
)

// listings leaves of a long list of files how many each folder has, by their
// ending, with the first of them and those that the task names.
func listings(d *draft, r *Result, room int) bool {
	from, to := d.inner()
	if r.Call.file() != "" && r.Call.command() == "" && !strings.Contains(strings.ToLower(r.Call.Tool), "l") || !d.isListing(from, to) {
		return false
	}
	words := termsOf(r.Said...)
	out := append([]line{}, d.lines[:from]...)
	left := 0
	for _, g := range folders(d.lines[from:to]) {
		n := min(room/200/2+1, len(g.lines)) // a few of each, more where there is room
		if len(g.lines) <= 4 {
			n = len(g.lines)
		}
		out = append(out, g.lines[:n]...)
		var rest []line
		for _, l := range g.lines[n:] {
			if words.in(l.text) != "" || holdsError(l.text) {
				out = append(out, l)
			} else {
				rest = append(rest, l)
			}
		}
		if len(rest) > 0 {
			out = append(out, g.count(d.text, rest))
			left += len(rest)
		}
	}
	d.lines = append(out, d.lines[to:]...)
	return d.shown("counts by folder", left)
}

// folder is the lines of a listing that are in one folder.
type folder struct {
	name  string
	lines []line
}

// folders groups the lines of a listing, in the order of the first of each.
func folders(lines []line) (out []*folder) {
	at := map[string]*folder{}
	for _, l := range lines {
		name := folderOf(l.text)
		f := at[name]
		if f == nil {
			f = &folder{name: name}
			at[name] = f
			out = append(out, f)
		}
		f.lines = append(f.lines, l)
	}
	return out
}

func folderOf(text string) string {
	if i := strings.LastIndexByte(strings.TrimRight(text, "/"), '/'); i >= 0 {
		return text[:i+1]
	}
	return ""
}

// count says how many more there are, by their endings.
func (f *folder) count(text string, rest []line) line {
	by := map[string]int{}
	for _, l := range rest {
		by[path.Ext(l.text)]++
	}
	endings := make([]string, 0, len(by))
	for e := range by {
		endings = append(endings, e)
	}
	slices.SortFunc(endings, func(a, b string) int {
		if by[a] != by[b] {
			return by[b] - by[a]
		}
		return strings.Compare(a, b)
	})
	var b strings.Builder
	for i, e := range endings {
		if i == 4 {
			b.WriteString(", …")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		if e == "" || len(e) > 12 {
			e = "others"
		}
		fmt.Fprintf(&b, "%d %s", by[endings[i]], e)
	}
	l := line{no: rest[0].no}
	first := rest[0]
	name := []policy.Segment{}
	if f.name != "" && first.segs == nil {
		name = append(name, policy.Segment{From: first.from, To: first.from + len(f.name)})
	}
	return l.rewritten(text, append(name, policy.Segment{Lit: fmt.Sprintf("⋮ %d more (%s)", len(rest), b.String())})...)
}

// isListing reports whether nearly all lines are a path or a name and nothing
// else.
func (d *draft) isListing(from, to int) bool {
	hits, seen := 0, 0
	slashes := 0
	for i := from; i < to; i++ {
		text := d.lines[i].text
		if text == "" {
			continue
		}
		seen++
		if isPath(text) {
			hits++
		}
		if strings.IndexByte(text, '/') >= 0 {
			slashes++
		}
	}
	return seen >= 20 && hits*10 >= seen*9 && slashes*2 >= seen
}
