package record

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// interrupted is an archive that calls functions before it appends and removes.
type interrupted struct {
	*memory.Archive
	append, remove func()
}

func (a *interrupted) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	a.append()
	return a.Archive.Append(ctx, k, seq, b)
}

func (a *interrupted) Remove(ctx context.Context, k storage.Key) error {
	a.remove()
	return a.Archive.Remove(ctx, k)
}

// A copy that continues an earlier one, and whose session is erased meanwhile, looks again. The
// error that ends the attempt reaches no caller.
func TestAnEraseDuringACopyIsNoScrub(t *testing.T) {
	none := func() {}
	ctx, src, dst := t.Context(), &interrupted{memory.New(), none, none}, &interrupted{memory.New(), none, none}
	s, err := OpenSession(ctx, src, "s")
	if err != nil {
		t.Fatal(err)
	}
	c := copier{dst: dst, src: src}
	grow := func() {
		t.Helper()
		if err := s.Events(ctx, []redact.Text{redact.Lit(`{"name":"event"}`)}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Transcript(ctx, 1, []redact.Text{redact.Lit(`{"role":"user","content":"go"}`)}); err != nil && !errors.Is(err, storage.ErrExists) {
			t.Fatal(err)
		}
	}
	grow()
	if err := c.folder(ctx, s.Key()); err != nil {
		t.Fatal(err)
	}
	grow()
	// The erase begins before the second file is copied, and ends while the copy waits for it.
	begun, ended := make(chan bool), make(chan error, 1)
	src.remove = sync.OnceFunc(func() {
		close(begun)
		time.Sleep(50 * time.Millisecond)
	})
	dst.append = sync.OnceFunc(func() {
		go func() {
			_, err := s.Erase(ctx, redact.Lit("asked for"))
			ended <- err
		}()
		<-begun
	})
	if err := c.folder(ctx, s.Key()); errors.Is(err, errOvertaken) {
		t.Errorf("the copy ends with %v, want no error of an attempt", err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
