package record_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// ledgers returns the numbers of the usable steps, and the errors for the others.
func ledgers(t *testing.T, a storage.Archive) (good []int, changed []*storage.ChangedError) {
	t.Helper()
	for l, err := range session(t, a, "s").Ledgers(t.Context(), 1) {
		must(t, err)
		if l.Changed != nil {
			if l.Data != nil {
				t.Errorf("step %d: changed, and its bytes are handed out", l.Step)
			}
			changed = append(changed, l.Changed)
			continue
		}
		good = append(good, l.Step)
	}
	return good, changed
}

func TestChangedLedgerIsNotReturned(t *testing.T) {
	whole, _ := mutable(t)
	for name, c := range map[string]struct {
		do   func(f folder)
		good int
		file string
	}{
		"a bit is flipped":        {func(f folder) { f["ledger-002.json"] = flipped(f["ledger-002.json"], 5) }, 2, "ledger-002.json"},
		"it is emptied":           {func(f folder) { f["ledger-001.json"] = nil }, 2, "ledger-001.json"},
		"it is removed":           {func(f folder) { delete(f, "ledger-002.json") }, 2, "ledger-002.json"},
		"the last one is removed": {func(f folder) { delete(f, "ledger-003.json") }, 2, "ledger-003.json"},
		"two ledgers are swapped": {func(f folder) {
			f["ledger-001.json"], f["ledger-003.json"] = f["ledger-003.json"], f["ledger-001.json"]
		}, 1, "ledger-001.json"},
		"one is added":            {func(f folder) { f["ledger-004.json"] = []byte(`{"v":1,"step":4}`) }, 3, "ledger-004.json"},
		"the manifest is emptied": {func(f folder) { f["manifest.jsonl"] = nil }, 0, "ledger-001.json"},
		"a ledger and its lines are rewritten": {func(f folder) {
			forged := []byte(`{"v":1,"step":6}`)
			sum := func(b []byte) []byte { return fmt.Appendf(nil, "%x", sha256.Sum256(b)) }
			f["manifest.jsonl"] = bytes.ReplaceAll(f["manifest.jsonl"], sum(f["ledger-002.json"]), sum(forged))
			f["ledger-002.json"] = forged
		}, 2, "ledger-002.json"},
	} {
		t.Run(name, func(t *testing.T) {
			f := folder{}
			for n, b := range whole {
				f[n] = b
			}
			c.do(f)
			a := place(t, f)
			good, changed := ledgers(t, a)
			if len(good) != c.good || len(changed) == 0 || changed[0].File != c.file {
				t.Errorf("good %v, changed %v, want %d good ones and %s", good, changed, c.good, c.file)
			}
			for _, e := range changed {
				if !errors.Is(e, storage.ErrChanged) || !strings.Contains(e.Error(), e.File) || !strings.Contains(e.Error(), e.Have) {
					t.Errorf("%v names neither the file nor its kind", e)
				}
			}
			// The session continues after the existing lines, and does not change them.
			s := session(t, a, "s")
			n := len(good) + len(changed) + 1
			step(t, s, n)
			if again, _ := ledgers(t, a); len(again) != c.good+1 || again[c.good] != n {
				t.Errorf("after step %d the good ones are %v", n, again)
			}
			if report := verify(t, a, "s", record.VerifyOptions{}); report.OK() {
				t.Error("verify finds nothing")
			}
		})
	}
}

func flipped(b []byte, bit int) []byte {
	b = bytes.Clone(b)
	b[bit/8%len(b)] ^= 1 << (bit % 8)
	return b
}

