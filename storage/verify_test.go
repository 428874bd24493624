package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
)

func verify(t *testing.T, a storage.Archive, id string, opts storage.VerifyOptions) storage.Report {
	t.Helper()
	r, err := storage.Verify(t.Context(), a, id, opts)
	must(t, err)
	return r
}

// wantOK checks that a session verifies.
func wantOK(t *testing.T, a storage.Archive, id string) storage.Report {
	t.Helper()
	r := verify(t, a, id, storage.VerifyOptions{})
	for _, p := range r.Problems {
		t.Errorf("verify: %s", p)
	}
	return r
}

// stored is a session on disk that tests can tamper with.
type stored struct {
	t    *testing.T
	root string
	dir  string
	a    *fs.Archive
	head string
}

// newStored archives three steps, an abandoned attempt and a final transcript.
func newStored(t *testing.T) *stored {
	t.Helper()
	root := t.TempDir()
	a, err := fs.Open(root)
	must(t, err)
	t.Cleanup(func() { must(t, a.Close()) })
	s := session(t, a, "s")
	step(t, s, 1)
	must(t, second(session(t, a, "s").Transcript(t.Context(), 2, lines("lost", 2))))
	step(t, s, 2)
	must(t, s.Journal(t.Context(), lines("j", 5)))
	step(t, s, 3)
	must(t, s.Events(t.Context(), lines("late", 3)))
	must(t, second(s.Final(t.Context(), lines("f", 4))))
	return &stored{t, root, filepath.Join(root, "s"), a, s.ManifestHead()}
}

func (s *stored) path(name string) string { return filepath.Join(s.dir, name) }

func (s *stored) read(name string) []byte {
	s.t.Helper()
	b, err := os.ReadFile(s.path(name))
	must(s.t, err)
	return b
}

func (s *stored) write(name string, data []byte) {
	s.t.Helper()
	must(s.t, os.WriteFile(s.path(name), data, 0o600))
}

// lines lets change work on the lines of a file.
func (s *stored) lines(name string, change func(lines [][]byte) [][]byte) {
	s.t.Helper()
	s.write(name, bytes.Join(change(bytes.SplitAfter(s.read(name), []byte("\n"))), nil))
}

func TestVerifyAcceptsWhatWasStored(t *testing.T) {
	s := newStored(t)
	for _, head := range []string{"", s.head} {
		r := verify(t, s.a, "s", storage.VerifyOptions{Head: head})
		if !r.OK() || r.TailProven != (head != "") || r.Steps != 3 || r.Head != s.head || r.Newer != 0 {
			t.Errorf("head %q: %+v", head, r)
		}
		if unproven := slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "tail is not proven") }); unproven != (head == "") {
			t.Errorf("head %q: notes %q", head, r.Notes)
		}
		if diff := cmp.Diff([]string{"transcript-pre-compact-002.jsonl"}, r.Abandoned()); diff != "" {
			t.Errorf("abandoned (-want +got):\n%s", diff)
		}
		states := map[storage.FileState]int{}
		for _, f := range r.Files {
			states[f.State]++
		}
		want := map[storage.FileState]int{storage.StateLog: 3, storage.StateStored: 10, storage.StateAbandoned: 1}
		if diff := cmp.Diff(want, states); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
	}
}

func TestVerifyOfNothingIsErrNotExist(t *testing.T) {
	_, err := storage.Verify(t.Context(), memory.New(), "s", storage.VerifyOptions{})
	if !errors.Is(err, storage.ErrNotExist) {
		t.Errorf("got %v, want ErrNotExist", err)
	}
}

// find is a problem that must be among those reported.
type find struct {
	kind storage.ProblemKind
	file string
	line int // 0: of the whole file
}

