package replay

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// folds assigns each session to a fold.
type folds struct {
	count int
	fold  []int // of each session
}

// of returns the sessions of fold n among all, which holds indexes.
func (f folds) of(n int, all []int) []int {
	return f.where(all, func(fold int) bool { return fold == n })
}

func (f folds) without(n int, all []int) []int {
	return f.where(all, func(fold int) bool { return fold != n })
}

func (f folds) where(all []int, is func(int) bool) (out []int) {
	for _, i := range all {
		if is(f.fold[i]) {
			out = append(out, i)
		}
	}
	return out
}

// foldsOf distributes projects to folds, the largest first, each to the fold
// with the fewest sessions.
func foldsOf(sessions []*Session, most int) (projects int, f folds) {
	names, sizes := projectsOf(sessions)
	f.count = min(most, len(names))
	held, to := make([]int, f.count), map[string]int{}
	for _, name := range names {
		least := slices.Index(held, slices.Min(held))
		to[name], held[least] = least, held[least]+sizes[name]
	}
	for _, s := range sessions {
		f.fold = append(f.fold, to[Project(s.Name)])
	}
	return len(names), f
}

// projectsOf returns the names of the projects, the largest first, and their
// numbers of sessions.
func projectsOf(sessions []*Session) (names []string, sizes map[string]int) {
	sizes = map[string]int{}
	for _, s := range sessions {
		if sizes[Project(s.Name)]++; sizes[Project(s.Name)] == 1 {
			names = append(names, Project(s.Name))
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b)) })
	return names, sizes
}

// inTurn returns the indexes of the sessions, one of each project in turn, so
// that any first part covers as many projects as possible.
func inTurn(sessions []*Session) []int {
	names, _ := projectsOf(sessions)
	turn, number := make([]int, len(sessions)), map[string]int{}
	all := identity(len(sessions))
	for i, s := range sessions {
		p := Project(s.Name)
		turn[i] = number[p]*len(names) + slices.Index(names, p)
		number[p]++
	}
	slices.SortFunc(all, func(a, b int) int { return cmp.Compare(turn[a], turn[b]) })
	return all
}

// Project returns the project of a session, by its name: the file's name up to the last
// dash ("agent-shop-7f3a.jsonl" belongs to "agent-shop"), or the folder if there is no
// dash.
func Project(name string) string {
	name = strings.ReplaceAll(name, "\\", "/")
	base, _, _ := strings.Cut(path.Base(name), ".")
	if at := strings.LastIndexByte(base, '-'); at > 0 {
		return base[:at]
	}
	return path.Dir(name)
}
