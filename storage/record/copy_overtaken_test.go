package record_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// meddled is an archive that calls a function before each write. If the function returns an
// error, nothing is written.
type meddled struct {
	*memory.Archive
	before  func(k storage.Key) error
	removed []string
}

func (a *meddled) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if err := a.before(k); err != nil {
		return err
	}
	return a.Archive.Append(ctx, k, seq, b)
}

func (a *meddled) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if err := a.before(k); err != nil {
		return err
	}
	return a.Archive.Create(ctx, k, b)
}

func (a *meddled) Remove(ctx context.Context, k storage.Key) error {
	a.removed = append(a.removed, k.Base())
	return a.Archive.Remove(ctx, k)
}

func scrubs(t *testing.T, a storage.Archive, word string) {
	t.Helper()
	must(t, second(session(t, a, "s").Scrub(t.Context(), record.ScrubOptions{Find: finds(word)})))
}

// If a scrub of src interrupts a copy, the copy keeps the files that another copier
// wrote.
func TestInterruptedCopyKeepsFilesOfAnotherCopier(t *testing.T) {
	src := memory.New()
	leaky(t, src)
	dst := &meddled{Archive: memory.New()}
	dst.before = func(k storage.Key) error {
		dst.before = func(storage.Key) error { return nil }
		scrubs(t, src, leaked)
		must(t, dst.Append(t.Context(), k, 0, storage.Redacted(text("theirs"))))
		return &storage.Error{Op: "append", Key: k, Err: storage.ErrSeq}
	}
	if _, err := record.Copy(t.Context(), dst, src, record.CopyOptions{}); !errors.Is(err, record.ErrInUse) {
		t.Error(err)
	}
	if have := wholeText(t, dst.Archive); !strings.Contains(have, "theirs") || len(dst.removed) > 0 {
		t.Errorf("the copy removed %v, and dst has %q", dst.removed, have)
	}
}

// If a scrub of src interrupts a copy, the copied files are removed in the order of an
// erase. A reader in between does not take the remaining files for a session. After
// some attempts the copy gives up.
func TestACopyGivesUpAfterRepeatedScrubs(t *testing.T) {
	src := memory.New()
	leaky(t, src)
	dst := &meddled{Archive: memory.New()}
	words := []string{leaked, "hello", "role", "user", "three", "one", "two", "they", "said", "content"}
	dst.before = func(k storage.Key) error {
		if k.Base() == "ledger-002.json" && len(words) > 0 {
			scrubs(t, src, words[0])
			words = words[1:]
		}
		return nil
	}
	_, err := record.Copy(t.Context(), dst, src, record.CopyOptions{})
	if !errors.Is(err, storage.ErrExists) || !strings.Contains(err.Error(), "copy it into an empty archive") {
		t.Error(err)
	}
	if len(dst.removed) == 0 || dst.removed[0] != "ledger-001.json" && dst.removed[0] != "ledger-002.json" || dst.removed[len(dst.removed)-1] != "manifest.jsonl" {
		t.Errorf("removed in this order: %v", dst.removed)
	}
}