// tampering is everything somebody could do to a stored session, and how it is
// named.
var tampering = []struct {
	name string
	do   func(s *stored)
	want []find
}{
	{"a transcript is removed", func(s *stored) { must(s.t, os.Remove(s.path("transcript-pre-compact-001.jsonl"))) },
		[]find{{storage.Removed, "transcript-pre-compact-001.jsonl", 0}}},
	{"a summary is removed", func(s *stored) { must(s.t, os.Remove(s.path("summary-002.json"))) },
		[]find{{storage.Removed, "summary-002.json", 0}}},
	{"the last ledger is removed", func(s *stored) { must(s.t, os.Remove(s.path("ledger-003.json"))) },
		[]find{{storage.Removed, "ledger-003.json", 0}}},
	{"a ledger in the middle is removed", func(s *stored) { must(s.t, os.Remove(s.path("ledger-002.json"))) },
		[]find{{storage.Removed, "ledger-002.json", 0}}},
	{"the final transcript is removed", func(s *stored) { must(s.t, os.Remove(s.path("transcript-final-001.jsonl"))) },
		[]find{{storage.Removed, "transcript-final-001.jsonl", 0}}},
	{"the manifest is removed", func(s *stored) { must(s.t, os.Remove(s.path("manifest.jsonl"))) },
		[]find{{storage.Removed, "manifest.jsonl", 0}}},
	{"the events are removed", func(s *stored) { must(s.t, os.Remove(s.path("events.jsonl"))) },
		[]find{{storage.Removed, "events.jsonl", 0}}},
	{"the journal is removed", func(s *stored) { must(s.t, os.Remove(s.path("journal.jsonl"))) },
		[]find{{storage.Removed, "journal.jsonl", 0}}},
	{"a transcript is added", func(s *stored) { s.write("transcript-pre-compact-004.jsonl", []byte("{}\n")) },
		[]find{{storage.Added, "transcript-pre-compact-004.jsonl", 0}}},
	{"an attempt is added", func(s *stored) {
		s.write("transcript-pre-compact-001.2.jsonl", s.read("transcript-pre-compact-001.jsonl"))
	},
		[]find{{storage.Added, "transcript-pre-compact-001.2.jsonl", 0}}},
	{"a ledger is added", func(s *stored) { s.write("ledger-004.json", []byte("{}")) },
		[]find{{storage.Added, "ledger-004.json", 0}}},
	{"something strange is added", func(s *stored) { s.write("Notes from me.txt", nil) },
		[]find{{storage.Added, "Notes from me.txt", 0}}},
	{"a folder is added", func(s *stored) {
		must(s.t, os.Mkdir(s.path("more"), 0o700))
		s.write("more/ledger-001.json", nil)
	}, []find{{storage.Added, "more/ledger-001.json", 0}}},
	{"a file becomes a link", func(s *stored) {
		must(s.t, os.Remove(s.path("summary-001.json")))
		must(s.t, os.Symlink("summary-002.json", s.path("summary-001.json")))
	}, []find{{storage.Added, "summary-001.json", 0}}},
	{"one byte of a transcript is changed", func(s *stored) {
		b := s.read("transcript-pre-compact-002.2.jsonl")
		b[len(b)/2] ^= 1
		s.write("transcript-pre-compact-002.2.jsonl", b)
	}, []find{{storage.Changed, "transcript-pre-compact-002.2.jsonl", 0}}},
	{"one byte of an abandoned file is changed", func(s *stored) {
		b := s.read("transcript-pre-compact-002.jsonl")
		b[3] ^= 1
		s.write("transcript-pre-compact-002.jsonl", b)
	}, []find{{storage.Changed, "transcript-pre-compact-002.jsonl", 0}}},
	{"a ledger is changed", func(s *stored) { s.write("ledger-002.json", []byte(`{"v":1,"step":9}`)) },
		[]find{{storage.Changed, "ledger-002.json", 0}}},
	{"a transcript is truncated", func(s *stored) { must(s.t, os.Truncate(s.path("transcript-pre-compact-001.jsonl"), 7)) },
		[]find{{storage.Truncated, "transcript-pre-compact-001.jsonl", 0}}},
	{"a final transcript is emptied", func(s *stored) { must(s.t, os.Truncate(s.path("transcript-final-001.jsonl"), 0)) },
		[]find{{storage.Truncated, "transcript-final-001.jsonl", 0}}},
	{"a transcript grows", func(s *stored) {
		s.write("transcript-pre-compact-001.jsonl", append(s.read("transcript-pre-compact-001.jsonl"), "{}\n"...))
	}, []find{{storage.Changed, "transcript-pre-compact-001.jsonl", 0}}},
	{"two files are swapped", func(s *stored) {
		one, two := s.read("transcript-pre-compact-001.jsonl"), s.read("transcript-pre-compact-003.jsonl")
		s.write("transcript-pre-compact-001.jsonl", two)
		s.write("transcript-pre-compact-003.jsonl", one)
	}, []find{{storage.Changed, "transcript-pre-compact-001.jsonl", 0}, {storage.Changed, "transcript-pre-compact-003.jsonl", 0}}},
	{"an event is removed", func(s *stored) { s.lines("events.jsonl", func(l [][]byte) [][]byte { return slices.Delete(l, 2, 3) }) },
		[]find{{storage.Removed, "events.jsonl", 3}}},
	{"the first event is removed", func(s *stored) { s.lines("events.jsonl", func(l [][]byte) [][]byte { return l[1:] }) },
		[]find{{storage.Removed, "events.jsonl", 1}}},
	{"two events are removed", func(s *stored) { s.lines("events.jsonl", func(l [][]byte) [][]byte { return slices.Delete(l, 2, 4) }) },
		[]find{{storage.Removed, "events.jsonl", 3}, {storage.Removed, "events.jsonl", 3}}},
	{"an event is changed", func(s *stored) {
		s.write("events.jsonl", bytes.Replace(s.read("events.jsonl"), []byte("e2 0"), []byte("e2 7"), 1))
	},
		[]find{{storage.Changed, "events.jsonl", 3}}},
	{"an event becomes garbage", func(s *stored) {
		s.lines("events.jsonl", func(l [][]byte) [][]byte { l[3] = []byte("garbage\n"); return l })
	}, []find{{storage.Changed, "events.jsonl", 4}}},
	{"two events are swapped", func(s *stored) {
		s.lines("events.jsonl", func(l [][]byte) [][]byte { l[2], l[3] = l[3], l[2]; return l })
	}, []find{{storage.Reordered, "events.jsonl", 4}}},
	{"an event comes twice", func(s *stored) {
		s.lines("events.jsonl", func(l [][]byte) [][]byte { return slices.Insert(l, 4, l[2]) })
	},
		[]find{{storage.Added, "events.jsonl", 5}}},
	{"garbage is added to the events", func(s *stored) {
		s.lines("events.jsonl", func(l [][]byte) [][]byte { return slices.Insert(l, 3, []byte("garbage\n")) })
	}, []find{{storage.Added, "events.jsonl", 4}}},
	{"the events end early", func(s *stored) { s.lines("events.jsonl", func(l [][]byte) [][]byte { return l[:5] }) },
		[]find{{storage.Truncated, "events.jsonl", 0}}},
	{"the last event is cut", func(s *stored) { must(s.t, os.Truncate(s.path("events.jsonl"), int64(len(s.read("events.jsonl"))-9))) },
		[]find{{storage.Truncated, "events.jsonl", 0}}},
	{"the last event is changed", func(s *stored) {
		s.write("events.jsonl", bytes.Replace(s.read("events.jsonl"), []byte("late 2"), []byte("late 3"), 1))
	},
		[]find{{storage.Changed, "events.jsonl", 9}}},
	{"the events are those of another session", func(s *stored) {
		other := session(s.t, s.a, "other")
		step(s.t, other, 1)
		b, err := os.ReadFile(filepath.Join(s.root, "other", "events.jsonl"))
		must(s.t, err)
		s.write("events.jsonl", b)
	}, []find{{storage.Changed, "events.jsonl", 1}, {storage.Truncated, "events.jsonl", 0}}},
	{"a line of the manifest is removed", func(s *stored) {
		s.lines("manifest.jsonl", func(l [][]byte) [][]byte { return slices.Delete(l, 1, 2) })
	},
		[]find{{storage.Removed, "manifest.jsonl", 2}}},
	{"a line of the manifest is changed", func(s *stored) {
		s.write("manifest.jsonl", bytes.Replace(s.read("manifest.jsonl"), []byte(`"op":"put"`), []byte(`"op":"tup"`), 1))
	}, []find{{storage.Changed, "manifest.jsonl", 1}}},
	{"lines of the manifest are swapped", func(s *stored) {
		s.lines("manifest.jsonl", func(l [][]byte) [][]byte { l[4], l[5] = l[5], l[4]; return l })
	}, []find{{storage.Reordered, "manifest.jsonl", 6}}},
}

