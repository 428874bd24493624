package spool

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

func FuzzQueue(f *testing.F) {
	f.Add([]byte("c s/transcript-001.jsonl\na 120 s/manifest.jsonl\na +7 s/events.jsonl\n"), int64(0))
	f.Add([]byte("c s/a\n\nc s/tor\na 1 s/b\nc s/unended"), int64(3))
	f.Add([]byte("a 99999999999999999999 s/b\nc ../x\na -1 s/b\n"), int64(-1))
	f.Fuzz(func(t *testing.T, data []byte, from int64) {
		last := max(from, 0)
		for _, o := range parseQueue(data, from) {
			if o.next <= last && from <= int64(len(data)) || o.next > int64(len(data)) {
				t.Errorf("the line after offset %d ends at %d, of %d bytes", last, o.next, len(data))
			}
			last = o.next
			again, ok := parseOp(o.String())
			if !ok || again != o.op {
				t.Errorf("%+v is written as %q, which is parsed as %+v (ok %t)", o.op, o.String(), again, ok)
			}
		}
	})
}

func FuzzOrigin(f *testing.F) {
	f.Add(origin{}.bytes())
	k, _ := storage.ParseKey("s/ledger-001.json")
	f.Add(origin{blind: true, files: []storage.Info{{Key: k, Size: 3, Modified: time.UnixMilli(5)}}}.bytes())
	f.Add([]byte("compact spool 1 blind=true\n1 2\nend\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := parseOrigin(data)
		if err != nil {
			return
		}
		again, err := parseOrigin(o.bytes())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(o.files, again.files, cmp.Comparer(func(a, b storage.Key) bool { return a == b })); diff != "" || o.blind != again.blind {
			t.Errorf("written and read again:\n%s", diff)
		}
	})
}

// quickFolder returns a folder in memory if the machine has such a file system, because
// these tests do not depend on durability.
func quickFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "spool-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // the next start of the machine removes it, too
	return dir
}

// FuzzSpoolFolder opens a spool whose files have any content. The spool must not hang,
// panic, or overwrite files of the remote archive, and it must report the files that it
// cannot read.
func FuzzSpoolFolder(f *testing.F) {
	f.Add("c s/f\na 6 s/log\n", string(sentLine(0)), string(origin{}.bytes()), "")
	f.Add("c s/f\n", string(sentLine(999)), "compact spool 1", "because")
	f.Add("a 3 s/f\nc s/log", "x", string(origin{blind: true}.bytes()), "")
	f.Fuzz(func(t *testing.T, queue, sent, from, conflict string) {
		dir, remote := quickFolder(t), memory.New()
		state := filepath.Join(dir, "state", "s")
		if err := os.MkdirAll(state, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string]string{queueFile: queue, sentFile: sent, originFile: from, conflictFile: conflict} {
			if data == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(state, name), []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		file, _ := storage.ParseKey("s/f")
		log, _ := storage.ParseKey("s/log")
		if err := remote.Create(t.Context(), file, storage.Redacted(redact.Lit("remote"))); err != nil {
			t.Fatal(err)
		}
		s, err := Open(dir, remote, &Options{Passive: true})
		if err != nil {
			t.Fatal(err)
		}
		created := s.Create(t.Context(), file, storage.Redacted(redact.Lit("disk")))
		appended := s.Append(t.Context(), log, 0, storage.Redacted(redact.Lit("line\n")))
		closed := s.Close(t.Context())
		b, err := stored(t.Context(), remote, file, 0, -1)
		if err != nil || b.Size() != int64(len("remote")) {
			t.Errorf("the earlier file now has %d bytes, %v", b.Size(), err)
		}
		if _, err := parseOrigin([]byte(from)); err != nil && from != "" && (created == nil || appended == nil) {
			t.Errorf("the origin cannot be read, but Create returned %v and Append %v", created, appended)
		}
		if created == nil && closed == nil && parseSent([]byte(sent)) == 0 {
			t.Error("the conflict was not reported")
		}
	})
}