// TestNoFlippedBitStopsASession flips bits of the manifest and of ledgers at
// seeded places: no changed ledger is returned, and a step can be committed.
func TestNoFlippedBitStopsASession(t *testing.T) {
	whole, _ := mutable(t)
	bodies := map[string]bool{}
	for n := 1; n <= 3; n++ {
		bodies[string(whole["ledger-00"+string(rune('0'+n))+".json"])] = true
	}
	lost := 0
	for seed := range 400 {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		name := []string{"manifest.jsonl", "ledger-001.json", "ledger-003.json", "events.jsonl"}[seed%4]
		f := folder{}
		for n, b := range whole {
			f[n] = b
		}
		f[name] = flipped(f[name], r.IntN(8*len(f[name])))
		a := place(t, f)
		n := 1
		for l, err := range session(t, a, "s").Ledgers(t.Context(), 1) {
			must(t, err)
			if l.Changed == nil && !bodies[string(l.Data)] {
				t.Fatalf("seed %d: %s: a ledger that was never stored is returned: %s", seed, name, l.Data)
			}
			if l.Changed != nil {
				lost++
			}
			n = l.Step + 1
		}
		step(t, session(t, a, "s"), n)
	}
	if lost < 200 || lost > 260 {
		t.Errorf("%d ledgers were not used; a flip in a ledger loses that ledger, and a flip in the manifest mostly none; want at least 200 and at most 260", lost)
	}
}

// A ledger of 3 GB is not read into memory.
func TestEndlessLedgerIsNotRead(t *testing.T) {
	dir := t.TempDir()
	a, err := fs.Open(dir)
	must(t, err)
	defer a.Close()
	for n := 1; n <= 2; n++ {
		step(t, session(t, a, "s"), n)
	}
	must(t, os.Chmod(dir+"/s/ledger-001.json", 0o600))
	must(t, os.Truncate(dir+"/s/ledger-001.json", 3<<30))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	good, changed := ledgers(t, a)
	runtime.ReadMemStats(&after)
	if len(good) != 1 || len(changed) != 1 || changed[0].Have != "" {
		t.Errorf("good %v, changed %v", good, changed)
	}
	if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 512 {
		t.Errorf("%d MiB were allocated, want at most 512", n)
	}
}

// A changed line of a log is reported, even if it is no longer a line. The lines around
// it are intact.
func TestChangedLogLineIsNotReturned(t *testing.T) {
	for name, change := range map[string]func([]byte) []byte{
		"another text": func(b []byte) []byte { return bytes.Replace(b, []byte("l 2"), []byte("l 7"), 1) },
		"no line":      func(b []byte) []byte { return bytes.Replace(b, []byte(`{"seq":3`), []byte(`{"sqe":3`), 1) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			a, err := fs.Open(dir)
			must(t, err)
			defer a.Close()
			s := session(t, a, "s")
			must(t, second(s.Edits(t.Context(), lines("l", 5))))
			must(t, s.Journal(t.Context(), lines("l", 5)))
			for _, log := range []string{"edits.jsonl", "journal.jsonl"} {
				data, err := os.ReadFile(dir + "/s/" + log)
				must(t, err)
				must(t, os.WriteFile(dir+"/s/"+log, change(data), 0o600))
			}
			var good []string
			bad := int64(0)
			for l, err := range s.EditsLines(t.Context(), 0) {
				must(t, err)
				if l.Changed {
					bad = l.Seq
					continue
				}
				good = append(good, string(l.Body))
			}
			var journal []string
			for line, err := range s.JournalLines(t.Context()) {
				must(t, err)
				journal = append(journal, string(line))
			}
			if len(good) != 4 || bad != 3 || strings.Join(good, "") != strings.Join(journal, "") || strings.Contains(strings.Join(good, ""), "l 2") {
				t.Errorf("good %q, journal %q, changed line %d, want 3", good, journal, bad)
			}
		})
	}
}

