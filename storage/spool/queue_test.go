package spool

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// A process dies between the line of the queue and its data. Another process sends the
// data that exists, and later the data that was appended in its place.
func TestUnwrittenDataDoesNotCountAsSent(t *testing.T) {
	line := storage.Redacted(redact.Lit("line\n"))
	k, _ := storage.ParseKey("s/log")
	for name, c := range map[string]struct{ before, part bool }{
		"of a new log": {}, "of a longer one": {before: true}, "but for a part": {part: true}, "but for a part of a longer one": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir, remote := t.TempDir(), memory.New()
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			s, err := Open(dir, remote, &Options{Passive: true})
			must(err)
			file, _ := storage.ParseKey("s/f")
			must(s.Create(t.Context(), file, line))
			size := int64(0)
			if c.before {
				must(s.Append(t.Context(), k, 0, line))
				size = line.Size()
			}
			must(s.Flush(t.Context()))
			died := op{key: k, log: true, end: size + 3*line.Size()}
			must(appendLine(s.state("s", queueFile), died.String()))
			if c.part {
				must(s.local.Append(t.Context(), k, size, line))
				size += line.Size()
			}
			for i := range 2 {
				synced := watchSync(t, s.state("s", queueFile))
				must(s.Flush(t.Context()))
				if want := 1 - i; *synced != want { // before it is done
					t.Errorf("flush %d: the queue was synced %d times, want %d", i+1, *synced, want)
				}
				must(s.Append(t.Context(), k, size, line))
				size += line.Size()
			}
			must(s.Flush(t.Context()))
			b, err := stored(t.Context(), remote, k, 0, -1)
			must(err)
			if b.Size() != size {
				t.Errorf("%d bytes were sent, want %d", b.Size(), size)
			}
			must(s.Close(t.Context()))
		})
	}
}

// watchSync counts the syncs of each file.
func watchSync(t *testing.T, path string) *int {
	real, n := syncFile, new(int)
	t.Cleanup(func() { syncFile = real })
	syncFile = func(f *os.File) error {
		if f.Name() == path {
			*n++
		}
		return real(f)
	}
	return n
}

// refusing is an archive that refuses each read with an error.
type refusing struct {
	*memory.Archive
	err error
}

func (a *refusing) Open(_ context.Context, k storage.Key, _, _ int64) (io.ReadCloser, error) {
	return nil, &storage.Error{Op: "open", Key: k, Err: a.err}
}

// A spool continues if the remote archive is unreachable. An answer with damaged
// tombstones does not count as unreachable: the error stays an error.
func TestAnswerDoesNotCountAsUnreachable(t *testing.T) {
	away := errors.New("no route to host")
	for _, blind := range []bool{true, false} {
		for err, silent := range map[error]bool{away: true, storage.ErrNotExist: false, storage.ErrDamaged: false} {
			s, oerr := Open(t.TempDir(), &refusing{memory.New(), err}, &Options{Passive: true, Blind: blind})
			if oerr != nil {
				t.Fatal(oerr)
			}
			_, got := s.Open(t.Context(), mustKey(erasedLog), 0, -1)
			if !errors.Is(got, err) || errors.Is(got, storage.ErrUnreachable) != (silent && blind) {
				t.Errorf("blind %v: %v is returned as %v, want err", blind, err, got)
			}
			if err := s.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}
