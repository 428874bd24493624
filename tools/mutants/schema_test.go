package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
)

const source = `package p

const limit = 1 + 2

func f(a, b int, ok bool) (n int) {
	for a < limit {
		a++
	}
	if ok && (a == b || a > 9) {
		n = 3
		println(n)
	}
	if ok {
		return n
	}
	switch {
	case a != b:
		panic("apart")
	}
	return n
}

type pair struct{ a, b int }

func g(a int, err error) (pair, []*pair, error) {
	if err != nil {
		return pair{}, nil, err
	}
	return pair{a: a, b: 1}, []*pair{{b: a}}, nil
}
`

func TestFaultsOfAFile(t *testing.T) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	if _, err := (&types.Config{Importer: importer.Default()}).Check("p", fset, []*ast.File{f}, info); err != nil {
		t.Fatal(err)
	}
	s := &schema{fset: fset, info: info, src: []byte(source), file: "p.go"}
	s.read(f)
	text := string(s.text(f, "example.org/m"))
	var got []string
	for _, x := range s.faults {
		got = append(got, x.String())
	}
	want := []string{
		"p.go:6: `a < limit` never holds",
		"p.go:6: `a < limit` with its bound moved",
		"p.go:7: `a++` is left out",
		"p.go:9: `ok` is left out of &&",
		"p.go:9: `(a == b || a > 9)` is left out of &&",
		"p.go:9: `a == b` is left out of ||",
		"p.go:9: `a > 9` is left out of ||",
		"p.go:9: `a > 9` with its bound moved",
		"p.go:10: `n = 3` is left out",
		"p.go:11: `println(n)` is left out",
		"p.go:13: `ok` always holds",
		"p.go:13: `ok` never holds",
		"p.go:17: `a != b` is turned around",
		"p.go:26: `err != nil` always holds",
		"p.go:26: `err != nil` never holds",
		"p.go:27: `return pair{}, nil, err` without its error",
		"p.go:29: `a: a` is left out",
		"p.go:29: `b: a` is left out",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the faults are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "p.go", text, 0); err != nil {
		t.Errorf("%v in\n%s", err, text)
	}
	if strings.Count(text, "\n") != strings.Count(source, "\n") {
		t.Error("lines have other numbers than in the file")
	}
	for _, part := range []string{"package p; import mutant \"example.org/m/internal/mutant\"\n", "const limit = 1 + 2\n", "\t\tpanic(\"apart\")\n", "{ a++ }"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
}
