package strategy

import (
	"strconv"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// fileValue is the value of a line about a changed file. It ranks such lines above
// statements.
const fileValue = 4.5

// alone is the maximum number of changed files with a line of their own. Other
// files share the line of their folder.
const alone = 8

// newerFolders is the number of folder lines after which the value of a folder line is
// halved. The value does not fall below the value of a failure. Without this rule, a
// summary of changes in thirty folders would contain nothing else.
const newerFolders = 8

// temporaryValue is the value of a line about temporary files.
const temporaryValue = 1.6

// temporaryFolders lists beginnings of the paths of temporary files. Paths of temporary
// files on Windows contain userTemporary.
var temporaryFolders = []string{"/tmp/", "/var/tmp/", "/private/tmp/", "/private/var/folders/", "/var/folders/"}

const userTemporary = "/appdata/local/temp/"

// temporary reports whether a file is in a folder for temporary files.
func temporary(path string) bool {
	low := strings.ToLower(strings.ReplaceAll(path, `\`, "/"))
	return prose.BeginsAny(low, temporaryFolders) || strings.Contains(low, userTemporary)
}

// fileLines returns lines about the changed files and their changes. If there are many,
// files of the same folder share a line.
func (h *History) fileLines(section int) []Line {
	var out []Line
	var rest []fileState
	why := h.reasons()
	n, said := 0, ""
	for _, f := range h.fileStates() {
		if f.Op < fileops.Edited {
			continue
		}
		scratch := temporary(f.Path)
		if !scratch {
			n++
		}
		if scratch || n > alone {
			rest = append(rest, f)
			continue
		}
		text := "`" + f.Path + "`: " + f.deeds()
		if w := why[h.key(f.Path)].suffix(f.Last); w != "" && w != said { // do not repeat the last reason
			text, said = text+w, w
		}
		value := fileValue
		if f.Undone {
			value = tookBackValue
		}
		out = append(out, Line{Section: section, Text: text + cite(f.Last), Value: value * h.recency(f.Last), Order: f.Last, Names: f.named})
	}
	return append(out, h.folderLines(rest, section)...)
}

func cite(step int) string {
	if step == 0 {
		return ""
	}
	return " " + stepID(step)
}

// filesPerLine is the maximum number of files of a folder on one line.
const filesPerLine = 8

// folderLines groups files by folder. A line names its folder once.
func (h *History) folderLines(files []fileState, section int) []Line {
	byFolder := map[string][]fileState{}
	var order []string
	for _, f := range files {
		d := f.folder()
		if byFolder[d] == nil {
			order = append(order, d)
		}
		byFolder[d] = append(byFolder[d], f)
	}
	var out []Line
	for _, d := range order {
		all := byFolder[d]
		for len(all) > 0 {
			n := min(filesPerLine, len(all))
			value := max((fileValue-0.4)*h.recency(all[0].Last)/(1+float64(len(out))/newerFolders), failedValue)
			if temporary(all[0].Path) {
				value = temporaryValue
			}
			out = append(out, Line{Section: section, Text: folderLine(d, all[:n]), Value: value, Order: all[0].Last, Names: pathsOf(all[:n])})
			all = all[n:]
		}
	}
	return out
}

// folder returns the folder under which a line about several files lists a file. If a
// command names a temporary file by a relative path, that is the folder of the command.
func (s *fileState) folder() string {
	for _, named := range s.named {
		if dir, ok := strings.CutSuffix(s.Path, "/"+named); ok && temporary(s.Path) {
			return dir
		}
	}
	return folderOf(s.Path)
}

// nameIn returns the name of a file in a line about a folder.
func nameIn(folder, p string) string {
	if name, ok := strings.CutPrefix(p, folder+"/"); ok {
		return name
	}
	return fileName(p)
}

func pathsOf(files []fileState) []string {
	var out []string
	for i := range files {
		out = append(append(out, files[i].Path), files[i].named...)
	}
	return out
}

func folderLine(d string, files []fileState) string {
	var b strings.Builder
	if d == "" {
		b.WriteString("In the working folder: ")
	} else {
		b.WriteString("In `" + d + "/`: ")
	}
	for i, f := range files {
		switch {
		case i == 0 || f.Op != files[i-1].Op || f.From != "" || files[i-1].From != "":
			if i > 0 {
				b.WriteString("; ")
			}
			b.WriteString(f.Op.String() + " ")
		case i%2 == 1 && f.Changes < 2 && files[i-1].Changes < 2 && !f.Undone && !files[i-1].Undone: // a pair states no number of changes
			b.WriteString(sameOp)
		default:
			b.WriteString("; " + f.Op.String() + " ")
		}
		b.WriteString(nameIn(d, f.Path))
		b.WriteString(f.renamed() + f.often() + f.undone())
	}
	return b.String() + citeAll(files)
}

// citeAll cites the range of steps in which files were changed.
func citeAll(files []fileState) string {
	first, last := files[0].Last, files[0].Last
	for _, f := range files {
		first, last = min(first, f.Last), max(last, f.Last)
	}
	if first == 0 || first == last { // 0: the step of one file is not known
		return cite(last)
	}
	return " " + span(first, last)
}

// sameOp joins two files with the same operation.
const sameOp = " and "

// fileName returns the part of a path after its last slash.
func fileName(p string) string { return p[strings.LastIndexAny(p, `/\`)+1:] }

// deeds describes the changes of a file: "edited 3 times (in f and g)", "created, then
// edited twice".
func (s *fileState) deeds() string {
	text := s.Op.String() + s.renamed()
	if s.Op == fileops.Deleted {
		return text + s.often() + s.undone()
	}
	return text + s.often() + in(s.Funcs) + s.undone()
}

// renamed describes the previous name of a renamed file. It returns "" for other files.
func (s *fileState) renamed() string {
	switch {
	case s.From == "":
		return ""
	case s.Op == fileops.Renamed:
		return " from `" + s.From + "`"
	}
	return ", renamed from `" + s.From + "`"
}

// Introductions of the number of changes, for a file that was not only edited.
const (
	thenEdited = ", then edited "
	alsoEdited = ", edited " // before or after it was renamed
	hadChanged = " after it had been changed "
)

// often describes the number of changes of a file. It returns "" for one change.
func (s *fileState) often() string {
	switch {
	case s.Changes < 2:
		return ""
	case s.From != "":
		return alsoEdited + times(s.Changes-1)
	case s.Op == fileops.Edited:
		return " " + times(s.Changes)
	case s.Op == fileops.Deleted:
		return hadChanged + times(s.Changes-1)
	}
	return thenEdited + times(s.Changes-1)
}

// files reads the states of files back from the lines of a summary.
func (d *Document) files() []fileState {
	var out []fileState
	d.all(func(lines []string) []string {
		for _, l := range lines {
			if dir, rest, ok := folderOfLine(l); ok {
				out = append(out, filesInFolder(dir, rest)...)
			} else if f, ok := fileOfLine(l); ok {
				out = append(out, f)
			}
		}
		return lines
	})
	return out
}

// fileOfLine reads "`path`: edited twice (in f) — said before: “why” [s12]", and
// "[edited] path: …" of code_delta.
func fileOfLine(l string) (fileState, bool) {
	if rest, ok := strings.CutPrefix(l, "`"); ok {
		p, deeds, ok := strings.Cut(rest, "`: ")
		op, known := opOf(deeds)
		return fileState{Path: p, From: fromIn(deeds), Op: op, Changes: changesIn(deeds), Undone: undoneIn(deeds), Last: lastStep(l)}, ok && known && fileops.IsPath(p)
	}
	for op := fileops.Edited; op <= fileops.TookBack; op++ {
		if rest, ok := strings.CutPrefix(l, "["+op.String()+"] "); ok {
			p, _, _ := strings.Cut(rest, ": ")
			p, _, _ = strings.Cut(p, " [s")
			p, _, _ = strings.Cut(p, ", before it `")
			if op == fileops.TookBack {
				return fileState{Path: p, Op: fileops.Edited, Undone: true, Last: lastStep(l)}, fileops.IsPath(p)
			}
			return fileState{Path: p, Op: op, Changes: 1, Last: lastStep(l)}, fileops.IsPath(p)
		}
	}
	return fileState{}, false
}

func folderOfLine(l string) (dir, rest string, ok bool) {
	if rest, ok = strings.CutPrefix(l, "In the working folder: "); ok {
		return "", rest, true
	}
	if rest, ok = strings.CutPrefix(l, "In `"); ok {
		dir, rest, ok = strings.Cut(rest, "`: ")
	}
	return dir, rest, ok
}

func filesInFolder(dir, rest string) []fileState {
	step := lastStep(rest)
	if i := strings.LastIndex(rest, " [s"); i >= 0 {
		rest = rest[:i]
	}
	var out []fileState
	for _, piece := range strings.Split(rest, "; ") {
		op, ok := opOf(piece)
		if !ok {
			continue
		}
		_, piece, _ = strings.Cut(piece, " ")
		for _, one := range strings.Split(piece, sameOp) {
			if words := strings.Fields(one); len(words) > 0 {
				out = append(out, fileState{Path: dir + strings.TrimSuffix(words[0], ","), From: fromIn(one), Op: op, Changes: changesIn(one), Undone: undoneIn(one), Last: step})
			}
		}
	}
	return out
}

// opOf reads the operation that a text begins with.
func opOf(text string) (fileops.Kind, bool) {
	for op := fileops.Edited; op <= fileops.Deleted; op++ {
		if prose.BeginsWord(text, op.String()) {
			return op, true
		}
	}
	return 0, false
}

// fromIn reads the old name of a file: renamed from `a.go`.
func fromIn(text string) string {
	_, rest, ok := strings.Cut(text, " from `")
	from, _, closed := strings.Cut(rest, "`")
	if !ok || !closed || strings.Contains(text[:len(text)-len(rest)], " — ") {
		return ""
	}
	return from
}

// changesIn reads the number of changes of a file from texts such as "edited twice",
// "edited 3 times" and "created, then edited once".
func changesIn(text string) int {
	head, _, _ := strings.Cut(text, " — ")
	first := 0
	if prose.HasAny(head, []string{thenEdited, alsoEdited, hadChanged}) {
		first = 1
	}
	words := strings.Fields(head)
	for i, w := range words {
		switch {
		case w == "once" && first > 0:
			return 2
		case w == "twice":
			return first + 2
		case w == "times" && i > 0:
			if n, err := strconv.Atoi(words[i-1]); err == nil {
				return first + n
			}
		}
	}
	return 1
}
