package tidy

import (
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/internal/cputime"
)

// hostile holds texts that make a reducer search far ahead or far back at each byte.
var hostile = []struct {
	name, front, unit, end string
	args                   string
}{
	{name: "braces", unit: "{"},
	{name: "brackets", unit: "[", end: "]"},
	{name: "objects", front: "[", unit: `{"a":1},`, end: "1]"},
	{name: "quotes", unit: `"`},
	{name: "backslashes", unit: `\`},
	{name: "titles that never end", unit: "\x1b]"},
	{name: "colors that never end", unit: "\x1b["},
	{name: "colors in base64", unit: "a\x1b[mB\x1b[m3\x1b[mx\x1b[mY\x1b[m7\x1b[mz\x1b[mQ\x1b[m"},
	{name: "addresses in one line", front: "# a\n# b\n# c\nerror: ", unit: "http"},
	{name: "addresses in a page", front: "<html>", unit: "http"},
	{name: "data addresses", front: "# a\n# b\n# c\n", unit: "data:", args: `{"file_path":"a.md"}`},
	{name: "errors in one line", unit: `"error=0`},
	{name: "tags that never end", front: "<html>", unit: "<"},
	{name: "scripts that never end", front: "<html>", unit: "<script></script"},
	{name: "comments that never end", front: "<html>", unit: "<!--"},
	{name: "links", unit: "[a](b"},
	{name: "returns", unit: "\r"},
	{name: "one line", unit: "x"},
	{name: "lines", unit: "a\nb\n"},
	{name: "hits", unit: "a/b.go:1:x\n"},
	{name: "colons", unit: ":1:"},
	{name: "slashes", unit: "/"},
	{name: "cells", unit: "a|b|c\n"},
	{name: "differences", unit: "@@ \n+++ \n"},
	{name: "tests", unit: "PASS\n"},
	{name: "half characters", unit: "\x80"},
}

func TestReduceTakesLinearTimeForHostileTexts(t *testing.T) {
	const small, times = 4 << 10, 16
	for _, h := range hostile {
		took := func(n int, o Options) time.Duration {
			text := h.front + strings.Repeat(h.unit, n/len(h.unit)) + h.end
			args := h.args
			if args == "" {
				args = `{"command":"x"}`
			}
			began := cputime.Used()
			Reduce(&Result{Text: text, Call: Call{Tool: "x", Args: []byte(args)}, Tokens: max(n/4, 3000), Said: []string{args}}, o)
			return cputime.Used() - began
		}
		for _, o := range []Options{{}, {Off: []string{"lines"}}} {
			// With linear time, the factor is 16; with quadratic time, it is 256. The
			// constant allows for clocks with a coarse resolution.
			a, b := took(small, o), took(small*times, o)
			if most := 4*times*a + 40*time.Millisecond; b > most {
				t.Errorf("%s, without %v: %d bytes take %v, %d times as many bytes take %v, want at most %v", h.name, o.Off, small, a, times, b, most)
			}
		}
	}
}
