package arch

import (
	gobuild "go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every public package has an example that go test runs.
func TestPublicPackagesHaveExamples(t *testing.T) {
	for _, p := range list(t, "./...") {
		rel := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		first, _, _ := strings.Cut(rel, "/")
		if rel == "" || first == "cmd" || first == "examples" || first == "tools" || strings.Contains("/"+rel+"/", "/internal/") {
			continue
		}
		dir := filepath.Join("../..", rel)
		if pkg, err := gobuild.ImportDir(dir, 0); err != nil || pkg.Name == "main" || strings.HasSuffix(pkg.Name, "test") {
			continue // the package comment of a test suite shows how it is used
		}
		if !runsExample(t, dir) {
			t.Errorf("%s has no example with an output: go doc shows such an example, and go test runs it", rel)
		}
	}
}

func runsExample(t *testing.T, dir string) bool {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "\nfunc Example") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range doc.Examples(f) {
			if e.Output != "" || e.EmptyOutput {
				return true
			}
		}
	}
	return false
}
