// Command figures prints the size of the project and of its parts: lines and
// functions of shipped Go files (no tests, no generated files, neither tools nor
// examples), and the names that policy and strategy export. Lines of code are lines
// with a token: neither empty lines nor comments. Internal packages that only tests link
// are counted, and their share is printed. It also counts the arrows (uses of the names of one file by another) between the files of
// compact, and those that run up in the order that docs/ARCHITECTURE.md declares.
//
//	go run ./tools/figures
//	go run ./tools/figures -arrows    which arrows run up
//	go run ./tools/figures -check     fails if more run up than the document allows
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"log"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// fresh are the packages that were added after the first version. They are counted separately.
var fresh = []string{"price", "replay", "serve", "policy/tidy", "search"}

type figures struct {
	lines, freshLines int // of code
	testLines         int // of code that only tests link
	all               int // including comments and empty lines
	longest           string
	most              int
	files, functions  []int          // number of lines of each
	exported          map[string]int // names by folder
	linked            []string       // folders of the packages that a program can link
}

func main() {
	log.SetFlags(0)
	listUp := flag.Bool("arrows", false, "list the arrows of compact that run up, and nothing else")
	check := flag.Bool("check", false, "only check the files of compact against "+plan)
	flag.Parse()
	l, files, all, err := compact()
	if err != nil {
		log.Fatal(err)
	}
	switch {
	case *check:
		if err := l.check(files, all); err != nil {
			log.Fatal(err)
		}
		return
	case *listUp:
		all.list(os.Stdout, all.up(l.files))
		return
	}
	f, err := read()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("shipped lines of code: %d in %s, %d in all other packages (%d lines with comments and empty ones)\n",
		f.freshLines, strings.Join(fresh, ", "), f.lines-f.freshLines, f.all)
	fmt.Printf("of these in internal packages that only tests link: %d\n", f.testLines)
	fmt.Printf("files: %d, %s\n", len(f.files), spread(f.files))
	fmt.Printf("functions: %d, %s (%s)\n", len(f.functions), spread(f.functions), f.longest)
	fmt.Printf("exported names (types, functions, constants, variables): policy %d, strategy %d\n", f.exported["policy"], f.exported["strategy"])
	fmt.Printf("compact: %d files, %d arrows, %d run up in the order of %s (list them with -arrows)\n", len(files), len(all), len(all.up(l.files)), plan)
}

func spread(sizes []int) string {
	slices.Sort(sizes)
	return fmt.Sprintf("median %d lines, p90 %d, longest %d", sizes[len(sizes)/2], sizes[len(sizes)*9/10], sizes[len(sizes)-1])
}

func read() (*figures, error) {
	out, err := exec.Command("git", "ls-files", "*.go").Output()
	if err != nil {
		return nil, err
	}
	linked, err := linked()
	if err != nil {
		return nil, err
	}
	f := &figures{exported: map[string]int{}, linked: linked}
	for _, name := range strings.Fields(string(out)) {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "tools/") || strings.HasPrefix(name, "examples/") {
			continue
		}
		if err := f.file(name); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// linked returns the folders of the commands, of the public packages, and of the packages
// that these import.
func linked() ([]string, error) {
	all, err := exec.Command("go", "list", "./...").Output()
	if err != nil {
		return nil, err
	}
	public := slices.DeleteFunc(strings.Fields(string(all)), func(p string) bool { return strings.Contains(p, "/internal/") || strings.Contains(p, "/tools/") })
	deps, err := exec.Command("go", append([]string{"list", "-deps", "-f", "{{with .Module}}{{if .Main}}{{$.Dir}}{{end}}{{end}}"}, public...)...).Output()
	if err != nil {
		return nil, err
	}
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, dir := range strings.Fields(string(deps)) {
		dirs = append(dirs, filepath.ToSlash(strings.TrimPrefix(dir, root+string(filepath.Separator))))
	}
	return dirs, nil
}

func (f *figures) file(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.ParseComments)
	if err != nil || ast.IsGenerated(file) {
		return err
	}
	dir, n := path.Dir(name), bytes.Count(text, []byte("\n"))
	code := codeLines(text)
	f.lines, f.all = f.lines+code, f.all+n
	f.files = append(f.files, n)
	if slices.ContainsFunc(fresh, func(p string) bool { return dir == p || strings.HasPrefix(dir, p+"/") }) {
		f.freshLines += code
	}
	if !slices.Contains(f.linked, dir) {
		f.testLines += code
	}
	for _, d := range file.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			size := set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1
			if f.functions = append(f.functions, size); size > f.most {
				f.most, f.longest = size, name+" "+fn.Name.Name
			}
		}
		f.exported[dir] += exportedBy(d)
	}
	return nil
}

// codeLines counts the lines that hold a token or a part of one.
func codeLines(text []byte) int {
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	seen := map[int]bool{}
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return len(seen)
		}
		if tok == token.SEMICOLON && lit == "\n" {
			continue
		}
		for line := file.Line(pos); line <= file.Line(pos)+strings.Count(lit, "\n"); line++ {
			seen[line] = true
		}
	}
}

// exportedBy counts the names that a declaration exports at package level.
func exportedBy(d ast.Decl) (n int) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.IsExported() {
			n++
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					n++
				}
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if name.IsExported() {
						n++
					}
				}
			}
		}
	}
	return n
}
