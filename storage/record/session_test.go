package record_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

func TestSessionLaysItsFilesOutByStep(t *testing.T) {
	archives(t, func(t *testing.T, a storage.Archive) {
		s := session(t, a, "Run/1")
		step(t, s, 1)
		step(t, s, 2)
		must(t, second(s.Final(t.Context(), lines("f", 2))))
		must(t, second(s.Final(t.Context(), lines("g", 2))))
		must(t, s.Journal(t.Context(), lines("j", 1)))
		want := []string{
			"events.jsonl", "journal.jsonl", "ledger-001.json", "ledger-002.json", "manifest.jsonl", "summary-001.json", "summary-002.json",
			"transcript-final-001.jsonl", "transcript-final-002.jsonl", "transcript-pre-compact-001.jsonl", "transcript-pre-compact-002.jsonl",
		}
		if diff := cmp.Diff(want, names(t, s)); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
		if s.Key().String() != "%52un%2f1" {
			t.Errorf("the folder is %q", s.Key())
		}
	})
}

func TestWrittenReportsTheContentOfTheFile(t *testing.T) {
	root := t.TempDir()
	a, err := fs.Open(root)
	must(t, err)
	t.Cleanup(func() { must(t, a.Close()) })
	s := session(t, a, "s")
	w, err := s.Transcript(t.Context(), 1, lines("t", 1000))
	must(t, err)
	data := content(t, s, "transcript-pre-compact-001.jsonl")
	sum := sha256.Sum256([]byte(data))
	want := record.Written{
		Key: mustKey(t, "s/transcript-pre-compact-001.jsonl"), Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:]),
		Location: root + "/s/transcript-pre-compact-001.jsonl",
	}
	if w != want {
		t.Errorf("got %+v, want %+v", w, want)
	}
	if n := strings.Count(data, "\n"); n != 1000 || !strings.HasPrefix(data, lines("t", 1)[0].String()+"\n") {
		t.Errorf("%d lines, the first of them %.60q", n, data)
	}
}

func TestTranscriptIgnoresLeftoversOfACrash(t *testing.T) {
	archives(t, func(t *testing.T, a storage.Archive) {
		must(t, second(session(t, a, "s").Transcript(t.Context(), 1, lines("crashed", 2))))
		must(t, second(session(t, a, "s").Summary(t.Context(), 1, text(`{"crashed":1}`))))
		s := session(t, a, "s")
		w, err := s.Transcript(t.Context(), 1, lines("second", 2))
		must(t, err)
		if w.Key.Base() != "transcript-pre-compact-001.2.jsonl" {
			t.Errorf("the second attempt is %s", w.Key)
		}
		w, err = s.Transcript(t.Context(), 1, lines("third", 2))
		must(t, err)
		if w.Key.Base() != "transcript-pre-compact-001.3.jsonl" {
			t.Errorf("the third attempt is %s", w.Key)
		}
		if got := content(t, s, "transcript-pre-compact-001.jsonl"); !strings.Contains(got, "crashed") {
			t.Errorf("the leftover of the crash is now %q", got)
		}
		manifest := content(t, s, "manifest.jsonl")
		for _, name := range names(t, s) {
			if n := strings.Count(manifest, `"name":"`+name+`"`); name != "manifest.jsonl" && n != 1 {
				t.Errorf("%s was announced %d times", name, n)
			}
		}
	})
}

