// Package behavior compares the behavior of code with a record of it in testdata, so that
// a change of behavior is noticed wherever it is. A record says what the code does, not
// what is right: other tests say that.
//
// If a change is meant, read which lines of the record differ, then write it:
//
//	COMPACT_RECORD=write go test ./strategy -run AsRecorded
//
// Hashes in a record stand for long texts. With COMPACT_RECORD_TEXTS=DIR, the tests write
// these texts to DIR/NAME; write them with the old and with the new code, and compare the
// folders.
package behavior

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Record collects lines, and compares them with a file. It is for one goroutine.
type Record struct {
	t     testing.TB
	file  string
	got   bytes.Buffer
	dir   string // for the texts behind hashes; "" = they are not written
	texts int
}

// New returns an empty record for the file, such as testdata/functions.txt.
func New(t testing.TB, file string) *Record {
	r := &Record{t: t, file: file}
	if dir := os.Getenv("COMPACT_RECORD_TEXTS"); dir != "" {
		r.dir = filepath.Join(dir, strings.ReplaceAll(t.Name(), "/", "_"))
	}
	return r
}

// Line adds a line.
func (r *Record) Line(format string, args ...any) {
	fmt.Fprintf(&r.got, format, args...)
	r.got.WriteByte('\n')
}

// Hash returns ten digits that stand for a text in a line.
func (r *Record) Hash(text []byte) string {
	if r.dir != "" {
		r.texts++
		r.must(os.MkdirAll(r.dir, 0o700))
		r.must(os.WriteFile(filepath.Join(r.dir, fmt.Sprintf("%05d", r.texts)), text, 0o600))
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))[:10]
}

// Check reports each line that differs from the file. With COMPACT_RECORD=write, it writes
// the file instead.
func (r *Record) Check() {
	r.t.Helper()
	if os.Getenv("COMPACT_RECORD") != "" {
		r.must(os.MkdirAll(filepath.Dir(r.file), 0o750))
		r.must(os.WriteFile(r.file, []byte(header+release(runtime.Version())+"\n"+r.got.String()), 0o644)) //nolint:gosec // a file of the repository
		return
	}
	data, err := os.ReadFile(r.file)
	r.must(err)
	first, want, _ := strings.Cut(string(data), "\n")
	if want == r.got.String() {
		return
	}
	if other := otherPlatform(strings.TrimPrefix(first, header)); other != "" {
		r.t.Skipf("the behavior differs from %s, but this is %s", r.file, other)
	}
	diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(r.got.String(), "\n"))
	r.t.Errorf("the behavior differs from %s (-recorded +now); if that is meant, run the test with COMPACT_RECORD=write; COMPACT_RECORD_TEXTS=DIR shows the texts behind hashes:\n%s", r.file, diff)
}

const header = "# recorded with "

// release returns the release of Go without the patch: go1.26 for go1.26.3.
func release(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// otherPlatform describes this platform if its standard library may return something else
// than that of the record: another release of Go, or Windows with its paths.
func otherPlatform(recorded string) string {
	switch here := release(runtime.Version()); {
	case here != recorded:
		return here + ", and the record is of " + recorded
	case runtime.GOOS == "windows":
		return "Windows"
	}
	return ""
}

func (r *Record) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}
