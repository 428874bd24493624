package record_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/turnindex"
)

const transcript1 = "transcript-pre-compact-001.jsonl"

func fingerprint(n int) [16]byte {
	sum := sha256.Sum256([]byte{byte(n)})
	return [16]byte(sum[:])
}

// indexed returns a transcript and its index.
func indexed(n int) (lines []redact.Text, set *turnindex.Set) {
	set = &turnindex.Set{}
	set.Cover(1, 1)
	off := int64(0)
	for i := range n {
		fp := fingerprint(i)
		l := text(`{"role":"user","content":"message %d","meta":{"fp":"%x","refs":["%x"]}}`, i, fp, fp[1:7])
		r := turnindex.Record{Key: turnindex.Message(fp), File: transcript1, Off: off, Len: int64(l.Len())}
		for _, k := range []turnindex.Key{turnindex.Message(fp), turnindex.Part([6]byte(fp[1:])), turnindex.Turn(uint32(i + 1))} {
			r.Key = k
			if err := set.Add(r); err != nil {
				panic(err)
			}
		}
		off += int64(l.Len()) + 1
		lines = append(lines, l)
	}
	return lines, set
}

func TestIndexFindsTheLinesOfItsTranscript(t *testing.T) {
	archives(t, func(t *testing.T, a storage.Archive) {
		s := session(t, a, "s")
		lines, set := indexed(50)
		must(t, second(s.Transcript(t.Context(), 1, lines)))
		w, err := s.Index(t.Context(), 1, set)
		must(t, err)
		must(t, second(s.Commit(t.Context(), 1, text(`{"v":1}`))))
		if w.Key.Base() != "turns-001.idx" {
			t.Errorf("the index is %s", w.Key)
		}
		table, err := session(t, a, "s").OpenIndex(t.Context(), w.Key.Base())
		must(t, err)
		for i, line := range lines {
			found, err := table.Lookup(t.Context(), turnindex.Message(fingerprint(i)).Query())
			must(t, err)
			if len(found) != 1 {
				t.Fatalf("message %d: %v", i, found)
			}
			got, err := s.Read(t.Context(), found[0].File, found[0].Off, found[0].Len)
			if err != nil || string(got) != line.String() {
				t.Errorf("message %d: %q, %v", i, got, err)
			}
		}
		wantOK(t, a, "s")
	})
}

func TestIndexOfAFinalTranscriptBelongsToIt(t *testing.T) {
	a := memory.New()
	s := session(t, a, "s")
	lines, set := indexed(3)
	w, err := s.Final(t.Context(), lines)
	must(t, err)
	idx, err := s.FinalIndex(t.Context(), w, set)
	must(t, err)
	if name, ok := record.FinalIndexName(w.Key.Base()); !ok || name != idx.Key.Base() || name != "turns-final-001.idx" {
		t.Errorf("%s has the index %s, its name is %s", w.Key, idx.Key, name)
	}
	if _, err := s.FinalIndex(t.Context(), idx, set); !errors.Is(err, record.ErrStep) {
		t.Errorf("an index of an index: %v, want ErrStep", err)
	}
	r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{})
	must(t, err)
	if len(r.Problems) != 1 || r.Problems[0].File != transcript1 || r.Problems[0].Kind != record.Removed {
		t.Errorf("the index names a missing transcript; verify returned %v", r.Problems)
	}
}

func TestIndexWithAPathIsRefused(t *testing.T) {
	s := session(t, memory.New(), "s")
	set := &turnindex.Set{}
	must(t, set.Add(turnindex.Record{Key: turnindex.Turn(1), File: "../../etc/passwd"}))
	var bad *storage.KeyError
	if _, err := s.Index(t.Context(), 1, set); !errors.As(err, &bad) {
		t.Errorf("got %v, want a KeyError", err)
	}
}

