package behavior

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// failures counts the failures of a test that is expected to fail.
type failures struct {
	testing.TB
	texts []string
}

func (f *failures) Errorf(format string, args ...any) { f.texts = append(f.texts, format) }
func (f *failures) Helper()                           {}

func length(s string) int { return len(s) }

func isEqual(a, b string) bool { return a == b }

func at(s string, i int) byte { return s[i] }

func join(list []string, sep byte, quoted bool) string {
	if quoted {
		return "\"" + strings.Join(list, string(sep)) + "\""
	}
	return strings.Join(list, string(sep))
}

var inputs = []string{"", "one", "one two\nthree", "x"}

func record(t testing.TB, file string, functions ...any) {
	r := New(t, file)
	r.Functions(inputs, functions...)
	r.Check()
}

func TestRecordIsWrittenAndCompared(t *testing.T) {
	file := filepath.Join(t.TempDir(), "testdata", "functions.txt")
	t.Setenv("COMPACT_RECORD", "write")
	record(t, file, length, isEqual, at, join)
	t.Setenv("COMPACT_RECORD", "")
	record(t, file, length, isEqual, at, join)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(data); !strings.Contains(got, "length: 3 of 4, ") || strings.Count(got, "\n") != 5 || !strings.HasPrefix(got, "# recorded with go1.") {
		t.Errorf("the record is\n%s", got)
	}
	f := &failures{TB: t}
	record(f, file, length, isEqual, at)
	if len(f.texts) != 1 {
		t.Errorf("a missing line gives %d failures, want 1", len(f.texts))
	}
}

func TestTextsBehindHashesAreKept(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("COMPACT_RECORD_TEXTS", dir)
	r := New(t, "none")
	r.Functions(inputs, at)
	data, err := os.ReadFile(filepath.Join(dir, t.Name(), "00001"))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(data); !strings.Contains(got, `0 "" `) || !strings.Contains(got, "panic") || !strings.Contains(got, `1 "one" "1" 110; `) {
		t.Errorf("the results are\n%s", got)
	}
}

func TestInputsAreTheTextsOfTests(t *testing.T) {
	file := filepath.Join(t.TempDir(), "inputs.txt")
	t.Setenv("COMPACT_RECORD", "inputs")
	all := Inputs(t, file, 1000)
	t.Setenv("COMPACT_RECORD", "")
	again := Inputs(t, file, 1000)
	if len(all) != len(again) || !slices.Contains(all, "one two\nthree") {
		t.Errorf("inputs %q, read again %q", all, again)
	}
	t.Setenv("COMPACT_RECORD", "inputs")
	if few := Inputs(t, file, 3); len(few) != 3 || few[0] != all[0] {
		t.Errorf("three inputs are %q", few)
	}
}

func pointer(s string) map[string][]*int { return nil }

func TestAddressesAreNotRecorded(t *testing.T) {
	f := &failures{TB: t}
	if New(f, "none").Functions(inputs, pointer, length); len(f.texts) != 1 {
		t.Errorf("a function that returns pointers gives %q, want one failure", f.texts)
	}
}

func TestAnotherReleaseOfGoMayDiffer(t *testing.T) {
	here := release(runtime.Version())
	if got := otherPlatform("go1.1"); got != here+", and the record is of go1.1" {
		t.Errorf("for a record of go1.1: %q, want a reason to skip", got)
	}
	if got := otherPlatform(here); (got == "") != (runtime.GOOS != "windows") {
		t.Errorf("for a record of this release: %q", got)
	}
	if got := release("go1.26.3"); got != "go1.26" {
		t.Errorf("release is %q, want go1.26", got)
	}
}
