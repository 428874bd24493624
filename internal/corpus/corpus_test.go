package corpus

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSessionsReadsPlainAndCompressedInOrder(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(Env, filepath.Dir(dir))
	write(t, filepath.Join(dir, "b.jsonl"), []byte("{}\n"))
	write(t, filepath.Join(dir, "a.jsonl.gz"), zipped(t, "{\"role\":\"user\"}\n"))
	write(t, filepath.Join(dir, "README.md"), []byte("no session"))
	var got [][2]string
	for name, data := range Sessions(t, filepath.Base(dir)) {
		got = append(got, [2]string{name, string(data)})
	}
	want := [][2]string{{"a", "{\"role\":\"user\"}\n"}, {"b", "{}\n"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for range Sessions(t, filepath.Base(dir)) {
		break // the loop may end early
	}
}

func TestSomeReadsOnlySelectedSessions(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(Env, filepath.Dir(dir))
	write(t, filepath.Join(dir, "a.jsonl.gz"), []byte("this can't be read"))
	write(t, filepath.Join(dir, "b.jsonl"), []byte("{}\n"))
	write(t, filepath.Join(dir, "c.jsonl.gz"), []byte("nor this"))
	i := 0
	var got []string
	for name := range Some(t, filepath.Base(dir), func() bool { i++; return i == 2 }) {
		got = append(got, name)
	}
	if diff := cmp.Diff([]string{"b"}, got); diff != "" || i != 3 {
		t.Errorf("take was called %d times: %s", i, diff)
	}
}

// witness is a test that notes how it ended.
type witness struct {
	testing.TB
	skipped, failed bool
}

func (w *witness) Helper()               {}
func (w *witness) Skip(...any)           { w.skipped = true; runtime.Goexit() }
func (w *witness) Skipf(string, ...any)  { w.skipped = true; runtime.Goexit() }
func (w *witness) Fatalf(string, ...any) { w.failed = true; runtime.Goexit() }

func watch(t *testing.T, f func(t testing.TB)) *witness {
	w := &witness{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(w)
	}()
	<-done
	return w
}

func TestSessionsSkipsWithoutTranscripts(t *testing.T) {
	t.Setenv(Env, filepath.Join(t.TempDir(), "nowhere"))
	if w := watch(t, func(t testing.TB) { Sessions(t, "chat") }); !w.skipped {
		t.Error("the test was not skipped")
	}
	t.Setenv(Env, "")
	t.Chdir(t.TempDir())
	if w := watch(t, func(t testing.TB) { Sessions(t, "chat") }); !w.skipped {
		t.Error("the test outside of the repository was not skipped")
	}
}

func TestSessionsFailsForUnreadableFiles(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(Env, filepath.Dir(dir))
	if w := watch(t, func(t testing.TB) { Sessions(t, filepath.Base(dir)) }); !w.failed {
		t.Error("an empty folder was accepted")
	}
	write(t, filepath.Join(dir, "a.jsonl.gz"), []byte("not compressed"))
	w := watch(t, func(t testing.TB) {
		for range Sessions(t, filepath.Base(dir)) {
			t.Log("a session that can't be read was handed out")
		}
	})
	if !w.failed {
		t.Error("a broken file was accepted")
	}
}

func TestSessionsFindsSharedSessions(t *testing.T) {
	for _, dir := range []string{"chat", "chat_asis"} {
		for name, data := range Sessions(t, dir) {
			if len(data) == 0 || bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
				t.Errorf("%s/%s is empty, or still compressed", dir, name)
			}
		}
	}
}
