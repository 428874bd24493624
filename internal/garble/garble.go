// Package garble makes damaged texts out of good ones, for tests of parsers. A fuzzing
// engine begins with random bytes and needs minutes to reach the rules for a form; a
// sample of each form, cut and joined with others, reaches them at once. The texts are
// the same in each run.
package garble

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// patience is the time without any progress after which [Each] reports an endless loop.
const patience = time.Minute

// symbols are inserted between two cut texts, and in place of a character. Parsers give
// each of them a meaning.
var symbols = []string{
	"", " ", "  ", "\n", "\t", "\r\n", "\x00", "\x1b[1m", `\`, `\n`, `\"`, `"`, "'", "`", "=", ": ", ":", ",", ";", ".", "-", "--", "_", "/", "@", "#", "$", "${", "%", "&",
	"(", ")", "[", "]", "{", "}", "<", ">", "</", "|", "!", "?", "*", "+", "~", "^", "1", "a", "é", "\u200b", "\xff", "…", "😀",
}

// Texts returns n texts made out of the seeds, which must not be empty. Equal arguments
// give equal texts.
func Texts(seeds []string, n int, seed uint64) iter.Seq[string] {
	return func(yield func(string) bool) {
		d := newDrawer(seeds, seed)
		for range n {
			if !yield(d.text()) {
				return
			}
		}
	}
}

type drawer struct {
	*rand.Rand
	seeds []string
}

func newDrawer(seeds []string, seed uint64) drawer {
	return drawer{rand.New(rand.NewPCG(seed, uint64(len(seeds)))), seeds}
}

// text joins up to three pieces, and damages the result up to three times.
func (d drawer) text() string {
	var b strings.Builder
	for range 1 + d.IntN(3) {
		b.WriteString(d.piece())
		b.WriteString(d.symbol())
	}
	s := b.String()
	for range d.IntN(4) {
		s = d.damage(s)
	}
	return s
}

func (d drawer) symbol() string { return symbols[d.IntN(len(symbols))] }

// piece returns a seed, or one of its two parts.
func (d drawer) piece() string {
	s := d.seeds[d.IntN(len(d.seeds))]
	switch at := d.place(s); d.IntN(3) {
	case 0:
		return s[:at]
	case 1:
		return s[at:]
	}
	return s
}

// damage removes, repeats or replaces a short part of a text, or inserts a symbol.
func (d drawer) damage(s string) string {
	from := d.place(s)
	to := min(from+d.IntN(12), len(s))
	switch d.IntN(4) {
	case 0:
		return s[:from] + s[to:]
	case 1:
		return s[:to] + s[from:]
	case 2:
		return s[:from] + d.symbol() + s[to:]
	}
	return s[:from] + d.symbol() + s[from:]
}

// place returns a random index. It is mostly the beginning of a character or of a word.
func (d drawer) place(s string) int {
	at := d.IntN(len(s) + 1)
	if d.IntN(2) == 0 {
		if k := strings.IndexAny(s[at:], " \n:=,\"'"); k >= 0 {
			return at + k
		}
	}
	for d.IntN(8) > 0 && at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return at
}

// Each calls f for n texts. If f panics, or does not return, the test ends with the text
// as a quoted string.
func Each(t *testing.T, seeds []string, n int, seed uint64, f func(string)) {
	t.Helper()
	if len(seeds) == 0 {
		t.Fatal("no seeds")
	}
	current := ""
	watch := time.AfterFunc(patience, func() { panic(fmt.Sprintf("an endless loop; the text is %q", current)) })
	defer watch.Stop()
	defer func() {
		if p := recover(); p != nil {
			panic(fmt.Sprintf("%v; the text is %q", p, current))
		}
	}()
	for current = range Texts(seeds, n, seed) {
		watch.Reset(patience)
		f(current)
	}
}