func TestVerifyNamesWhatWasDone(t *testing.T) {
	for _, c := range tampering {
		t.Run(c.name, func(t *testing.T) {
			s := newStored(t)
			c.do(s)
			for _, head := range []string{"", s.head} {
				r := verify(t, s.a, "s", storage.VerifyOptions{Head: head})
				if r.OK() {
					t.Fatalf("head %q: it was not seen", head)
				}
				left := slices.Clone(r.Problems)
				for _, w := range c.want {
					i := slices.IndexFunc(left, func(p storage.Problem) bool { return find{p.Kind, p.File, p.Line} == w })
					if i < 0 {
						t.Errorf("head %q: %+v is not among %v", head, w, r.Problems)
						continue
					}
					left = slices.Delete(left, i, i+1)
				}
				if len(left) > 2 {
					t.Errorf("head %q: one deed makes %d more problems: %v", head, len(left), left)
				}
			}
		})
	}
}

func TestVerifySeesACutTailOnlyWithAHead(t *testing.T) {
	s := newStored(t)
	// Everything after step 2 goes, consistently.
	data := s.read("manifest.jsonl")
	i := bytes.Index(data, []byte(`"name":"transcript-pre-compact-003.jsonl"`))
	s.write("manifest.jsonl", data[:bytes.LastIndexByte(data[:i], '\n')+1])
	for _, name := range []string{"transcript-pre-compact-003.jsonl", "summary-003.json", "ledger-003.json", "transcript-final-001.jsonl", "journal.jsonl"} {
		must(t, os.Remove(s.path(name)))
	}
	r := verify(t, s.a, "s", storage.VerifyOptions{})
	if !r.OK() || r.TailProven || len(r.Notes) == 0 {
		t.Errorf("without a head: %+v", r)
	}
	r = verify(t, s.a, "s", storage.VerifyOptions{Head: s.head})
	if r.OK() || r.TailProven || r.Problems[0].File != "manifest.jsonl" || r.Problems[0].Kind != storage.Truncated {
		t.Errorf("with a head: %+v", r)
	}
}

