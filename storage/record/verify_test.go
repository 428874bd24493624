package record_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
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
	"github.com/agentcompact/compact/storage/record"
)

func verify(t *testing.T, a storage.Archive, id string, opts record.VerifyOptions) record.Report {
	t.Helper()
	r, err := record.Verify(t.Context(), a, id, opts)
	must(t, err)
	return r
}

// wantOK checks that a session verifies.
func wantOK(t *testing.T, a storage.Archive, id string) record.Report {
	t.Helper()
	r := verify(t, a, id, record.VerifyOptions{})
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

// lines applies change to the lines of a file.
func (s *stored) lines(name string, change func(lines [][]byte) [][]byte) {
	s.t.Helper()
	s.write(name, bytes.Join(change(bytes.SplitAfter(s.read(name), []byte("\n"))), nil))
}

func TestVerifyAcceptsStoredSessions(t *testing.T) {
	s := newStored(t)
	for _, head := range []string{"", s.head} {
		r := verify(t, s.a, "s", record.VerifyOptions{Head: head})
		if !r.OK() || r.TailProven != (head != "") || r.Steps != 3 || r.Head != s.head || r.Newer != 0 {
			t.Errorf("head %q: %+v", head, r)
		}
		if unproven := slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "end is not proven") }); unproven != (head == "") {
			t.Errorf("head %q: notes %q", head, r.Notes)
		}
		if diff := cmp.Diff([]string{"transcript-pre-compact-002.jsonl"}, r.Abandoned()); diff != "" {
			t.Errorf("abandoned (-want +got):\n%s", diff)
		}
		states := map[record.FileState]int{}
		for _, f := range r.Files {
			states[f.State]++
		}
		want := map[record.FileState]int{record.StateLog: 3, record.StateStored: 10, record.StateAbandoned: 1}
		if diff := cmp.Diff(want, states); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
	}
}

func TestVerifyOfAMissingSessionIsErrNotExist(t *testing.T) {
	_, err := record.Verify(t.Context(), memory.New(), "s", record.VerifyOptions{})
	if !errors.Is(err, storage.ErrNotExist) {
		t.Errorf("got %v, want ErrNotExist", err)
	}
}

func TestVerifyDetectsACutTailOnlyWithAHead(t *testing.T) {
	s := newStored(t)
	// Everything after step 2 is removed, consistently.
	data := s.read("manifest.jsonl")
	i := bytes.Index(data, []byte(`"name":"transcript-pre-compact-003.jsonl"`))
	s.write("manifest.jsonl", data[:bytes.LastIndexByte(data[:i], '\n')+1])
	for _, name := range []string{"transcript-pre-compact-003.jsonl", "summary-003.json", "ledger-003.json", "transcript-final-001.jsonl", "journal.jsonl"} {
		must(t, os.Remove(s.path(name)))
	}
	r := verify(t, s.a, "s", record.VerifyOptions{})
	if !r.OK() || r.TailProven || len(r.Notes) == 0 {
		t.Errorf("without a head: %+v", r)
	}
	r = verify(t, s.a, "s", record.VerifyOptions{Head: s.head})
	if r.OK() || r.TailProven || r.Problems[0].File != "manifest.jsonl" || r.Problems[0].Kind != record.Truncated {
		t.Errorf("with a head: %+v", r)
	}
}

// Beside a session that has only logs, a first line of the manifest may be incomplete
// because of a crash.
func TestVerifyDistinguishesACrashFromAnOverwrittenManifest(t *testing.T) {
	a := memory.New()
	s := session(t, a, "s")
	must(t, s.Events(t.Context(), lines("e", 2)))
	must(t, s.Checkpoint(t.Context()))
	first, err := readAll(t.Context(), s, "manifest.jsonl")
	must(t, err)
	for what, c := range map[string]struct {
		manifest string
		ok       bool
	}{
		"never written":   {"", true},
		"a beginning":     {first[:5], true},
		"the first line":  {first[:len(first)-9], true},
		"room":            {"\x00\x00\x00", true},
		"garbage":         {"garbage", false},
		"an empty line":   {"\n", false},
		"another session": {strings.Replace(first, `"prev":"`, `"prev":"0`, 1)[:99], false},
	} {
		b := memory.New()
		events, err := readAll(t.Context(), s, "events.jsonl")
		must(t, err)
		must(t, b.Create(t.Context(), mustKey(t, "s/events.jsonl"), storage.Redacted(text("%s", events))))
		must(t, b.Create(t.Context(), mustKey(t, "s/manifest.jsonl"), storage.Redacted(text("%s", c.manifest))))
		if r := verify(t, b, "s", record.VerifyOptions{}); r.OK() != c.ok {
			t.Errorf("%s: problems %v, want ok %v", what, r.Problems, c.ok)
		}
	}
}

func TestVerifyNeedsNoManifestForLogs(t *testing.T) {
	a := memory.New()
	must(t, session(t, a, "s").Events(t.Context(), lines("e", 2)))
	if r := wantOK(t, a, "s"); len(r.Notes) != 2 {
		t.Errorf("notes: %q", r.Notes)
	}
	r := verify(t, a, "s", record.VerifyOptions{Head: strings.Repeat("0", 64)})
	if len(r.Problems) != 1 || r.Problems[0].Kind != record.Removed || r.Problems[0].File != "manifest.jsonl" {
		t.Errorf("with a head but no manifest: %v, want the manifest reported as removed", r.Problems)
	}
}

