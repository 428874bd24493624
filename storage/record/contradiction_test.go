package record_test

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// backup holds the files of an archive at one time.
type backup map[storage.Key]string

// backupOf returns the files of the session, and the heads.
func backupOf(t *testing.T, a *memory.Archive) backup {
	t.Helper()
	files := backup{}
	for _, under := range []string{"s", "_heads"} {
		k, err := storage.ParseKey(under)
		must(t, err)
		for info, err := range a.List(t.Context(), k) {
			must(t, err)
			files[info.Key] = everythingIn(a, info.Key)
		}
	}
	return files
}

// putBack replaces the session and the heads by their earlier state.
func (files backup) putBack(t *testing.T, a *memory.Archive) {
	t.Helper()
	for k := range backupOf(t, a) {
		must(t, a.Remove(t.Context(), k))
	}
	for k, data := range files {
		if strings.HasSuffix(k.String(), ".jsonl") {
			must(t, a.Append(t.Context(), k, 0, storage.Redacted(text("%s", data))))
		} else {
			must(t, a.Create(t.Context(), k, storage.Redacted(text("%s", data))))
		}
	}
}

// A tombstone that the session contradicts is a problem, even if the heads were put back
// with the session. The tombstone of an erase that is not complete contradicts nothing.
func TestTombstoneThatItsSessionContradictsIsAProblem(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(t *testing.T, a *memory.Archive, s *record.Session)
		want string // text in the only problem; "" = there is no problem
	}{
		{"an erased session is put back", func(t *testing.T, a *memory.Archive, s *record.Session) {
			before := backupOf(t, a)
			s.ActAs(text("bea"))
			must(t, second(s.Erase(t.Context(), text("asked for"))))
			before.putBack(t, a)
		}, "by bea, and it is here"},
		{"a session that could not be erased is rolled back", func(t *testing.T, a *memory.Archive, s *record.Session) {
			before := backupOf(t, a)
			must(t, s.Hold(t.Context(), text("case")))
			s.ActAs(text("bea"))
			if _, err := s.Erase(t.Context(), text("asked for")); !errors.Is(err, record.ErrHeld) {
				t.Errorf("erased: %v, want ErrHeld", err)
			}
			before.putBack(t, a)
		}, "a tombstone records the refused erase"},
		{"a refused erase", func(t *testing.T, _ *memory.Archive, s *record.Session) {
			must(t, s.Hold(t.Context(), text("case")))
			_, _ = s.Erase(t.Context(), text("asked for"))
			must(t, s.Release(t.Context(), text("closed")))
		}, ""},
		{"an interrupted erase", func(t *testing.T, a *memory.Archive, _ *record.Session) {
			dead := session(t, &between{Archive: a, dead: true}, "s")
			dead.KeepHeads(record.NewHeads(a, nil))
			if _, err := dead.Erase(t.Context(), text("asked for")); !errors.Is(err, errDead) {
				t.Errorf("erased: %v, want errDead", err)
			}
		}, ""},
		{"an interrupted erase is rolled back", func(t *testing.T, a *memory.Archive, _ *record.Session) {
			before := backupOf(t, a)
			dead := session(t, &between{Archive: a, dead: true}, "s")
			if _, err := dead.Erase(t.Context(), text("asked for")); !errors.Is(err, errDead) {
				t.Errorf("erased: %v, want errDead", err)
			}
			before.putBack(t, a)
		}, "a tombstone says that this session was erased"},
		{"another session of that name", func(t *testing.T, a *memory.Archive, s *record.Session) {
			must(t, second(s.Erase(t.Context(), text("asked for"))))
			next := session(t, a, "s")
			next.KeepHeads(record.NewHeads(a, nil))
			step(t, next, 1)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := memory.New()
			s := session(t, a, "s")
			s.KeepHeads(record.NewHeads(a, nil))
			step(t, s, 1)
			c.do(t, a, s)
			book, err := record.ReadHeads(t.Context(), a, record.HeadsOptions{})
			must(t, err)
			r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{Heads: book})
			must(t, err)
			if c.want == "" && !r.OK() || c.want != "" && (len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Detail, c.want)) {
				t.Errorf("problems %q, want %q", r.Problems, c.want)
			}
		})
	}
}

// If a session whose erase was refused disappears with all its heads, the tombstone of the
// refusal is left, and names it.
func TestARefusedEraseOutlivesItsSession(t *testing.T) {
	for _, erased := range []bool{false, true} {
		a := memory.New()
		s := session(t, a, "s")
		s.KeepHeads(record.NewHeads(a, nil))
		step(t, s, 1)
		must(t, s.Hold(t.Context(), text("case")))
		_, _ = s.Erase(t.Context(), text("asked for"))
		must(t, s.Release(t.Context(), text("closed")))
		if erased {
			must(t, second(s.Erase(t.Context(), text("asked for"))))
		}
		backup{}.putBack(t, a)
		book, err := record.ReadHeads(t.Context(), a, record.HeadsOptions{})
		must(t, err)
		gone, err := book.Vanished(t.Context(), a)
		must(t, err)
		if !erased != (len(gone) == 1 && !gone[0].OK()) {
			t.Errorf("erased %t: %+v", erased, gone)
		}
	}
}

