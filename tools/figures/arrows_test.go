package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// A method of the same name on another type makes no arrow; fields and the methods of an
// instance of a generic type do.
func TestArrowsAreOfNamesAsTheCompilerResolvesThem(t *testing.T) {
	set := token.NewFileSet()
	var files []*ast.File
	for _, f := range [][2]string{
		{"low.go", "package p\ntype low struct{ n int }\nfunc (low) open() {}\ntype list[T any] struct{ all []T }\nfunc (l *list[T]) add(T) {}"},
		{"mid.go", "package p\ntype mid struct{}\nfunc (mid) open() {}\nfunc (m mid) run() { m.open() }"},
		{"top.go", "package p\nfunc top(v low) int { var l list[int]; l.add(1); return v.n }\nfunc helper() {}"},
		{"bad.go", "package p\nfunc bad() { helper() }"},
	} {
		parsed, err := parser.ParseFile(set, f[0], f[1], parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, parsed)
	}
	all, err := arrowsOf(set, files, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	all.list(&got, all.up([]string{"bad.go", "low.go", "mid.go", "top.go"}))
	if want := "bad.go uses top.go above it: helper\n"; got.String() != want {
		t.Errorf("up:\n%swant:\n%s", got.String(), want)
	}
	got.Reset()
	all.list(&got, []arrow{{"top.go", "low.go"}})
	if want := "top.go uses low.go above it: add list low n\n"; len(all) != 2 || got.String() != want {
		t.Errorf("%d arrows:\n%swant:\n%s", len(all), got.String(), want)
	}
}

func TestLayoutNamesEachFileOnceAndBoundsTheArrowsThatRunUp(t *testing.T) {
	all := arrows{{"b.go", "a.go"}: {"x": true}, {"a.go", "c.go"}: {"y": true}}
	text := func(list, most string) string {
		return "# Doc\n\nwith `other.go`\n\n" + heading + "\nA file of `doc.go`.\n\n" + list + "\nAt most\n" + most + " run up.\n\n## Next\n\n1. `z.go`\n"
	}
	for _, c := range []struct{ name, text, says string }{
		{"all is well", text("1. **Low**: `a.go`,\n   `b.go`\n2. **High**: `c.go`\n", "1 arrow"), ""},
		{"too many arrows", text("1. `a.go`, `b.go`, `c.go`\n", "0 arrows"), "a.go uses c.go above it: y"},
		{"another order", text("1. `c.go`\n2. `a.go`\n3. `b.go`\n", "0 arrows"), ""},
		{"a file that is not listed", text("1. `a.go`, `b.go`\n", "9 arrows"), "compact/c.go is in no layer"},
		{"a file that is gone", text("1. `a.go`, `b.go`, `c.go`, `d.go`\n", "9 arrows"), "no file compact/d.go"},
		{"a file in two layers", text("1. `a.go`, `b.go`\n2. `c.go`, `a.go`\n", "9 arrows"), "a.go is listed twice"},
		{"no bound", text("1. `a.go`, `b.go`, `c.go`\n", "some arrows"), "does not say how many"},
		{"no section", "# Doc\n", "there is no section"},
	} {
		l, err := readLayout(c.text)
		if err == nil {
			err = l.check([]string{"a.go", "b.go", "c.go"}, all)
		}
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v", c.name, err)
		}
		if slices.Contains(l.files, "z.go") || slices.Contains(l.files, "doc.go") {
			t.Errorf("%s: files of other text are listed: %v", c.name, l.files)
		}
	}
}
