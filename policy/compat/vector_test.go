package compat_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// The tests with Vector in their names compare the stages with outputs of the
// systems that the presets reproduce, one JSON object per line. They read the
// folder named by COMPACT_VECTORS, by default ../shared/vectors beside the
// repository, and always the small set in testdata.
//
// If a source breaks a rule of the design, a deviation describes the difference: a
// predicate over input, options and expected output, never over ids or notes. The output
// for a row that matches no predicate must be exactly as expected. The output for a row
// that matches a predicate must differ, because otherwise the predicate is too wide; it is
// checked against the requirement of the deviation instead.

// eachSet runs f for every set of vectors.
func eachSet(t *testing.T, file string, f func(t *testing.T, path string)) {
	t.Helper()
	sets := map[string]string{"testdata": filepath.Join("testdata", "vectors")}
	dir, given := os.LookupEnv("COMPACT_VECTORS")
	if !given {
		dir = filepath.Join(repository(t), "..", "shared", "vectors")
	}
	sets["shared"] = dir
	for _, name := range []string{"testdata", "shared"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(sets[name], file+".jsonl")
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && name == "shared" {
				if given {
					t.Skipf("%s is not in the folder that COMPACT_VECTORS names", file)
				}
				t.Skipf("../shared/vectors is missing; set COMPACT_VECTORS to a folder with %s.jsonl", file)
			}
			f(t, path)
		})
	}
}

// repository returns the folder that holds go.mod.
func repository(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = parent
	}
}

// rows reads the lines of a file.
func rows[R any](t *testing.T, path string) []R {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []R
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var r R
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("%s:%d: %v", path, n, err)
		}
		all = append(all, r)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// A deviation is a predicate that matches a row.
type deviation struct {
	name string
	// required describes the mistake in our output; "" = none.
	required func() string
	// counts means that the deviation affects only counts; everything else is as
	// expected.
	counts bool
}

// deviations collects the deviations that match a row.
type deviations []deviation

func (d *deviations) add(match bool, name string, required func() string) {
	if match {
		*d = append(*d, deviation{name: name, required: required})
	}
}

// addCounts adds a deviation that affects only counts.
func (d *deviations) addCounts(match bool, name string) {
	if match {
		*d = append(*d, deviation{name: name, required: nothing, counts: true})
	}
}

// onlyCounts reports whether all deviations affect only counts.
func (d deviations) onlyCounts() bool {
	for _, x := range d {
		if !x.counts {
			return false
		}
	}
	return true
}

// tally counts the rows of a function, and fails the test for wrong rows.
type tally struct {
	t     *testing.T
	what  string
	rows  int
	exact int
	by    map[string]int // rows that a predicate matches
	alone map[string]int // rows that only this predicate matches
}

func newTally(t *testing.T, what string) *tally {
	return &tally{t: t, what: what, by: map[string]int{}, alone: map[string]int{}}
}

// judge records a row: diff is how our output differs from the expected one,
// counts is how its counts differ.
func (c *tally) judge(id, diff, counts string, matched deviations) {
	c.t.Helper()
	c.rows++
	switch {
	case len(matched) == 0 && diff == "" && counts == "":
		c.exact++
	case len(matched) == 0, matched.onlyCounts() && diff != "":
		c.t.Errorf("%s %s: the output differs, and no predicate matches:\n%s%s", c.what, id, diff, counts)
	case diff == "" && (counts == "" || !matched.onlyCounts()):
		c.t.Errorf("%s %s: the output is as expected, but the predicate %s matches: too wide", c.what, id, matched[0].name)
	default:
		for _, d := range matched {
			c.by[d.name]++
			if len(matched) == 1 {
				c.alone[d.name]++
			}
			if wrong := d.required(); wrong != "" {
				c.t.Errorf("%s %s: %s: %s", c.what, id, d.name, wrong)
			}
		}
	}
}

// print writes the line of the table.
func (c *tally) print() {
	c.t.Helper()
	if c.rows == 0 {
		return
	}
	names := make([]string, 0, len(c.by))
	for name := range c.by {
		names = append(names, name)
	}
	sort.Slice(names, func(a, b int) bool {
		return c.by[names[a]] > c.by[names[b]] || c.by[names[a]] == c.by[names[b]] && names[a] < names[b]
	})
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d rows, %d exact, %d deviate", c.what, c.rows, c.exact, c.rows-c.exact)
	for i, name := range names {
		fmt.Fprintf(&b, "%s %s %d", map[bool]string{true: ":", false: ","}[i == 0], name, c.by[name])
		if n := c.alone[name]; n > 0 && n < c.by[name] {
			fmt.Fprintf(&b, " (%d alone)", n)
		}
	}
	c.t.Log(b.String())
}

// nothing adds no requirement to the requirements that the test checks for every row.
func nothing() string { return "" }