func TestCommitHasOneWinnerAndNoHoles(t *testing.T) {
	archives(t, func(t *testing.T, a storage.Archive) {
		const writers, steps = 4, 5
		var mu sync.Mutex
		ledger := map[int]string{}
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				s := session(t, a, "s")
				for {
					n, err := s.Head(t.Context())
					if err != nil || n >= steps {
						report(t, err)
						return
					}
					body := fmt.Sprintf(`{"by":%d,"step":%d}`, w, n+1)
					if _, err := s.Transcript(t.Context(), n+1, lines(body[1:5], 2)); err != nil {
						report(t, err)
						return
					}
					_, err = s.Commit(t.Context(), n+1, text("%s", body))
					if errors.Is(err, storage.ErrExists) {
						continue
					}
					report(t, err)
					mu.Lock()
					if other, ok := ledger[n+1]; ok {
						t.Errorf("step %d was committed twice: %s and %s", n+1, other, body)
					}
					ledger[n+1] = body
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		got := map[int]string{}
		for l, err := range session(t, a, "s").Ledgers(t.Context(), 1) {
			must(t, err)
			got[l.Step] = string(l.Data)
		}
		if diff := cmp.Diff(ledger, got); diff != "" || len(got) != steps {
			t.Errorf("ledgers (-acknowledged +read):\n%s", diff)
		}
	})
}

func TestCommitRequiresThePreviousStepAndAnArchivedFile(t *testing.T) {
	archives(t, func(t *testing.T, a storage.Archive) {
		s := session(t, a, "s")
		ledger := text(`{"v":1}`)
		commit := func(n int) error { return second(s.Commit(t.Context(), n, ledger)) }
		if err := commit(1); !errors.Is(err, record.ErrStep) {
			t.Errorf("nothing is archived: %v, want ErrStep", err)
		}
		must(t, second(s.Summary(t.Context(), 1, text(`{}`))))
		if err := commit(1); !errors.Is(err, record.ErrStep) {
			t.Errorf("only a summary is archived: %v, want ErrStep", err)
		}
		must(t, second(s.Originals(t.Context(), 2, lines("o", 1))))
		if err := commit(2); !errors.Is(err, record.ErrStep) {
			t.Errorf("step 1 is not committed: %v, want ErrStep", err)
		}
		for _, n := range []int{0, -1} {
			if err := commit(n); !errors.Is(err, record.ErrStep) {
				t.Errorf("step %d: %v, want ErrStep", n, err)
			}
			if _, err := s.Transcript(t.Context(), n, nil); !errors.Is(err, record.ErrStep) {
				t.Errorf("transcript of step %d: %v, want ErrStep", n, err)
			}
		}
		must(t, second(s.Transcript(t.Context(), 1, lines("t", 1))))
		must(t, commit(1))
		if err := commit(1); !errors.Is(err, storage.ErrExists) {
			t.Errorf("step 1 again: %v, want ErrExists", err)
		}
		must(t, commit(2))
	})
}

func TestHeadFindsTheLastStepFromAnywhere(t *testing.T) {
	a := memory.New()
	s := session(t, a, "s")
	early := session(t, a, "s")
	for n := 1; n <= 21; n++ {
		must(t, second(s.Transcript(t.Context(), n, nil)))
		must(t, second(s.Commit(t.Context(), n, text(`{}`))))
		for _, who := range []*record.Session{session(t, a, "s"), early, s} {
			got, err := who.Head(t.Context())
			must(t, err)
			if got != n {
				t.Fatalf("Head is %d after step %d", got, n)
			}
		}
	}
	if got, err := session(t, a, "other").Head(t.Context()); got != 0 || err != nil {
		t.Errorf("Head of a session without steps: %d, %v; want 0 and no error", got, err)
	}
}

func TestLedgersBeginWhereAsked(t *testing.T) {
	a := memory.New()
	s := session(t, a, "s")
	for n := 1; n <= 4; n++ {
		step(t, s, n)
	}
	for from, want := range map[int]int{-3: 4, 0: 4, 1: 4, 3: 2, 4: 1, 5: 0, 99: 0} {
		n := 0
		for l, err := range s.Ledgers(t.Context(), from) {
			must(t, err)
			if l.Step < from || string(l.Data) != fmt.Sprintf(`{"v":1,"step":%d}`, l.Step) {
				t.Errorf("from %d: step %d is %s", from, l.Step, l.Data)
			}
			n++
		}
		if n != want {
			t.Errorf("from %d: %d ledgers, want %d", from, n, want)
		}
	}
}

func TestEventsAreReadByteForByte(t *testing.T) {
	archives(t, func(t *testing.T, a storage.Archive) {
		want := []string{`{}`, `{ }`, `{"a":1}`, `{ "prev":"mine","seq":"x" }`, `{"torn":{"bytes":5,"sha256":"x"}}`, `{"t":"\n\u0000é"}`}
		s := session(t, a, "s")
		for _, l := range want {
			must(t, s.Events(t.Context(), []redact.Text{text("%s", l)}))
		}
		must(t, session(t, a, "s").Events(t.Context(), []redact.Text{text(`{"last":1}`), text(`{"last":2}`)}))
		want = append(want, `{"last":1}`, `{"last":2}`)
		var got []string
		for l, err := range s.EventLines(t.Context()) {
			must(t, err)
			got = append(got, string(l))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("lines (-want +got):\n%s", diff)
		}
	})
}

func TestJournalIsReadByteForByte(t *testing.T) {
	s := session(t, memory.New(), "s")
	want := lines("j", 3)
	must(t, s.Journal(t.Context(), want[:1]))
	must(t, s.Journal(t.Context(), nil))
	must(t, s.Journal(t.Context(), want[1:]))
	i := 0
	for l, err := range s.JournalLines(t.Context()) {
		must(t, err)
		if string(l) != want[i].String() {
			t.Errorf("line %d is %s", i+1, l)
		}
		i++
	}
	if i != len(want) {
		t.Errorf("%d lines, want %d", i, len(want))
	}
	for range s.JournalLines(t.Context()) {
		break // must not panic
	}
}

func TestErrorsNameOperationPlaceAndCause(t *testing.T) {
	a := memory.New()
	s := session(t, a, "s")
	_, err := s.Open(t.Context(), "ledger-001.json", 0, -1)
	if got, want := fmt.Sprint(err), "storage: open s/ledger-001.json: does not exist"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	_, err = s.Open(t.Context(), "../x", 0, -1)
	if got, want := fmt.Sprint(err), `storage: "../x" is not a key: a segment begins with a dot`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := fmt.Sprint(&storage.Error{Op: "list", Err: errDisk}), "storage: list: disk on fire"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	_, err = storage.ParseKey(strings.Repeat("ä", 100))
	if len(fmt.Sprint(err)) > 400 {
		t.Errorf("the error quotes too much: %v", err)
	}
}

func TestSessionReportsItsLocation(t *testing.T) {
	if got := session(t, memory.New(), "A").Location(); got != "%41" {
		t.Errorf("in memory: %q, want %q", got, "%41")
	}
	root := t.TempDir()
	a, err := fs.Open(root)
	must(t, err)
	t.Cleanup(func() { must(t, a.Close()) })
	if got := session(t, a, "A").Location(); got != root+"/%41" {
		t.Errorf("in a folder: %q", got)
	}
}

// deaf is an archive whose files can't be opened.
type deaf struct{ storage.Archive }

func (deaf) Open(_ context.Context, k storage.Key, _, _ int64) (io.ReadCloser, error) {
	return nil, &storage.Error{Op: "open", Key: k, Err: errDisk}
}

func TestArchiveThatCannotBeReadIsAnErrorEverywhere(t *testing.T) {
	below := memory.New()
	s := session(t, below, "s")
	step(t, s, 1)
	if _, err := record.OpenSession(t.Context(), deaf{below}, "s"); !errors.Is(err, errDisk) {
		t.Errorf("OpenSession: %v, want errDisk", err)
	}
	r := verify(t, deaf{below}, "s", record.VerifyOptions{})
	unreadable := 0
	for _, p := range r.Problems {
		if p.Kind == record.Unreadable && strings.HasSuffix(p.String(), "disk on fire") {
			unreadable++
		}
	}
	if unreadable != len(r.Files) {
		t.Errorf("%d of %d files are said to be unreadable: %v", unreadable, len(r.Files), r.Problems)
	}
	for r, err := range record.Prune(t.Context(), removing{deaf{below}, below}, record.PruneOptions{Before: time.Now().Add(time.Hour)}) {
		if err != nil || r.Outcome != record.KeptFailed || !errors.Is(r.Err, errDisk) {
			t.Errorf("Prune: %+v, %v", r, err)
		}
	}
	wantOK(t, below, "s")
}

type removing struct {
	storage.Archive
	storage.Remover
}

func TestLogsAndTranscriptsRefuseInvalidLines(t *testing.T) {
	a := memory.New()
	s := session(t, a, "s")
	for _, l := range []string{"", "null", "1", `"x"`, "[]", `{"a":1`, "{}\n{}", "{}{}", " {}", "{\n}"} {
		err := s.Events(t.Context(), []redact.Text{text(`{"fine":1}`), text("%s", l)})
		if !errors.Is(err, record.ErrLine) {
			t.Errorf("%q: %v, want ErrLine", l, err)
		}
	}
	if got := names(t, s); len(got) > 0 {
		t.Errorf("refused lines made %q", got)
	}
	if _, err := s.Transcript(t.Context(), 1, []redact.Text{text("a\nb")}); !errors.Is(err, record.ErrLine) {
		t.Errorf("a transcript line with a line feed: %v, want ErrLine", err)
	}
	for _, pieces := range [][]redact.Text{{text("a\nb")}, {text("a"), text("\n")}} {
		var c record.Content
		c.Line(pieces...)
		if _, err := s.TranscriptOf(t.Context(), 1, &c); !errors.Is(err, record.ErrLine) {
			t.Errorf("%q as pieces of a transcript: %v, want ErrLine", pieces, err)
		}
	}
	if _, err := s.Final(t.Context(), []redact.Text{text("a\nb")}); !errors.Is(err, record.ErrLine) {
		t.Errorf("a final transcript line with a line feed: %v, want ErrLine", err)
	}
}

func TestSeveralSessionsWriteOneLog(t *testing.T) {
	archives(t, func(t *testing.T, a storage.Archive) {
		const writers, each = 3, 20
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				s := session(t, a, "s")
				for i := range each {
					report(t, s.Events(t.Context(), []redact.Text{text(`{"w":%d,"i":%d}`, w, i)}))
				}
			})
		}
		wg.Wait()
		seen := map[string]int{}
		for l, err := range session(t, a, "s").EventLines(t.Context()) {
			must(t, err)
			seen[string(l)]++
		}
		if len(seen) != writers*each {
			t.Errorf("%d different lines, want %d", len(seen), writers*each)
		}
		wantOK(t, a, "s")
	})
}

