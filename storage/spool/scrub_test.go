package spool_test

import (
	"bytes"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/spool"
	"github.com/agentcompact/compact/storage/storagetest"
)

func TestInterruptedScrubLosesNothing(t *testing.T) {
	storagetest.RunScrub(t, func(t testing.TB) (storage.Archive, storage.Archive) {
		dir, remote := t.TempDir(), memory.New()
		o := &spool.Options{Passive: true}
		return open(t, dir, remote, o), open(t, dir, remote, o)
	}, 41)
}

// A scrub replaces the audit log of a session. The sent part of the old log is no longer in
// the remote archive, which is no conflict: the new log is sent, by this process and by
// another one that had sent the old log.
func TestScrubbedLogIsSentAgain(t *testing.T) {
	for name, waits := range map[string]bool{"all was sent": false, "a part waits": true} {
		t.Run(name, func(t *testing.T) {
			dir, remote := t.TempDir(), newRemote()
			first := open(t, dir, remote, &spool.Options{Passive: true})
			s := session(t, first, "s")
			must(t, step(t.Context(), s))
			must(t, first.Flush(t.Context()))
			if waits {
				must(t, s.Events(t.Context(), []redact.Text{text(`{"name":"three"}`)}))
			}
			second := open(t, dir, remote, &spool.Options{Passive: true})
			done, err := session(t, second, "s").Scrub(t.Context(), record.ScrubOptions{Find: func(file string, line []byte) (found [][2]int) {
				if at := bytes.Index(line, []byte(`"two"`)); at >= 0 {
					found = append(found, [2]int{at + 1, at + 4})
				}
				return found
			}})
			if must(t, err); len(done.Files) != 1 || done.Files[0].Name != "events.jsonl" {
				t.Fatalf("the scrub rewrote %+v", done.Files)
			}
			must(t, first.Flush(t.Context()))
			same(t, remote, first)
			must(t, step(t.Context(), session(t, first, "s")))
			must(t, second.Flush(t.Context()))
			same(t, remote, first)
			sound(t, remote, "s", 2)
		})
	}
}