func TestVerifyNamesAnIndexThatPointsElsewhere(t *testing.T) {
	for name, change := range map[string]func(r *turnindex.Record){
		"another line":     func(r *turnindex.Record) { r.Off = 0 },
		"inside of a line": func(r *turnindex.Record) { r.Off++ },
		"a shorter line":   func(r *turnindex.Record) { r.Len-- },
		"beyond the end":   func(r *turnindex.Record) { r.Off += 1 << 30 },
		"another key":      func(r *turnindex.Record) { r.Key = turnindex.Message(fingerprint(99)) },
	} {
		a := memory.New()
		s := session(t, a, "s")
		lines, set := indexed(5)
		var last turnindex.Record
		table, err := turnindex.Open(t.Context(), turnindex.Bytes(set.Encode()))
		must(t, err)
		forged := &turnindex.Set{}
		for r, err := range table.All(t.Context()) {
			must(t, err)
			if r.Key == turnindex.Message(fingerprint(3)) {
				change(&r)
				last = r
			}
			must(t, forged.Add(r))
		}
		must(t, second(s.Transcript(t.Context(), 1, lines)))
		must(t, second(s.Index(t.Context(), 1, forged)))
		must(t, second(s.Commit(t.Context(), 1, text(`{"v":1}`))))
		r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{})
		must(t, err)
		if len(r.Problems) != 1 || r.Problems[0].Kind != record.Changed || r.Problems[0].File != "turns-001.idx" || !strings.Contains(r.Problems[0].Detail, last.Key.String()) {
			t.Errorf("%s: %v, want one changed index that names the last key", name, r.Problems)
		}
	}
}

func TestVerifyComparesIndexAndLedger(t *testing.T) {
	a := memory.New()
	s := session(t, a, "s")
	_, set := indexed(5)
	lines, _ := indexed(6) // the index lacks the last
	must(t, second(s.Transcript(t.Context(), 1, lines)))
	must(t, second(s.Index(t.Context(), 1, set)))
	must(t, second(s.Commit(t.Context(), 1, text(`{"v":1}`))))
	end := int64(0)
	for _, l := range lines[:5] {
		end += int64(l.Len()) + 1
	}
	at := int64(lines[0].Len()) + 1
	good := record.Ref{File: transcript1, Off: at, Len: int64(lines[1].Len()), ID: fmt.Sprintf("%x", fingerprint(1)), Index: "turns-001.idx"}
	for name, c := range map[string]struct {
		change func(r *record.Ref)
		file   string
		kind   record.ProblemKind
	}{
		"agree":           {func(*record.Ref) {}, "", ""},
		"another message": {func(r *record.Ref) { r.ID, r.Index = fmt.Sprintf("%x", fingerprint(2)), "" }, "ledger-001.json", record.Changed},
		"no fingerprint":  {func(r *record.Ref) { r.ID = "content" }, "ledger-001.json", record.Unreadable},
		"not in the index": {func(r *record.Ref) {
			r.Off, r.Len, r.ID = end, int64(lines[5].Len()), fmt.Sprintf("%x", fingerprint(5))
		}, "turns-001.idx", record.Changed},
		"negative length": {func(r *record.Ref) { r.Len, r.Index = -1, "" }, transcript1, record.Truncated},
	} {
		ref := good
		c.change(&ref)
		r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{Refs: func(record.Ledger) ([]record.Ref, error) {
			return []record.Ref{ref}, nil
		}})
		must(t, err)
		if r.OK() != (c.file == "") || !r.OK() && (len(r.Problems) != 1 || r.Problems[0].File != c.file || r.Problems[0].Kind != c.kind) {
			t.Errorf("%s: %v, want %s in %q", name, r.Problems, c.kind, c.file)
		}
	}
}

func TestADamagedIndexIsReported(t *testing.T) {
	a := memory.New()
	s := session(t, a, "s")
	lines, set := indexed(5)
	must(t, second(s.Transcript(t.Context(), 1, lines)))
	w, err := s.Index(t.Context(), 1, set)
	must(t, err)
	must(t, second(s.Commit(t.Context(), 1, text(`{"v":1}`))))
	r, err := a.Open(t.Context(), w.Key, 0, -1)
	must(t, err)
	data, err := io.ReadAll(r)
	must(t, err)
	must(t, a.Remove(t.Context(), w.Key))
	data[len(data)-10] ^= 1
	must(t, a.Create(t.Context(), w.Key, storage.Redacted(text("%s", data))))
	if _, err := s.OpenIndex(t.Context(), w.Key.Base()); err != nil && !errors.Is(err, turnindex.ErrDamaged) {
		t.Errorf("open: %v", err)
	}
	report, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{})
	must(t, err)
	kinds := map[record.ProblemKind]bool{}
	for _, p := range report.Problems {
		if p.File == "turns-001.idx" {
			kinds[p.Kind] = true
		}
	}
	if !kinds[record.Changed] || !kinds[record.Unreadable] {
		t.Errorf("%v, want a changed and an unreadable file", report.Problems)
	}
}
