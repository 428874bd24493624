package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// plan is the document that declares the order of the files of compact, in the section
// with the heading.
const (
	plan    = "docs/ARCHITECTURE.md"
	heading = "## The files of compact\n"
)

// An arrow says that a file uses names that another one declares. Fields and methods
// are names, too.
type arrow struct{ from, to string }

// arrows are the arrows of a package, with the names.
type arrows map[arrow]map[string]bool

// up returns the arrows that run up: from a file to one that stands above it.
func (all arrows) up(order []string) (up []arrow) {
	at := map[string]int{}
	for i, f := range order {
		at[f] = i
	}
	for a := range all {
		if at[a.from] < at[a.to] {
			up = append(up, a)
		}
	}
	slices.SortFunc(up, func(a, b arrow) int { return cmp.Or(at[a.from]-at[b.from], at[a.to]-at[b.to]) })
	return up
}

// list writes arrows, one line each.
func (all arrows) list(w io.Writer, some []arrow) {
	for _, a := range some {
		var names []string
		for name := range all[a] {
			names = append(names, name)
		}
		slices.Sort(names)
		fmt.Fprintf(w, "%s uses %s above it: %s\n", a.from, a.to, strings.Join(names, " "))
	}
}

// A layout is the declared order of files, from the bottom to the top.
type layout struct {
	files []string
	most  int // number of arrows that may run up
}

var (
	listed = regexp.MustCompile("`([a-z0-9_]+\\.go)`")
	mostUp = regexp.MustCompile(`(?i)\bat most (\d+) arrows? runs? up`)
)

// readLayout reads the numbered lines of the section about the files.
func readLayout(text string) (l layout, err error) {
	_, section, ok := strings.Cut(text, "\n"+heading)
	if !ok {
		return l, fmt.Errorf("%s: there is no section %q", plan, strings.TrimSpace(heading))
	}
	section, _, _ = strings.Cut(section, "\n## ")
	n := mostUp.FindStringSubmatch(strings.Join(strings.Fields(section), " "))
	if n == nil {
		return l, fmt.Errorf("%s: the section %q does not say how many arrows run up at most", plan, strings.TrimSpace(heading))
	}
	l.most, _ = strconv.Atoi(n[1])
	item := false
	for line := range strings.Lines(section) {
		number, _, ok := strings.Cut(line, ". ")
		_, err := strconv.Atoi(number)
		if item = ok && err == nil || item && strings.HasPrefix(line, " "); !item {
			continue
		}
		for _, m := range listed.FindAllStringSubmatch(line, -1) {
			if slices.Contains(l.files, m[1]) {
				return l, fmt.Errorf("%s: %s is listed twice", plan, m[1])
			}
			l.files = append(l.files, m[1])
		}
	}
	return l, nil
}

// check compares the layout with the package.
func (l layout) check(files []string, all arrows) error {
	var wrong []error
	for _, f := range files {
		if !slices.Contains(l.files, f) {
			wrong = append(wrong, fmt.Errorf("%s: compact/%s is in no layer", plan, f))
		}
	}
	for _, f := range l.files {
		if !slices.Contains(files, f) {
			wrong = append(wrong, fmt.Errorf("%s: there is no file compact/%s with a declaration", plan, f))
		}
	}
	if up := all.up(l.files); len(wrong) == 0 && len(up) > l.most {
		var b strings.Builder
		all.list(&b, up)
		wrong = append(wrong, fmt.Errorf("compact: %d arrows run up, and %s allows %d: move a declaration, or the file to another layer\n%s", len(up), plan, l.most, b.String()))
	}
	return errors.Join(wrong...)
}

// compact reads the declared order, and the arrows of the package.
func compact() (l layout, files []string, all arrows, err error) {
	text, err := os.ReadFile(plan)
	if err != nil {
		return l, nil, nil, err
	}
	if l, err = readLayout(string(text)); err != nil {
		return l, nil, nil, err
	}
	set := token.NewFileSet()
	parsed, err := parse(set, "compact")
	if err != nil {
		return l, nil, nil, err
	}
	imports, err := compiled(set, "./compact")
	if err != nil {
		return l, nil, nil, err
	}
	for _, f := range parsed {
		files = append(files, filepath.Base(set.Position(f.Pos()).Filename))
	}
	all, err = arrowsOf(set, parsed, imports)
	return l, files, all, err
}

// parse returns the files of a folder that declare something, without tests.
func parse(set *token.FileSet, dir string) (files []*ast.File, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if len(f.Decls) > 0 {
			files = append(files, f)
		}
	}
	return files, nil
}

// compiled returns an importer for the imports of a package. It reads the build cache.
func compiled(set *token.FileSet, pkg string) (types.Importer, error) {
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", pkg).Output()
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for line := range bytes.Lines(out) {
		if path, file, ok := strings.Cut(strings.TrimSpace(string(line)), " "); ok {
			exports[path] = file
		}
	}
	return importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }), nil
}

// arrowsOf resolves all names of a package, because a comparison of words would confuse
// methods with the same name.
func arrowsOf(set *token.FileSet, files []*ast.File, imports types.Importer) (arrows, error) {
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, err := (&types.Config{Importer: imports}).Check("compact", set, files, &info)
	if err != nil {
		return nil, err
	}
	all := arrows{}
	for id, o := range info.Uses {
		if o.Pkg() != pkg {
			continue
		}
		a := arrow{filepath.Base(set.Position(id.Pos()).Filename), filepath.Base(set.Position(o.Pos()).Filename)}
		if a.from == a.to {
			continue
		}
		if all[a] == nil {
			all[a] = map[string]bool{}
		}
		all[a][o.Name()] = true
	}
	return all, nil
}
