package main

import (
	"encoding/json"
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
	"strings"
)

// A fault is one change to one place.
type fault struct {
	file   string
	line   int
	change string
}

func (f fault) String() string { return fmt.Sprintf("%s:%d: %s", f.file, f.line, f.change) }

// A goPackage is a package in the output of go list.
type goPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	Module                  *struct{ Path, Dir string }
	DepOnly                 bool
}

func list(args ...string) ([]goPackage, error) {
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,Export,GoFiles,Module,DepOnly"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var all []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

// plant returns the faults of pkgs, and the text of their files with all faults in it,
// switched off.
func plant(pkgs []string) ([]fault, map[string][]byte, error) {
	all, err := list(append([]string{"-export", "-deps"}, pkgs...)...)
	if err != nil {
		return nil, nil, err
	}
	exports := map[string]string{}
	for _, p := range all {
		exports[p.ImportPath] = p.Export
	}
	var faults []fault
	files := map[string][]byte{}
	for _, p := range all {
		if p.DepOnly {
			continue
		}
		if faults, err = plantPackage(p, exports, faults, files); err != nil {
			return nil, nil, err
		}
	}
	return faults, files, nil
}

func plantPackage(p goPackage, exports map[string]string, faults []fault, files map[string][]byte) ([]fault, error) {
	fset := token.NewFileSet()
	var trees []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		trees = append(trees, f)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	if _, err := conf.Check(p.ImportPath, fset, trees, info); err != nil {
		return nil, err
	}
	for _, f := range trees {
		if ast.IsGenerated(f) {
			continue
		}
		name := fset.Position(f.Pos()).Filename
		src, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		rel, err := filepath.Rel(p.Module.Dir, name)
		if err != nil {
			return nil, err
		}
		s := &schema{fset: fset, info: info, src: src, file: rel, faults: faults}
		s.read(f)
		faults = s.faults
		files[name] = s.text(f, p.Module.Path)
	}
	return faults, nil
}
