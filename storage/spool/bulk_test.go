package spool_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/spool"
)

// bulk is a remote archive that removes many keys at once.
type bulk struct {
	*remote
	asked int
	locks int
}

func (b *bulk) RemoveAll(ctx context.Context, keys []storage.Key) error {
	b.asked++
	for _, k := range keys {
		if err := b.Remove(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

func (b *bulk) Kept(context.Context, storage.Key) error { return storage.ErrLocked }

func (b *bulk) KeptAny(context.Context, []storage.Key) error {
	b.locks++
	return nil
}

// The spool uses bulk operations of the remote archive in an erase, and removes the
// same files from the disk.
func TestEraseAsksTheRemoteArchiveAtOnce(t *testing.T) {
	b := &bulk{remote: newRemote()}
	s := open(t, t.TempDir(), b, &spool.Options{Passive: true})
	log := session(t, s, "s")
	must(t, step(t.Context(), log))
	must(t, step(t.Context(), log))
	must(t, s.Flush(t.Context()))
	must(t, step(t.Context(), log)) // which waits
	stone, err := log.Erase(t.Context(), redact.Lit("asked for"))
	must(t, err)
	if !stone.Done || b.asked == 0 || b.asked > 4 || b.locks != 1 {
		t.Errorf("done %v, asked %d times to remove, %d times for locks", stone.Done, b.asked, b.locks)
	}
	must(t, s.Flush(t.Context()))
	for _, a := range []storage.Archive{s, b.remote} {
		for k := range holdings(t, a) {
			if key(t, k).Dir() == "s" {
				t.Errorf("%s is left", k)
			}
		}
	}
}

// ending is a remote archive that removes a folder with the log that is its record.
type ending struct {
	*bulk
	others bool // reports once that a file is left
	log    storage.Key
}

func (e *ending) RemoveAllBut(ctx context.Context, keys []storage.Key, log storage.Key) error {
	e.log = log
	return e.RemoveAll(ctx, keys)
}

func (e *ending) RemoveEnd(ctx context.Context, log storage.Key) (others bool, err error) {
	if e.others {
		e.others = false
		return true, nil
	}
	return false, e.Remove(ctx, log)
}

func (e *ending) Free(context.Context) bool { return true }

// The manifest stays on the disk until the remote archive has removed it.
func TestEraseEndsWithTheRemoteManifest(t *testing.T) {
	e := &ending{bulk: &bulk{remote: newRemote()}, others: true}
	s := open(t, t.TempDir(), e, &spool.Options{Passive: true})
	log := session(t, s, "s")
	must(t, step(t.Context(), log))
	must(t, s.Flush(t.Context()))
	manifest := key(t, "s/manifest.jsonl")
	must(t, s.RemoveAllBut(t.Context(), []storage.Key{key(t, "s/ledger-001.json")}, manifest))
	others, err := s.RemoveEnd(t.Context(), manifest)
	here := holdings(t, s)
	if _, ok := here[manifest.String()]; !others || err != nil || !ok || e.log != manifest {
		t.Errorf("others %v, %v; %s is there: %v", others, err, manifest, ok)
	}
	stone, err := log.Erase(t.Context(), redact.Lit("asked for"))
	if must(t, err); !stone.Done || e.locks != 0 {
		t.Errorf("done %v, %d times asked for locks", stone.Done, e.locks)
	}
	for _, a := range []storage.Archive{s, e.remote} {
		for k := range holdings(t, a) {
			if key(t, k).Dir() == "s" {
				t.Errorf("%s is left", k)
			}
		}
	}
}

// saidFirst is a remote archive that looks at the manifest before files are removed. If its
// process is killed, only the last line of the manifest is left.
type saidFirst struct {
	*ending
	t    *testing.T
	said bool // the last line of the manifest records the erase
	dies bool
}

func (a *saidFirst) RemoveAllBut(ctx context.Context, keys []storage.Key, log storage.Key) error {
	whole := read(a.t, a.remote, log)
	if whole == "" {
		return a.ending.RemoveAllBut(ctx, keys, log)
	}
	last := whole[strings.LastIndex(strings.TrimSuffix(whole, "\n"), "\n")+1:]
	a.said = strings.Contains(last, `"op":"erase"`)
	err := a.ending.RemoveAllBut(ctx, keys, log)
	if err == nil && a.dies {
		err = errors.Join(errAway, a.remote.Remove(ctx, log), a.remote.Archive.Append(ctx, log, 0, storage.Redacted(text(last))))
	}
	return err
}

func read(t *testing.T, a storage.Archive, k storage.Key) string {
	t.Helper()
	r, err := a.Open(t.Context(), k, 0, -1)
	if errors.Is(err, storage.ErrNotExist) {
		return ""
	}
	must(t, err)
	data, err := io.ReadAll(r)
	must(t, errors.Join(err, r.Close()))
	return string(data)
}

// Other machines see the manifest of the remote archive. It must record the erase before the
// first file is missing there, also if the session was not sent completely. An erase that
// was interrupted after that is completed from the same disk.
func TestTheRemoteManifestRecordsTheEraseFirst(t *testing.T) {
	for name, sent := range map[string]bool{"sent": true, "sent in part": false} {
		for _, dies := range []bool{false, true} {
			a := &saidFirst{ending: &ending{bulk: &bulk{remote: newRemote()}}, t: t, dies: dies}
			s := open(t, t.TempDir(), a, &spool.Options{Passive: true})
			log := session(t, s, "s")
			must(t, step(t.Context(), log))
			must(t, s.Flush(t.Context()))
			must(t, step(t.Context(), log))
			if sent {
				must(t, s.Flush(t.Context()))
			}
			_, err := log.Erase(t.Context(), redact.Lit("asked for"))
			if !a.said || errors.Is(err, errAway) != dies || !dies && err != nil {
				t.Errorf("%s: recorded %v, %v, want true", name, a.said, err)
			}
			if a.dies = false; dies {
				must(t, second(session(t, s, "s").Erase(t.Context(), redact.Lit("again"))))
			}
			must(t, s.Flush(t.Context()))
			for _, a := range []storage.Archive{s, a.remote} {
				for k := range holdings(t, a) {
					if key(t, k).Dir() == "s" {
						t.Errorf("%s, dies %v: %s is left", name, dies, k)
					}
				}
			}
		}
	}
}

// Another machine has erased the session, and began another one of that name. An erase by
// the copy on this disk removes nothing of it.
func TestEraseKeepsAnotherRemoteSession(t *testing.T) {
	e := &ending{bulk: &bulk{remote: newRemote()}}
	s := open(t, t.TempDir(), e, &spool.Options{Passive: true})
	log := session(t, s, "s")
	must(t, step(t.Context(), log))
	must(t, s.Flush(t.Context()))
	must(t, second(session(t, e.remote, "s").Erase(t.Context(), redact.Lit("elsewhere"))))
	must(t, step(t.Context(), session(t, e.remote, "s")))
	before := keys(t, e.remote)
	if _, err := log.Erase(t.Context(), redact.Lit("asked for")); !errors.Is(err, spool.ErrConflict) {
		t.Errorf("the erase ends with %v, want ErrConflict", err)
	}
	sound(t, e.remote, "s", 1)
	if after := keys(t, e.remote); len(after) < len(before) {
		t.Errorf("left: %q of %q", after, before)
	}
}

// hastyArchive is a bulk archive that calls meanwhile while its first file is created; the function
// asks to remove the file.
type hastyArchive struct {
	*bulk
	meanwhile func(k storage.Key)
}

func (h *hastyArchive) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if do := h.meanwhile; do != nil {
		h.meanwhile = nil
		do(k)
	}
	return h.bulk.Create(ctx, k, b)
}

// A removal waits for a file that is being sent. The file would come back otherwise.
func TestRemovalWaitsForTheSender(t *testing.T) {
	for name, remove := range map[string]func(ctx context.Context, s *spool.Spool, k storage.Key) error{
		"one": func(ctx context.Context, s *spool.Spool, k storage.Key) error { return s.Remove(ctx, k) },
		"many": func(ctx context.Context, s *spool.Spool, k storage.Key) error {
			return s.RemoveAll(ctx, []storage.Key{k})
		},
	} {
		h := &hastyArchive{bulk: &bulk{remote: newRemote()}}
		s := open(t, t.TempDir(), h, &spool.Options{Passive: true})
		h.meanwhile = func(k storage.Key) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if err := remove(ctx, s, k); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: the removal did not wait: %v", name, err)
			}
		}
		must(t, s.Create(t.Context(), key(t, "s/f"), storage.Redacted(redact.Lit("line"))))
		must(t, s.Flush(t.Context()))
		must(t, remove(t.Context(), s, key(t, "s/f")))
		if n := len(holdings(t, h.remote)); n > 0 {
			t.Errorf("%s: %d files are left", name, n)
		}
	}
}