func TestVerifyCountsStepsNewerThanTheHead(t *testing.T) {
	a := memory.New()
	s := session(t, a, "s")
	step(t, s, 1)
	head := s.ManifestHead()
	step(t, s, 2)
	r := verify(t, a, "s", record.VerifyOptions{Head: head})
	if !r.OK() || r.TailProven || r.Newer != 5 {
		t.Errorf("%+v, want no problems, an unproven end and 5 newer lines", r)
	}
	if want := "the end is not proven: heads confirm the first 5 of its 10 lines, and lines at the end may have been cut off"; !slices.Contains(r.Notes, want) {
		t.Errorf("%q, want %q", r.Notes, want)
	}
}

func TestVerifyResolvesReferencesOfLedgers(t *testing.T) {
	s := newStored(t)
	ref := record.Ref{File: "transcript-pre-compact-001.jsonl", Off: 3, Len: 20}
	for name, c := range map[string]struct {
		change func(r *record.Ref)
		want   record.ProblemKind
	}{
		"there":         {func(*record.Ref) {}, ""},
		"a file absent": {func(r *record.Ref) { r.File = "transcript-pre-compact-009.jsonl" }, record.Removed},
		"a wrong hash":  {func(r *record.Ref) { r.SHA256 = strings.Repeat("0", 64) }, record.Changed},
		"beyond":        {func(r *record.Ref) { r.Off = 1 << 20 }, record.Truncated},
		"a path":        {func(r *record.Ref) { r.File = "../../etc/passwd" }, record.Unreadable},
		"negative":      {func(r *record.Ref) { r.Off = -5 }, record.Unreadable},
	} {
		asked := 0
		r := verify(t, s.a, "s", record.VerifyOptions{Refs: func(l record.Ledger) ([]record.Ref, error) {
			asked++
			if l.Step != 2 {
				return nil, nil
			}
			ref := ref
			c.change(&ref)
			return []record.Ref{ref, ref}, nil
		}})
		if asked != 3 {
			t.Errorf("%s: %d ledgers were looked into, want 3", name, asked)
		}
		if c.want == "" != r.OK() || c.want != "" && r.Problems[0].Kind != c.want {
			t.Errorf("%s: %v, want %q", name, r.Problems, c.want)
		}
		if name == "negative" && len(r.Problems) != 1 {
			t.Errorf("%s: the same problem is reported twice: %v", name, r.Problems)
		}
	}
	r := verify(t, s.a, "s", record.VerifyOptions{Refs: func(record.Ledger) ([]record.Ref, error) { return nil, errDisk }})
	if len(r.Problems) != 3 || r.Problems[0].Kind != record.Unreadable {
		t.Errorf("ledgers that cannot be understood: %v", r.Problems)
	}
}

func TestVerifyReportsProgress(t *testing.T) {
	s := newStored(t)
	last, calls := int64(0), 0
	r := verify(t, s.a, "s", record.VerifyOptions{Progress: func(done, total int64) {
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

func TestSwappedLedgerOfALostRaceIsDetected(t *testing.T) {
	s := newStored(t)
	// Both announce step 4. The ledger of the winner is then replaced by the ledger of the
	// loser.
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
	r := verify(t, s.a, "s", record.VerifyOptions{})
	if r.OK() || r.Problems[0].File != "ledger-004.json" {
		t.Errorf("problems: %v", r.Problems)
	}
}

func TestVerifyDetectsAFolderOfAnotherSession(t *testing.T) {
	s := newStored(t)
	must(t, os.Rename(s.dir, filepath.Join(s.root, "s2")))
	r := verify(t, s.a, "s2", record.VerifyOptions{})
	for _, name := range []string{"manifest.jsonl", "events.jsonl", "journal.jsonl"} {
		if !slices.ContainsFunc(r.Problems, func(p record.Problem) bool { return p.File == name && p.Kind == record.Changed && p.Line == 1 }) {
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
	s, err := record.OpenSession(ctx, a, "run-1")
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := s.Final(ctx, []redact.Text{redact.Lit(`{"role":"user","content":"hello"}`)}); err != nil {
		fmt.Println(err)
		return
	}
	report, err := record.Verify(ctx, a, "run-1", record.VerifyOptions{Head: s.ManifestHead()})
	fmt.Println(report.OK(), report.TailProven, err)
	// Output: true true <nil>
}

// racing is an archive whose first listing of a session has two halves, with a change
// in between.
type racing struct {
	*memory.Archive
	between func()
}

func (a *racing) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	do := a.between
	if do == nil || prefix.Base() != "s" {
		return a.Archive.List(ctx, prefix)
	}
	a.between = nil
	return func(yield func(storage.Info, error) bool) {
		const half = "s/m"
		for info, err := range a.Archive.List(ctx, prefix) {
			if info.Key.String() < half && !yield(info, err) {
				return
			}
		}
		do()
		for info, err := range a.Archive.List(ctx, prefix) {
			if info.Key.String() >= half && !yield(info, err) {
				return
			}
		}
	}
}

func TestVerifyAndExportOfASessionThatGrowsUnderTheListing(t *testing.T) {
	below := memory.New()
	step(t, session(t, below, "s"), 1)
	n := 1
	grow := func() {
		n++
		step(t, session(t, below, "s"), n)
	}
	wantOK(t, &racing{below, grow}, "s") // the listing misses ledger-002.json, although the file exists
	copied := memory.New()
	for name, body := range readExport(t, export(t, session(t, &racing{below, grow}, "s"), record.ExportJSONL)) {
		must(t, copied.Create(t.Context(), mustKey(t, "s/"+name), storage.Redacted(text("%s", body))))
	}
	if r := wantOK(t, copied, "s"); n != 3 || r.Steps != 2 {
		t.Errorf("%d steps were exported of %d, want 2 and 3", r.Steps, n)
	}
}
