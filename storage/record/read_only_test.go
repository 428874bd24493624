package record_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// If a scrub is interrupted at any point, a session opened for reading has all files as
// they are after the scrub, and writes nothing. This holds even if another process
// completes the scrub during the reading.
func TestAReaderSeesAnInterruptedScrubAsComplete(t *testing.T) {
	waited := 0
	for at := 0; ; at++ {
		a := memory.New()
		leaky(t, a)
		s, err := record.OpenSession(t.Context(), &dying{a, at, false}, "s")
		must(t, err)
		_, dead := s.Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked), Lease: time.Millisecond})
		if dead == nil {
			break
		}
		r, err := record.OpenToRead(t.Context(), a, "s")
		must(t, err)
		dir, err := record.OpenDirToRead(t.Context(), a, "s")
		must(t, err)
		here := readable(t, r)
		if there := readable(t, dir); there != here {
			t.Errorf("died at change %d: by its folder it is read as\n%s\nby its id as\n%s", at, there, here)
		}
		if _, err := s.EndScrub(t.Context()); err == nil { // EndScrub had nothing to do
			continue
		}
		err = r.Events(t.Context(), []redact.Text{text(`{"name":"four"}`)})
		if !errors.Is(err, record.ErrUnplaced) {
			t.Errorf("died at change %d: written beside: %v, want ErrUnplaced", at, err)
		}
		_, err = session(t, a, "s").EndScrub(t.Context())
		must(t, err)
		if again := readable(t, r); again != here {
			t.Errorf("died at change %d: after it was ended it is read as\n%s\nwas\n%s", at, again, here)
		}
		if strings.Contains(here, leaked) {
			t.Errorf("died at change %d: the scrubbed text is read:\n%s", at, here)
		}
		waited++
	}
	if waited < 5 {
		t.Errorf("files waited %d times, want at least 5", waited)
	}
}

// readable returns the content of a session, without its manifest.
func readable(t *testing.T, s *record.Session) string {
	t.Helper()
	var b strings.Builder
	for l, err := range s.Ledgers(t.Context(), 1) {
		if err != nil || l.Changed != nil {
			t.Errorf("step %d: %v, %v; want no error and none", l.Step, err, l.Changed)
		}
	}
	for info, err := range s.Files(t.Context()) {
		name := info.Key.Base()
		if must(t, err); name == "manifest.jsonl" || info.Key == (storage.Key{}) {
			continue
		}
		if strings.HasPrefix(name, "scrub.") {
			continue // files of a process that died before it recorded them
		}
		f, err := s.Open(t.Context(), name, 0, -1)
		must(t, err)
		data, err := io.ReadAll(f)
		must(t, errors.Join(err, f.Close()))
		if int64(len(data)) != info.Size {
			t.Errorf("%s is listed with %d bytes of %d", name, info.Size, len(data))
		}
		b.WriteString(name + "\n" + string(data))
	}
	return b.String()
}