// An unsigned head of the session, which anybody can write, does not hide that it disappeared.
func TestForgedHeadHidesNoVanishedSession(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	must(t, err)
	a := memory.New()
	s := session(t, a, "s")
	s.KeepHeads(record.NewHeads(a, private))
	must(t, s.Hold(t.Context(), text("case")))
	_, _ = s.Erase(t.Context(), text("asked for"))
	backup{mustKey(t, "s/manifest.jsonl"): content(t, s, "manifest.jsonl")}.putBack(t, a)
	forger := session(t, a, "s")
	forger.KeepHeads(record.NewHeads(a, nil))
	must(t, forger.Release(t.Context(), text("closed")))
	forged := backupOf(t, a)
	delete(forged, mustKey(t, "s/manifest.jsonl"))
	forged.putBack(t, a)
	book, err := record.ReadHeads(t.Context(), a, record.HeadsOptions{Public: []ed25519.PublicKey{public}})
	must(t, err)
	gone, err := book.Vanished(t.Context(), a)
	must(t, err)
	if len(forged) != 1 || len(gone) != 1 || !strings.Contains(fmt.Sprint(gone[0].Problems), "the session vanished") {
		t.Errorf("%d forged heads: %+v, want 1", len(forged), gone)
	}
}

// A line that no longer names its manifest is reported as a problem and not as a missing
// proof, because otherwise nobody would see that the line was changed.
func TestADamagedLineOfHeadsIsReported(t *testing.T) {
	for _, member := range []string{`"op"`, `"at"`, `"life"`, `"head"`, `"session"`} {
		a := memory.New()
		s := session(t, a, "s")
		s.KeepHeads(record.NewHeads(a, nil))
		step(t, s, 1)
		for k := range backupOf(t, a) {
			if strings.HasPrefix(k.String(), "_heads/") {
				damage(t, a, k.String(), member+`:"`, member+`:"x`)
				if member == `"op"` {
					damage(t, a, k.String(), member, `"po"`)
				}
			}
		}
		book, err := record.ReadHeads(t.Context(), a, record.HeadsOptions{})
		must(t, err)
		if r := book.Report(); len(r.Problems) != 1 || r.Problems[0].Kind != record.Unreadable || r.Problems[0].Line != 1 {
			t.Errorf("%s: %v, want one unreadable line 1", member, r.Problems)
		}
	}
}

// Acts returns the operations on a session, and for each who requested it and why.
func TestActsReturnsTheOperationsOnASession(t *testing.T) {
	a := memory.New()
	s := session(t, a, "s")
	step(t, s, 1)
	s.ActAs(text("ann"))
	must(t, s.Hold(t.Context(), text("case 7")))
	step(t, s, 2)
	must(t, s.Release(t.Context(), text("closed")))
	dead := session(t, &between{Archive: a, dead: true}, "s")
	for range 2 { // the second writer continues the heads of the first
		if _, err := dead.Erase(t.Context(), text("asked for")); !errors.Is(err, errDead) {
			t.Errorf("erased: %v, want errDead", err)
		}
	}
	acts, err := session(t, a, "s").Acts(t.Context())
	must(t, err)
	var got []string
	for _, act := range acts {
		got = append(got, strings.TrimSpace(fmt.Sprintln(act.Op, act.Step, act.Who, act.Why)))
	}
	want := []string{"commit 1", "hold 0 ann case 7", "commit 2", "release 0 ann closed", "erase 0"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Lines that no mark covers are noted, because an end that is cut off before the next mark
// leaves no trace.
func TestLinesAfterTheLastMarkAreNoted(t *testing.T) {
	a := memory.New()
	s := session(t, a, "s")
	step(t, s, 1)
	noted := func() bool {
		r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{})
		must(t, err)
		return r.OK() && strings.Contains(strings.Join(r.Notes, "\n"), "events.jsonl: lines may be missing at its end, or added") && strings.Contains(strings.Join(r.Notes, "\n"), " none of the 3 after them")
	}
	must(t, s.Events(t.Context(), lines("late", 3)))
	if !noted() {
		t.Error("three lines without a mark are not noted")
	}
	must(t, s.Checkpoint(t.Context()))
	if noted() {
		t.Error("they are noted after a mark")
	}
}
