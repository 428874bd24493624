package main

import (
	"fmt"
	"slices"
	"strings"

	words "github.com/agentcompact/compact/internal/setting"
	"github.com/agentcompact/compact/price"
)

// checkModel warns about a name that looks like a misspelled model, because a wrong
// window and wrong prices would be used. It does not warn if the name resembles no
// known name, or if only the version differs, because the model may be new.
func (a *app) checkModel(name string) {
	if name == "" || price.Listed(name) {
		return
	}
	alike := slices.DeleteFunc(slices.Clone(price.Names()), func(n string) bool { return digitsOf(n) != digitsOf(name) })
	if meant := words.Nearest(name, alike); meant != "" {
		a.complain("compactctl", fmt.Sprintf("warning: --model %q: no model of that name is known (did you mean %s?)", name, meant))
	}
}

// digitsOf returns the digits of a model's name, which are its version.
func digitsOf(name string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || '9' < r {
			return -1
		}
		return r
	}, name)
}
