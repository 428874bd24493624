package search

import (
	"bytes"
	"context"
	"io"
	"iter"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// meeting is an archive that calls a function before one of its operations.
type meeting struct {
	*memory.Archive
	at    int
	do    func()
	count int
}

func (a *meeting) meet() {
	if a.count++; a.count == a.at {
		a.do()
	}
}

func (a *meeting) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	a.meet()
	return a.Archive.Open(ctx, k, off, n)
}

func (a *meeting) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	a.meet()
	return a.Archive.List(ctx, prefix)
}

// If a session is scrubbed during indexing, the index has its text from after the
// scrub.
func TestScrubAtEachStepOfAnUpdate(t *testing.T) {
	const secret = "hushaboo77"
	left, scrubs := 0, 0
	for at, more := 1, true; more; at++ {
		a := &meeting{Archive: memory.New(), at: at}
		say(t, a.Archive, "s", "the word is "+secret, "zebra")
		dir := folder(t)
		x := index(t, a, dir)
		a.do = func() {
			s, err := record.OpenSession(t.Context(), a.Archive, "s")
			ok(t, err)
			s.KeepIndex(x)
			ok(t, second(s.Scrub(t.Context(), record.ScrubOptions{Find: finds(secret), Reason: redact.Lit("asked for")})))
		}
		a.count = 0
		ok(t, second(x.Update(t.Context(), nil)))
		if more = a.count >= at; !more {
			break // the scrub did not run
		}
		left += 1 - existing(t, x, "zebra") // the session was forgotten after it was indexed, so the next update adds it
		ok(t, x.Close())
		if bytes.Contains(files(t, dir), []byte(secret)) {
			t.Errorf("scrubbed before operation %d: the index has the secret", at)
		}
		x = index(t, a.Archive, dir)
		if got := found(t, x, Query{Words: "zebra"}); len(got) != 1 {
			t.Errorf("scrubbed before operation %d: of the rest %q is found", at, got)
		}
		scrubs++
	}
	if scrubs < 10 || left > 1 {
		t.Errorf("%d updates, of which %d left the session to the next update", scrubs, left)
	}
}

// finds returns a search of a scrub for the first occurrence of a secret in a line.
func finds(secret string) func(string, []byte) [][2]int {
	return func(_ string, line []byte) [][2]int {
		if i := bytes.Index(line, []byte(secret)); i >= 0 {
			return [][2]int{{i, i + len(secret)}}
		}
		return nil
	}
}

// A scrub keeps the size of each file. The next update replaces the text of a session that was
// scrubbed without the index, nevertheless.
func TestUpdateFollowsAScrubWithoutTheIndex(t *testing.T) {
	const secret = "hushaboo77"
	a, dir := memory.New(), folder(t)
	s := say(t, a, "s", "the word is "+secret, "zebra")
	x := index(t, a, dir)
	ok(t, second(x.Update(t.Context(), nil)))
	done, err := s.Scrub(t.Context(), record.ScrubOptions{Find: finds(secret), Reason: redact.Lit("asked for")})
	ok(t, err)
	if got := found(t, x, Query{Words: secret}); len(got) != 0 || len(done.Files) != 1 {
		t.Errorf("%d files were scrubbed, and found is %q", len(done.Files), got)
	}
	if got := found(t, x, Query{Words: "zebra"}); len(got) != 1 {
		t.Errorf("of the rest %q is found", got)
	}
	ok(t, x.Close())
	if bytes.Contains(files(t, dir), []byte(secret)) {
		t.Error("the index has the secret")
	}
}

// A session that is erased without the index during an update is not in the index after it.
func TestEraseAtEachStepOfAnUpdate(t *testing.T) {
	erased := 0
	for at, more := 1, true; more; at++ {
		a := &meeting{Archive: memory.New(), at: at}
		s := say(t, a.Archive, "s", "zebra")
		x := index(t, a, folder(t))
		a.do = func() { ok(t, second(s.Erase(t.Context(), redact.Lit("asked for")))) }
		a.count = 0
		ok(t, second(x.Update(t.Context(), nil)))
		if more = a.count >= at; !more {
			break // the erase did not run
		}
		if n := existing(t, x, "zebra"); n != 0 {
			t.Errorf("erased before operation %d: its text is found %d times", at, n)
		}
		erased++
	}
	if erased < 3 {
		t.Errorf("%d updates", erased)
	}
}

// Of two processes that index a session at once, the one that read the older files does not
// replace the index of the other.
func TestOlderReadDoesNotReplaceANewerIndex(t *testing.T) {
	updates := 0
	for at, more := 1, true; more; at++ {
		a := &meeting{Archive: memory.New()}
		say(t, a.Archive, "s", "zebra")
		dir := folder(t)
		x := index(t, a, dir)
		ok(t, second(x.Update(t.Context(), nil)))
		say(t, a.Archive, "s", "zebra", "okapi")
		a.do = func() {
			say(t, a.Archive, "s", "zebra", "okapi", "gnu")
			ok(t, second(index(t, a.Archive, dir).Update(t.Context(), nil)))
		}
		a.at, a.count = at, 0
		ok(t, second(x.Update(t.Context(), nil)))
		if more = a.count >= at; !more {
			break // the other process did not run
		}
		if n := existing(t, x, "gnu"); n != 1 {
			t.Errorf("the other process indexed before operation %d: its text is found %d times", at, n)
		}
		updates++
	}
	if updates < 3 {
		t.Errorf("%d updates", updates)
	}
}

// existing returns the number of occurrences of a word without an update.
func existing(t *testing.T, x *Index, word string) int {
	t.Helper()
	terms, err := parse(word)
	ok(t, err)
	f, err := x.find(t.Context(), Query{Words: word}, terms)
	ok(t, err)
	return len(f.Matches)
}
