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
func listings(d *draft, r *Result, room int) verdict {
	from, to := d.inner()
	if r.asked.file != "" && r.asked.command == "" && !strings.Contains(strings.ToLower(r.Call.Tool), "l") || !d.isListing(from, to) {
		return pass
	}
	words := r.words()
	for _, try := range []struct{ depth, each int }{{100, 20}, {100, 5}, {100, 1}, {5, 3}, {4, 2}, {3, 2}, {2, 2}, {1, 2}} {
		if try.depth > 1 && moreFolders(d.lines[from:to], try.depth, room/leastFolder) {
			continue
		}
		out, left := d.listed(d.lines[from:to], try.depth, try.each, words)
		if size(out) > room && try.depth > 1 {
			continue
		}
		lines := append([]line{}, d.lines[:from]...)
		lines = append(lines, out...)
		d.lines = append(lines, d.lines[to:]...)
		return done(d.shown("counts by folder", left))
	}
	return pass
}

// leastFolder is how many bytes a folder takes at least, in what is left.
const leastFolder = 24

// moreFolders reports whether lines are of more folders than there is room for.
func moreFolders(lines []line, depth, most int) bool {
	seen, last := map[string]bool{}, ""
	for i := range lines {
		name := folderBelow(lines[i].text, depth, last)
		if i > 0 && name == last {
			continue
		}
		last = name
		if seen[name] = true; len(seen) > most {
			return true
		}
	}
	return false
}

// listed returns the first lines of each folder, those that hold a word, and how
// many more there are.
func (d *draft) listed(lines []line, depth, each int, words terms) (out []line, left int) {
	const most = 6
	named := map[string]int{}
	var rest []int
	for _, f := range folders(lines, depth) {
		rest = rest[:0]
		for k, at := range f.lines {
			l := &lines[at]
			stays := k < each || len(f.lines) <= each+1
			if !stays {
				w := words.in(strings.TrimPrefix(l.text, f.name))
				named[w]++
				stays = w != "" && named[w] <= most || holdsError(l.text)
			}
			if stays {
				out = append(out, *l)
			} else {
				rest = append(rest, at)
			}
		}
		if len(rest) > 0 {
			out = append(out, f.count(d.text, lines, rest))
			left += len(rest)
		}
	}
	return out, left
}

// folder is which lines of a listing are in one folder.
type folder struct {
	name  string
	lines []int
}

// folders groups the lines of a listing by their folders, of which so many
// names count, in the order of the first of each.
func folders(lines []line, depth int) (out []*folder) {
	at := map[string]*folder{}
	var f *folder
	last := ""
	for i := range lines {
		name := folderBelow(lines[i].text, depth, last)
		last = name
		if f == nil || f.name != name { // most lines stand below one of the same folder
			if f = at[name]; f == nil {
				f = &folder{name: name}
				at[name] = f
				out = append(out, f)
			}
		}
		f.lines = append(f.lines, i)
	}
	return out
}

// folderBelow is folderOf of a line below one that is in the folder last: most are
// in the same.
func folderBelow(text string, depth int, last string) string {
	if last != "" && strings.HasPrefix(text, last) && len(text) > len(last) && strings.IndexByte(text[len(last):len(text)-1], '/') < 0 {
		return last
	}
	return folderOf(text, depth)
}

// folderOf returns the folder that a line of a listing is in, of which so many names
// count.
func folderOf(text string, depth int) string {
	end := 0
	for i := 0; i+1 < len(text) && depth >= 0; i++ {
		if text[i] != '/' {
			continue
		}
		if i > 0 && text[i-1] != '.' {
			depth--
		}
		if depth >= 0 {
			end = i + 1
		}
	}
	return text[:end]
}

// count says how many more there are, by their endings.
func (f *folder) count(text string, lines []line, rest []int) line {
	type ending struct{ of, n int }
	var all []*ending
	by := map[string]*ending{}
	var e *ending
	last := ""
	for _, i := range rest {
		ext := endingOf(lines[i].text)
		if e == nil || ext != last { // most have that of the one before
			last = ext
			if e = by[ext]; e == nil {
				e = &ending{of: i}
				by[ext] = e
				all = append(all, e)
			}
		}
		e.n++
	}
	slices.SortStableFunc(all, func(a, b *ending) int { return b.n - a.n })
	segs := append(lines[rest[0]].piece(0, len(f.name)), policy.Segment{Lit: fmt.Sprintf("⋮ %d more:", len(rest))})
	const most = 4
	for _, e := range all[:min(len(all), most)] {
		l := &lines[e.of]
		segs = append(segs, policy.Segment{Lit: fmt.Sprintf(" %d ", e.n)})
		if ext := endingOf(l.text); ext != "" {
			segs = append(segs, l.piece(len(l.text)-len(ext), len(l.text))...)
		} else {
			segs = append(segs, policy.Segment{Lit: "without ending"})
		}
	}
	if len(all) > most {
		segs = append(segs, policy.Segment{Lit: " …"})
	}
	return line{no: lines[rest[0]].no}.rewritten(text, segs...)
}

// endingOf returns the ending of a name, the dot included; "" where it has none.
func endingOf(text string) string {
	const longest = 12
	if ext := path.Ext(text); len(ext) <= longest && ext != text {
		return ext
	}
	return ""
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
		if hits*10+to-i < seen*9 {
			return false // not even if all others are
		}
	}
	return seen >= 20 && hits*10 >= seen*9 && slashes*2 >= seen
}
