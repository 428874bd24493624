package compact

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/fs"
)

// Many sessions take turns and make many calls. Neither memory nor open files grow
// with their number, and the archive has a few files per compaction. With
// COMPACT_SOAK=1 there are 2,000 sessions of 50 calls, with shorter texts.
func TestSoakOfManySessionsIsBounded(t *testing.T) {
	sessions, calls, words, bound := 30, 10, 400, 1<<20
	if os.Getenv("COMPACT_SOAK") == "1" {
		sessions, calls, words, bound = 2000, 50, 100, 32<<20
	}
	if testing.Short() {
		sessions = 12
	}
	dir := t.TempDir()
	archive, err := fs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	m, err := New(t.Context(), Config{Model: "gpt-4", MaxContextTokens: 8_000, Archive: archive, Sessions: SessionsConfig{MaxBytes: bound}})
	if err != nil {
		t.Fatal(err)
	}
	const turn = 5 // calls of one session before the next session's turn
	talkInTurns(t, m, 3, calls, words, turn)
	before, goroutines, open := heap(), runtime.NumGoroutine(), descriptors()
	steps := 0
	for from := 0; from < calls; from += turn {
		for s := range sessions {
			steps += talkTurn(t, m, s, from, turn, words)
		}
		if m.bytes > int64(bound) {
			t.Fatalf("%d bytes of sessions are remembered, at most %d are wanted", m.bytes, bound)
		}
	}
	grown := heap() - before
	files, size := holdings(t, dir)
	t.Logf("%d sessions × %d calls, %d compactions: heap %+.1f MB (of %d MB for sessions), %d goroutines more, %d descriptors more, %d files of %.1f MB",
		sessions, calls, steps, float64(grown)/1e6, bound>>20, runtime.NumGoroutine()-goroutines, descriptors()-open, files, float64(size)/1e6)
	if most := int64(2*bound + 16<<20); grown > most {
		t.Errorf("the heap has grown by %d bytes, at most %d are wanted", grown, most)
	}
	if n := runtime.NumGoroutine() - goroutines; n > 2*flushers {
		t.Errorf("%d goroutines more", n)
	}
	if n := descriptors() - open; n > 4*flushers {
		t.Errorf("%d descriptors more", n)
	}
	if steps < sessions/2 || files > 8*steps+4*sessions {
		t.Errorf("%d files after %d compactions of %d sessions", files, steps, sessions)
	}
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if n := m.backlog.total.Load(); n != 0 {
		t.Errorf("%d bytes of the audit log were not written", n)
	}
}

// talkInTurns makes the calls of all sessions, a few of each session at a time.
func talkInTurns(t *testing.T, m *CompactManager, sessions, calls, words, turn int) {
	t.Helper()
	for s := range sessions {
		for at := 0; at < calls; at += turn {
			talkTurn(t, m, -1-s, at, turn, words)
		}
	}
}

// talkTurn makes some calls of a session, and returns the number of compactions.
func talkTurn(t *testing.T, m *CompactManager, session, from, calls, words int) (compactions int) {
	t.Helper()
	history := []message.Message{message.System("You fix bugs."), message.User(fmt.Sprint("session ", session))}
	for i := range from + calls {
		id := fmt.Sprintf("call_%d", i)
		history = append(history, message.Assistant("", message.Call(id, "read", fmt.Sprintf(`{"n":%d}`, i))),
			message.ToolResult(id, fmt.Sprintf("%d %d ", session, i)+strings.Repeat("some words ", words)))
		if i < from {
			continue
		}
		res, err := m.Preflight(t.Context(), fmt.Sprint("session ", session), history)
		if err != nil {
			t.Fatal(err)
		}
		if res.Triggered {
			compactions++
		}
	}
	return compactions
}

// descriptors returns the number of open files, 0 if it is unknown.
func descriptors() int {
	all, _ := os.ReadDir("/proc/self/fd")
	return len(all)
}

// holdings returns the content of a folder.
func holdings(t *testing.T, dir string) (files int, size int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			files, size = files+1, size+info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, size
}
