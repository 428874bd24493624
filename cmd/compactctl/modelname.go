package main

import (
	"fmt"
	"slices"
	"strings"

	words "github.com/agentcompact/compact/internal/setting"
	"github.com/agentcompact/compact/price"
)

// checkModel says that the name of a model looks like another, misspelled:
// its window and its prices would be those of any name that begins like it. A
// new version of a model, or a name that is like no other, is nobody's mistake.
func (a *app) checkModel(name string) {
	if name == "" || price.Listed(name) {
		return
	}
	alike := slices.DeleteFunc(slices.Clone(price.Names()), func(n string) bool { return digitsOf(n) != digitsOf(name) })
	if meant := words.Nearest(name, alike); meant != "" {
		a.complain("compactctl", fmt.Sprintf("warning: --model %q: no model of that name is known (did you mean %s?)", name, meant))
	}
}

// digitsOf is the version in a model's name.
func digitsOf(name string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || '9' < r {
			return -1
		}
		return r
	}, name)
}
