package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestConcurrentTestsAreThoseWithMoreThanOneGoroutine(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a_test.go": `package a
func TestPlain(t *testing.T) { x := map[string]bool{"Go": true}; _ = x; other() }
func TestStarts(t *testing.T) { go other() }
func TestGroup(t *testing.T) { var wg sync.WaitGroup; for range 3 { wg.Go(other) } }
func TestThroughAHelper(t *testing.T) { r := rig{}; r.first() }
func TestBubble(t *testing.T) { synctest.Test(t, other) }
func TestServer(t *testing.T) { s := httptest.NewServer(nil); s.Close() }
func TestRecorder(t *testing.T) { helper(); httptest.ResponseRecorder() }
func TestBeside(t *testing.T) { t.Run("x", func(t *testing.T) { t.Parallel() }) }
func TestPrepared(t *testing.T) { use(Config{Policy: Policy{Background: &yes}}) }
func TestMakes(t *testing.T) { _ = make([]int, 3) }
func TestMain(m *testing.M) { go other() }
func helper() { httptest.NewServer(nil) }
func other() {}
`,
		"b_test.go": "package a_test\nfunc (r rig) first() { r.second() }\nfunc (rig) second() { func() { go func() {}() }() }\nfunc (rig) make() { go other() }\n",
		"c.go":      "package a\nfunc TestNot() { go TestNot() }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for all, want := range map[bool][]string{
		false: {"TestBeside", "TestBubble", "TestGroup", "TestPrepared", "TestServer", "TestStarts", "TestThroughAHelper"},
		true:  {"TestBeside", "TestBubble", "TestGroup", "TestMakes", "TestPlain", "TestPrepared", "TestRecorder", "TestServer", "TestStarts", "TestThroughAHelper"},
	} {
		got, err := concurrent(dir, all)
		if slices.Sort(got); err != nil || !slices.Equal(got, want) {
			t.Errorf("all %v: %v, %v", all, got, err)
		}
	}
	if _, err := concurrent(filepath.Join(dir, "none"), false); err != nil {
		t.Error(err)
	}
}
