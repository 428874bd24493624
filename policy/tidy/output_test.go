package tidy

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/reduced.txt")

// The reduced form of each kind of result is as it was recorded: what it says about itself,
// how much is left, and a hash of its bytes. If a change is meant, read what the lines say
// has changed; then write the record with -update.
func TestEveryReductionIsAsRecorded(t *testing.T) {
	const file = "testdata/reduced.txt"
	var got strings.Builder
	record := func(name string, r *Result, large int) {
		out, ok := Reduce(r, Options{Large: large})
		left := out.Render(r.Text, r.Tokens, testRef)
		fmt.Fprintf(&got, "%s: %v, %d of %d bytes, %.5x, by %+v: %s\n", name, ok, len(left), len(r.Text), sha256.Sum256([]byte(left)), out.By, out.What)
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
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil { //nolint:gosec // a record
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("reductions differ from %s; if that is meant: go test ./policy/tidy -run Recorded -update (-recorded +now):\n%s", file, diff)
	}
}
