package tidy

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/agentcompact/compact/policy"
)

// listings reduces a long list of files to the first files of each folder, the files that
// the task names, and the numbers of the other files in each folder, by extension.
func listings(d *draft, r *Result, room int) verdict {
	from, to := d.inner()
	if r.asked.file != "" && r.asked.command == "" && !strings.Contains(strings.ToLower(r.Call.Tool), "l") || !d.isListing(from, to) {
		return pass
	}
	base := names(commonFolder(d.lines[from:to]))
	most, tooMany := depthOf(d.lines[from:to]), -1 // a limit above most gives the same folders as most
	for _, try := range []struct{ depth, each int }{{100, 20}, {100, 5}, {100, 1}, {5, 3}, {4, 2}, {3, 2}, {2, 2}, {1, 2}, {0, 2}} {
		depth := min(base+try.depth, most)
		if depth > 1 && try.depth > 0 && (depth == tooMany || exceedFolders(d.lines[from:to], depth, room/leastFolder)) {
			tooMany = depth
			continue
		}
		fit := room
		if try.depth <= 1 {
			fit = math.MaxInt // no shorter form exists
		}
		out, left, fits := d.listed(d.lines[from:to], depth, try.each, r, fit)
		if !fits {
			continue
		}
		lines := append([]line{}, d.lines[:from]...)
		lines = append(lines, out...)
		d.lines = append(lines, d.lines[to:]...)
		return done(d.shown("counts by folder", left))
	}
	return pass
}

// leastFolder is the smallest number of bytes for a folder in the output.
const leastFolder = 24

// commonFolder returns the folder that all lines lie in. A depth counts from there on.
func commonFolder(lines []line) string {
	common, some := "", false
	for i := range lines {
		text := lines[i].text
		switch {
		case text == "":
			continue
		case !some:
			common, some = folderOf(text, math.MaxInt), true
		}
		for !strings.HasPrefix(text, common) {
			common = common[:strings.LastIndexByte(common[:len(common)-1], '/')+1]
		}
	}
	return common
}

// depthOf returns the largest number of slashes in a line.
func depthOf(lines []line) (most int) {
	for i := range lines {
		most = max(most, strings.Count(lines[i].text, "/"))
	}
	return most
}

// exceedFolders reports whether lines lie in more than most folders.
func exceedFolders(lines []line, depth, most int) bool {
	seen, last, w := map[string]bool{}, "", walk{depth: depth}
	for i := range lines {
		name := w.folder(lines[i].text)
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

// listed returns for each folder its first lines (each is their number), some lines that
// hold a word, the lines that hold an error, and the number of the others. If the output
// exceeds room bytes, it stops and returns false for fits.
func (d *draft) listed(lines []line, depth, each int, r *Result, room int) (out []line, left int, fits bool) {
	const most = 6
	words := r.words()
	named := map[string]int{}
	var rest []int
	bytes, counted := -1, 0 // a line feed stands between two lines
	for _, f := range folders(lines, depth) {
		rest = rest[:0]
		for k, at := range f.lines {
			l := &lines[at]
			stays := k < each || len(f.lines) <= each+1
			if !stays {
				if w := words.in(strings.TrimPrefix(l.text, f.name)); w != "" {
					named[w]++
					stays = named[w] <= most
				}
				stays = stays || r.hasSpotIn(l.from, l.to) || holdsError(l.text)
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
		for ; counted < len(out); counted++ {
			bytes += len(out[counted].text) + 1
		}
		if bytes > room {
			return nil, 0, false
		}
	}
	return out, left, true
}

// A folder holds the indexes of the lines that lie in it.
type folder struct {
	name  string
	n     int // number of lines
	lines []int
}

// folders groups the lines of a listing by the first depth names of their
// folders, in the order of first occurrence.
func folders(lines []line, depth int) (out []*folder) {
	at := map[string]*folder{}
	of := make([]*folder, len(lines))
	w := walk{depth: depth}
	var f *folder
	for i := range lines {
		name := w.folder(lines[i].text)
		if f == nil || f.name != name { // most lines follow a line of the same folder
			if f = at[name]; f == nil {
				f = &folder{name: name}
				at[name] = f
				out = append(out, f)
			}
		}
		f.n++
		of[i] = f
	}
	all := make([]int, len(lines)) // divided among the folders
	for _, f := range out {
		f.lines, all = all[:0:f.n], all[f.n:]
	}
	for i, f := range of {
		f.lines = append(f.lines, i)
	}
	return out
}

// A walk computes the folders of consecutive lines.
type walk struct {
	depth int // number of leading names of a folder that are used
	last  string
	full  bool // last has depth names
}

// folder returns the same as folderOf for the next line. It is fast for a line in the
// folder of the previous line, or in a subfolder of it below depth.
func (w *walk) folder(text string) string {
	if w.last != "" && len(text) > len(w.last) && strings.HasPrefix(text, w.last) {
		below := text[len(w.last) : len(text)-1]
		if strings.IndexByte(below, '/') < 0 || w.full && !strings.Contains(below, "./") {
			return w.last
		}
	}
	if name := folderOf(text, w.depth); name != w.last {
		w.last, w.full = name, names(name) == w.depth
	}
	return w.last
}

// names returns the number of names in a folder.
func names(folder string) (n int) {
	for at := 0; ; at++ {
		i := strings.IndexByte(folder[at:], '/')
		if i < 0 {
			return n
		}
		if at += i; at > 0 && folder[at-1] != '.' {
			n++
		}
	}
}

// folderOf returns the folder of a line, limited to its first depth names.
func folderOf(text string, depth int) string {
	end := 0
	for at := 0; depth >= 0; at++ {
		i := strings.IndexByte(text[at:max(len(text)-1, at)], '/')
		if i < 0 {
			break
		}
		if at += i; at > 0 && text[at-1] != '.' {
			depth--
		}
		if depth >= 0 {
			end = at + 1
		}
	}
	return text[:end]
}

// count returns a line that counts the lines of rest by extension.
func (f *folder) count(text string, lines []line, rest []int) line {
	type ending struct{ of, n int }
	var all []*ending
	by := map[string]*ending{}
	var e *ending
	last := ""
	for _, i := range rest {
		ext := endingOf(lines[i].text)
		if e == nil || ext != last { // most files have the same extension as the previous file
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

// endingOf returns the extension of a name with the dot, or "" if it has none.
func endingOf(text string) string {
	const longest = 12
	if ext := path.Ext(text); len(ext) <= longest && ext != text {
		return ext
	}
	return ""
}

// isListing reports whether nearly all lines consist of a path or a name.
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
			return false // even if all other lines are paths
		}
	}
	return seen >= 20 && hits*10 >= seen*9 && slashes*2 >= seen
}