func TestManifestHeadIsTheHashOfItsLastLine(t *testing.T) {
	a := memory.New()
	s := session(t, a, "s")
	if got := s.ManifestHead(); got != "" {
		t.Errorf("ManifestHead of nothing is %q, want none", got)
	}
	step(t, s, 1)
	data := strings.TrimSuffix(content(t, s, "manifest.jsonl"), "\n")
	sum := sha256.Sum256([]byte(data[strings.LastIndexByte(data, '\n')+1:]))
	want := hex.EncodeToString(sum[:])
	if got := s.ManifestHead(); got != want {
		t.Errorf("ManifestHead is %s, want %s", got, want)
	}
	if got := session(t, a, "s").ManifestHead(); got != want {
		t.Errorf("ManifestHead of another Session is %s, want %s", got, want)
	}
}

func TestOpenDirAcceptsListedNames(t *testing.T) {
	a := memory.New()
	id := strings.Repeat("Long ", 100)
	step(t, session(t, a, id), 1)
	s, err := record.OpenDir(t.Context(), a, record.EscapeSession(id))
	must(t, err)
	if n, err := s.Head(t.Context()); n != 1 || err != nil {
		t.Errorf("Head is %d, %v; want 1 and no error", n, err)
	}
	for _, dir := range []string{"", "a/b", "Long", "%41%", "_erased.jsonl", "a~b"} {
		if _, err := record.OpenDir(t.Context(), a, dir); err == nil {
			t.Errorf("%q was opened", dir)
		}
	}
	if _, err := record.OpenSession(t.Context(), a, ""); err == nil {
		t.Error("the empty session was opened")
	}
}
