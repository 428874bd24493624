package tidy

import (
	"fmt"
	"testing"

	"github.com/agentcompact/compact/internal/behavior"
)

// The reduced form of each kind of result equals the record, which states what was left out, how
// many bytes are left, and a hash of them.
func TestEveryReductionIsAsRecorded(t *testing.T) {
	book := behavior.New(t, "testdata/reduced.txt")
	record := func(name string, r *Result, large int) {
		out, ok := Reduce(r, Options{Large: large})
		left := out.Render(r.Text, r.Tokens, testRef)
		book.Line("%s: %v, %d of %d bytes, %s, by %+v: %s", name, ok, len(left), len(r.Text), book.Hash([]byte(left)), out.By, out.What)
	}
	for _, s := range samples {
		for k, n := range []int{3_000, 12_000, 40_000} {
			text := s.make(n)
			for _, said := range []string{"", "Why does file.go:4 fail with 12? Look at item 7, Section 3 and Load24."} {
				r := &Result{Text: text, Call: s.call, Tokens: len(text) / 4, Said: []string{said}}
				if k == 2 && said != "" { // the same call gave nearly the same result before
					r.Earlier = []Earlier{{Call: s.call, Text: text[:len(text)/2] + "changed\n" + text[len(text)/2:], Ref: testRef}}
				}
				record(fmt.Sprintf("%s %d, %q", s.name, n, said), r, 1000)
			}
		}
	}
	for _, x := range toReads {
		record(x.name, &Result{Text: x.text, Call: x.call, Said: []string{x.said, string(x.call.Args)}, Tokens: len(x.text) / bytesPerToken}, 500)
	}
	book.Check()
}