// A ledger that has become longer is read only as far as the manifest says, and is reported
// with the hash of all its bytes.
func TestLongerLedgerIsReportedWithItsWholeHash(t *testing.T) {
	a := memory.New()
	s := session(t, a, "s")
	for n := 1; n <= 3; n++ {
		step(t, s, n)
	}
	k := keyOf(t, "s/ledger-002.json")
	longer := strings.Repeat(" ", 200_000)
	must(t, errors.Join(a.Remove(t.Context(), k), a.Create(t.Context(), k, storage.Redacted(text("%s", longer)))))
	good, changed := ledgers(t, a)
	if fmt.Sprint(good) != "[1 3]" || len(changed) != 1 || changed[0].Have != fmt.Sprintf("%x", sha256.Sum256([]byte(longer))) {
		t.Errorf("steps %v can be used; %v", good, changed)
	}
}

// A process that loses the race for a number has already announced its own ledger under
// that number. It still reads the ledger that won.
func TestALedgerOfAnotherProcessIsReadAfterALostRace(t *testing.T) {
	archives(t, func(t *testing.T, a storage.Archive) {
		one, two := session(t, a, "s"), session(t, a, "s")
		must(t, second(one.Transcript(t.Context(), 1, lines("one", 1))))
		must(t, second(two.Transcript(t.Context(), 1, lines("two", 1))))
		must(t, two.Events(t.Context(), lines("e", 1)))
		won := `{"v":1,"won":"` + strings.Repeat("by a larger ledger ", 20) + `"}` // reading does not end where the own ledger ends
		lost := &late{Archive: a, before: func() { must(t, second(two.Commit(t.Context(), 1, text("%s", won)))) }}
		loser, err := record.OpenSession(t.Context(), lost, "s")
		must(t, err)
		w, err := loser.Transcript(t.Context(), 1, lines("three", 1))
		must(t, err)
		lost.armed = true
		if _, err := loser.Commit(t.Context(), 1, text(`{"v":1,"lost":true}`), w); !errors.Is(err, storage.ErrExists) {
			t.Fatal(err)
		}
		for l, err := range loser.Ledgers(t.Context(), 1) {
			must(t, err)
			if l.Changed != nil || string(l.Data) != won+"\n" && string(l.Data) != won {
				t.Errorf("%q, %v, want none", l.Data, l.Changed)
			}
		}
	})
}

// late makes another process win when a ledger is created.
type late struct {
	storage.Archive
	armed  bool
	before func()
}

func (a *late) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if a.armed {
		a.armed = false
		a.before()
	}
	return a.Archive.Create(ctx, k, b)
}

// A checkpoint records the length of each log, so that a missing end is found.
func TestCheckpointRevealsAMissingLogEnd(t *testing.T) {
	for _, log := range []string{"events.jsonl", "edits.jsonl", "journal.jsonl"} {
		dir := t.TempDir()
		a, err := fs.Open(dir)
		must(t, err)
		defer a.Close()
		s := session(t, a, "s")
		must(t, s.Events(t.Context(), lines("e", 3)))
		must(t, second(s.Edits(t.Context(), lines("l", 3))))
		must(t, s.Journal(t.Context(), lines("j", 3)))
		must(t, s.Checkpoint(t.Context()))
		manifest, err := os.ReadFile(dir + "/s/manifest.jsonl")
		must(t, err)
		must(t, s.Checkpoint(t.Context()))
		if again, err := os.ReadFile(dir + "/s/manifest.jsonl"); err != nil || !bytes.Equal(again, manifest) {
			t.Errorf("a checkpoint without news writes to the manifest: %v", err)
		}
		before, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{})
		must(t, err)
		data, err := os.ReadFile(dir + "/s/" + log)
		must(t, err)
		cut := bytes.LastIndexByte(data[:len(data)-1], '\n') + 1
		must(t, os.WriteFile(dir+"/s/"+log, data[:cut], 0o600))
		after, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{})
		must(t, err)
		if !before.OK() || after.OK() || !strings.Contains(fmt.Sprint(after.Problems), log) {
			t.Errorf("%s: problems %v before the removal of the last line, %v after it", log, before.Problems, after.Problems)
		}
	}
}