func TestVerifySaysHowMuchIsNewerThanTheHead(t *testing.T) {
	a := memory.New()
	s := session(t, a, "s")
	step(t, s, 1)
	head := s.ManifestHead()
	step(t, s, 2)
	r := verify(t, a, "s", storage.VerifyOptions{Head: head})
	if !r.OK() || r.TailProven || r.Newer != 5 {
		t.Errorf("%+v", r)
	}
}

func TestVerifyResolvesWhatLedgersReferTo(t *testing.T) {
	s := newStored(t)
	ref := storage.Ref{File: "transcript-pre-compact-001.jsonl", Off: 3, Len: 20}
	for name, c := range map[string]struct {
		change func(r *storage.Ref)
		want   storage.ProblemKind
	}{
		"there":         {func(*storage.Ref) {}, ""},
		"a file absent": {func(r *storage.Ref) { r.File = "transcript-pre-compact-009.jsonl" }, storage.Removed},
		"a wrong hash":  {func(r *storage.Ref) { r.SHA256 = strings.Repeat("0", 64) }, storage.Changed},
		"beyond":        {func(r *storage.Ref) { r.Off = 1 << 20 }, storage.Truncated},
		"a path":        {func(r *storage.Ref) { r.File = "../../etc/passwd" }, storage.Unreadable},
		"negative":      {func(r *storage.Ref) { r.Off = -5 }, storage.Unreadable},
	} {
		asked := 0
		r := verify(t, s.a, "s", storage.VerifyOptions{Refs: func(l storage.Ledger) ([]storage.Ref, error) {
			asked++
			if l.Step != 2 {
				return nil, nil
			}
			ref := ref
			c.change(&ref)
			return []storage.Ref{ref}, nil
		}})
		if asked != 3 {
			t.Errorf("%s: %d ledgers were looked into", name, asked)
		}
		if c.want == "" != r.OK() || c.want != "" && r.Problems[0].Kind != c.want {
			t.Errorf("%s: %v, want %q", name, r.Problems, c.want)
		}
	}
	r := verify(t, s.a, "s", storage.VerifyOptions{Refs: func(storage.Ledger) ([]storage.Ref, error) { return nil, errDisk }})
	if len(r.Problems) != 3 || r.Problems[0].Kind != storage.Unreadable {
		t.Errorf("ledgers that cannot be understood: %v", r.Problems)
	}
}

