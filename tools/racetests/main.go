// Command racetests prints the tests that are worth running with the race detector:
// those that start goroutines or a server, leave work running in the background, or run
// in parallel. In all other tests one goroutine runs at a time, and the detector makes
// these tests five to eight times slower.
//
//	go test -race $(go run ./tools/racetests -all ./storage/spool ./...)
//
// It prints a -run pattern and the packages that have such tests. It decides by the syntax
// of test files: a test counts if it, or a function of the test files that it calls, has a
// go statement or calls a method Go or RunParallel, or if it itself uses synctest,
// httptest, t.Parallel, time.AfterFunc or the setting Background.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	log.SetFlags(0)
	all := flag.String("all", "", "print all tests of these `packages` (separated by commas)")
	flag.Parse()
	dirs, err := folders(flag.Args())
	if err != nil {
		log.Fatal(err)
	}
	whole, err := folders(strings.FieldsFunc(*all, func(r rune) bool { return r == ',' }))
	if err != nil {
		log.Fatal(err)
	}
	names, packages := map[string]bool{}, []string{}
	for path, dir := range dirs {
		tests, err := concurrent(dir, whole[path] != "")
		if err != nil {
			log.Fatal(err)
		}
		for _, t := range tests {
			names[t] = true
		}
		if len(tests) > 0 {
			packages = append(packages, path)
		}
	}
	if len(names) == 0 {
		log.Fatal("racetests: no test starts a goroutine")
	}
	slices.Sort(packages)
	fmt.Printf("-run ^(%s)$ %s\n", strings.Join(slices.Sorted(maps.Keys(names)), "|"), strings.Join(packages, " "))
}

// folders returns the folders of packages by their import paths.
func folders(patterns []string) (map[string]string, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	out, err := exec.Command("go", append([]string{"list", "-f", "{{.ImportPath}} {{.Dir}}"}, patterns...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", strings.Join(patterns, " "), err)
	}
	dirs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, dir, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		dirs[path] = dir
	}
	return dirs, nil
}

// name identifies a function, or the methods with one name of any type.
type name struct {
	of     string
	method bool
}

// function describes the functions with one name in the test files of a folder.
type function struct {
	calls  map[name]bool
	starts bool // it starts goroutines
	beside bool // it runs in parallel with something else
}

// concurrent returns the tests of a folder that are worth running with the race
// detector, or all.
func concurrent(dir string, all bool) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	functions := map[name]*function{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
				learn(functions, d)
			}
		}
	}
	spread(functions)
	var tests []string
	for n, f := range functions {
		if !n.method && strings.HasPrefix(n.of, "Test") && n.of != "TestMain" && (all || f.starts || f.beside) {
			tests = append(tests, n.of)
		}
	}
	return tests, nil
}

// learn reads one function.
func learn(functions map[name]*function, d *ast.FuncDecl) {
	n := name{d.Name.Name, d.Recv != nil}
	f := functions[n]
	if f == nil {
		f = &function{calls: map[name]bool{}}
		functions[n] = f
	}
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			f.starts = true
		case *ast.CallExpr:
			f.call(n.Fun)
		case *ast.KeyValueExpr:
			key, _ := n.Key.(*ast.Ident)
			f.beside = f.beside || key != nil && key.Name == "Background"
		}
		return true
	})
}

// call records the calls of a function.
func (f *function) call(fun ast.Expr) {
	switch fun := fun.(type) {
	case *ast.Ident:
		f.calls[name{fun.Name, false}] = true
	case *ast.SelectorExpr:
		called := fun.Sel.Name
		of, _ := fun.X.(*ast.Ident)
		f.starts = f.starts || called == "Go" || called == "RunParallel"
		f.beside = f.beside || called == "Parallel" || called == "AfterFunc" ||
			of != nil && (of.Name == "synctest" || of.Name == "httptest" && strings.HasPrefix(called, "New"))
		f.calls[name{called, true}] = true
	}
}

// spread marks functions that call a function that starts goroutines.
func spread(functions map[name]*function) {
	for changed := true; changed; {
		changed = false
		for _, f := range functions {
			for called := range f.calls {
				if callee := functions[called]; callee != nil && callee.starts && !f.starts {
					f.starts, changed = true, true
				}
			}
		}
	}
}
