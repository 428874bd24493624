// Package storagetest tests an archive against the contract of
// [storage.Archive]. Every case has the sentence of the contract that it tests,
// and prints the sentence when it fails.
package storagetest

import (
	"context"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
)

// Opener returns two archives on one new and empty place, as two processes would open
// them. They may be one value if only one process is possible. It is called once for
// each case, and closes the archives with t.Cleanup if needed.
type Opener func(t testing.TB) (first, second storage.Archive)

// Run tests every sentence of the contract in a subtest.
func Run(t *testing.T, open Opener) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := c.run(t, open); err != nil {
				t.Errorf("broken promise: %s\n%v", c.promise, err)
			}
		})
	}
}

// A Failure is a sentence of the contract that an archive violates.
type Failure struct {
	Case    string // name of its subtest in Run
	Promise string
	Err     error
}

// Check returns the failures of all cases, or of the named ones, instead of
// reporting them.
func Check(t testing.TB, open Opener, names ...string) []Failure {
	t.Helper()
	var out []Failure
	for _, c := range cases {
		if len(names) > 0 && !slices.Contains(names, c.name) {
			continue
		}
		if err := c.run(t, open); err != nil {
			out = append(out, Failure{c.name, c.promise, err})
		}
	}
	return out
}

type testCase struct {
	name    string
	promise string
	check   func(ctx context.Context, p *place) error
}

// caseTimeout is the limit for a case on a slow network; on a disk it takes
// milliseconds.
const caseTimeout = 2 * time.Minute

// run runs one case. A panic of the archive is a failure, too.
func (c testCase) run(t testing.TB, open Opener) (err error) {
	t.Helper()
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("it panicked: %v", v)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), caseTimeout)
	defer cancel()
	first, second := open(t)
	return c.check(ctx, &place{first, second})
}

var cases = append(append(append(createCases(), appendCases()...), readCases()...), otherCases()...)

// place is the storage of one case, with two archives on it.
type place struct {
	a, b storage.Archive // two archives of one place
}

func (p *place) both() []storage.Archive { return []storage.Archive{p.a, p.b} }

// key parses a valid key.
func key(s string) storage.Key {
	k, err := storage.ParseKey(s)
	if err != nil {
		panic(err)
	}
	return k
}

var words = [...]redact.Text{
	redact.Lit("alpha\n"), redact.Lit("beta beta\n"), redact.Lit("gamma\x00\xff\n"), redact.Lit("δέλτα\n"),
	redact.Lit("epsilon epsilon epsilon\n"), redact.Lit("{}\n"), redact.Lit("\n"), redact.Lit("end"),
}

// blob returns at least size bytes (exactly 0 for 0), which differ for each
// seed.
func blob(seed, size int) storage.Blob {
	var texts []redact.Text
	for state, n := uint32(seed)*2654435761+1, 0; n < size; {
		state = state*1664525 + 1013904223
		w := words[state>>29]
		texts = append(texts, w)
		n += w.Len()
	}
	if size > 0 {
		for bit := range 16 { // the seed itself, so that blobs differ
			texts = append(texts, words[seed>>bit&1])
		}
	}
	return storage.Redacted(texts...)
}

func bytesOf(b storage.Blob) string {
	data, err := io.ReadAll(b.Reader())
	if err != nil {
		panic(err)
	}
	return string(data)
}

// read returns the content of a key.
func (p *place) read(ctx context.Context, a storage.Archive, k storage.Key) (string, error) {
	return p.readRange(ctx, a, k, 0, -1)
}

func (p *place) readRange(ctx context.Context, a storage.Archive, k storage.Key, off, n int64) (string, error) {
	r, err := a.Open(ctx, k, off, n)
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(r)
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	return string(data), err
}

// holds checks that both archives see exactly want under k.
func (p *place) holds(ctx context.Context, k storage.Key, want string) error {
	for i, a := range p.both() {
		got, err := p.read(ctx, a, k)
		if err != nil {
			return fmt.Errorf("archive %d: reading %s: %w", i+1, k, err)
		}
		if got != want {
			return fmt.Errorf("archive %d: %s holds %s, want %s", i+1, k, short(got), short(want))
		}
	}
	return nil
}

func short(s string) string {
	if len(s) > 40 {
		return fmt.Sprintf("%d bytes %q…", len(s), s[:40])
	}
	return fmt.Sprintf("%d bytes %q", len(s), s)
}