func TestVerifyReportsProgress(t *testing.T) {
	s := newStored(t)
	last, calls := int64(0), 0
	r := verify(t, s.a, "s", storage.VerifyOptions{Progress: func(done, total int64) {
		if done < last || done > total {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
		calls++
	}})
	if last != r.Bytes || calls < len(r.Files) {
		t.Errorf("progress ended at %d after %d calls, the files hold %d bytes", last, calls, r.Bytes)
	}
}

func TestLostRaceIsAbandonedAndVerifies(t *testing.T) {
	a := memory.New()
	one, two := session(t, a, "s"), session(t, a, "s")
	must(t, second(one.Transcript(t.Context(), 1, lines("one", 2))))
	must(t, second(two.Transcript(t.Context(), 1, lines("two", 2))))
	must(t, second(two.Commit(t.Context(), 1, text(`{"by":2}`))))
	if _, err := one.Commit(t.Context(), 1, text(`{"by":1}`)); !errors.Is(err, storage.ErrExists) {
		t.Errorf("the loser got %v, want ErrExists", err)
	}
	r := wantOK(t, a, "s")
	if diff := cmp.Diff([]string{"transcript-pre-compact-001.jsonl"}, r.Abandoned()); diff != "" {
		t.Errorf("abandoned (-want +got):\n%s", diff)
	}
}

func TestLosersLedgerInThePlaceOfTheWinnersIsSeen(t *testing.T) {
	s := newStored(t)
	// Both announce step 4; the winner's is then replaced by the loser's.
	racing := &failing{Archive: s.a}
	loser, winner := session(t, racing, "s"), session(t, s.a, "s")
	must(t, second(loser.Transcript(t.Context(), 4, lines("l", 1))))
	must(t, second(winner.Transcript(t.Context(), 4, lines("w", 1))))
	racing.fail = func(op string, k storage.Key) error {
		if op == "create" {
			must(t, second(winner.Commit(t.Context(), 4, text(`{"by":"winner"}`))))
		}
		return nil
	}
	if _, err := loser.Commit(t.Context(), 4, text(`{"by":"loser"}`)); !errors.Is(err, storage.ErrExists) {
		t.Fatalf("the loser got %v, want ErrExists", err)
	}
	wantOK(t, s.a, "s")
	s.write("ledger-004.json", []byte(`{"by":"loser"}`))
	r := verify(t, s.a, "s", storage.VerifyOptions{})
	if r.OK() || r.Problems[0].File != "ledger-004.json" {
		t.Errorf("problems: %v", r.Problems)
	}
}

// TestTornTailIsClosedAndTold cuts the log at every byte, as a crash in the
// middle of an append would, and goes on with another process.
func TestTornTailIsClosedAndTold(t *testing.T) {
	for _, name := range []string{"events.jsonl", "manifest.jsonl"} {
		whole := memory.New()
		s := session(t, whole, "s")
		step(t, s, 1)
		safe := int64(len(content(t, s, name)))
		must(t, s.Events(t.Context(), []redact.Text{text(`{"n":1}`), text(`{"n":2}`)}))
		if name == "manifest.jsonl" {
			must(t, s.Checkpoint(t.Context()))
		}
		data := content(t, s, name)
		for cut := safe; cut <= int64(len(data)); cut++ {
			a := memory.New()
			copySession(t, whole, a, name, data[:cut])
			again := session(t, a, "s")
			must(t, again.Events(t.Context(), []redact.Text{text(`{"after":1}`)}))
			step(t, again, 2)
			for _, p := range verify(t, a, "s", storage.VerifyOptions{}).Problems {
				t.Fatalf("%s cut at %d of %d: %s", name, cut, len(data), p)
			}
			for l, err := range again.EventLines(t.Context()) {
				must(t, err)
				if !bytes.HasPrefix(l, []byte("{")) || bytes.Contains(l, []byte("torn")) {
					t.Fatalf("%s cut at %d: the line %s", name, cut, l)
				}
			}
		}
	}
}

// copySession copies all files but one, which gets other content.
func copySession(t *testing.T, from, to storage.Archive, name, data string) {
	t.Helper()
	s := session(t, from, "s")
	for info, err := range s.Files(t.Context()) {
		must(t, err)
		body := content(t, s, info.Key.Base())
		if info.Key.Base() == name {
			body = data
		}
		must(t, to.Create(t.Context(), info.Key, storage.Redacted(text("%s", body))))
	}
}

func TestTornLineCannotExcuseWhatWasPutThereLater(t *testing.T) {
	s := newStored(t)
	whole := s.read("events.jsonl")
	s.write("events.jsonl", append(whole, `{"seq":10,"prev":"`...))
	must(t, session(t, s.a, "s").Events(t.Context(), []redact.Text{text(`{"after":1}`)}))
	r := wantOK(t, s.a, "s")
	if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "line 10") && strings.Contains(n, "crash") }) {
		t.Errorf("the torn line is not told: %q", r.Notes)
	}
	s.write("events.jsonl", bytes.Replace(s.read("events.jsonl"), []byte(`{"seq":10,"prev":"`+"\n"), []byte(`{"seq":10,"prev":"evil`+"\n"), 1))
	if r := verify(t, s.a, "s", storage.VerifyOptions{}); r.OK() {
		t.Error("the torn bytes are others now, and nobody sees it")
	}
}

