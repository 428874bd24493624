package main

import (
	"fmt"
	"slices"

	"github.com/agentcompact/compact/replay"
)

// recordedIn returns the sessions in the named paths, one at a time, and their
// number; "-" is standard input.
func (a *app) recordedIn(paths []string, what string) (replay.Source, int, error) {
	named := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return p == "-" })
	files, err := replay.Files(named...)
	if err != nil {
		return nil, 0, &inputError{file: what, err: err}
	}
	a.reads(files...)
	from := replay.From(files, a.input.format)
	if len(named) == len(paths) {
		return from, len(files), nil
	}
	a.reads("-")
	read := false
	return func() (*replay.Session, bool, error) {
		if read {
			return from()
		}
		read = true
		data, err := a.bytes("-")
		if err != nil {
			return nil, true, err
		}
		s, err := replay.Parse(inputName("-"), data, a.input.format)
		return s, true, err
	}, 1 + len(files), nil
}

// twice returns an element that occurs more than once in a list.
func twice[T comparable](list []T) (T, bool) {
	for i, x := range list {
		if slices.Contains(list[:i], x) {
			return x, true
		}
	}
	var none T
	return none, false
}

// distinct refuses policies and windows that are given twice, because their
// sessions would be added up together. It also refuses one file for two outputs.
func (r *replaying) distinct() error {
	if name, ok := twice(r.policies); ok {
		return &usageError{fmt.Errorf("--policy %s is given twice", name)}
	}
	if n, ok := twice(r.windows); ok {
		return &usageError{fmt.Errorf("--window %d is given twice", n)}
	}
	if r.csv != "" && sameFile(r.csv, r.html) {
		return &usageError{fmt.Errorf("--csv and --html are the same file, %s: name two", r.csv)}
	}
	return nil
}