func TestVerifySeesThatAFolderIsAnotherSessions(t *testing.T) {
	s := newStored(t)
	must(t, os.Rename(s.dir, filepath.Join(s.root, "s2")))
	r := verify(t, s.a, "s2", storage.VerifyOptions{})
	for _, name := range []string{"manifest.jsonl", "events.jsonl", "journal.jsonl"} {
		if !slices.ContainsFunc(r.Problems, func(p storage.Problem) bool { return p.File == name && p.Kind == storage.Changed && p.Line == 1 }) {
			t.Errorf("%s is not named in %v", name, r.Problems)
		}
	}
}

func TestVerifyWhileOthersWrite(t *testing.T) {
	a := memory.New()
	s := session(t, a, "s")
	step(t, s, 1)
	done := make(chan error, 1)
	go func() {
		for n := 2; n < 60; n++ {
			if err := tryStep(t.Context(), s, n); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for i := 0; ; i++ {
		select {
		case err := <-done:
			must(t, err)
			if i == 0 {
				t.Log("the writer was done before the first look")
			}
			return
		default:
			wantOK(t, a, "s")
		}
	}
}

func ExampleVerify() {
	ctx := context.Background()
	a := memory.New()
	s, err := storage.OpenSession(ctx, a, "run-1")
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := s.Final(ctx, []redact.Text{redact.Lit(`{"role":"user","content":"hello"}`)}); err != nil {
		fmt.Println(err)
		return
	}
	report, err := storage.Verify(ctx, a, "run-1", storage.VerifyOptions{Head: s.ManifestHead()})
	fmt.Println(report.OK(), report.TailProven, err)
	// Output: true true <nil>
}
