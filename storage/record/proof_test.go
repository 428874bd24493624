package record_test

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// A copy of the heads proves the state at its time, but nothing later: a user who can
// write next to the sessions could have rewritten the rest.
func TestOldCopyDoesNotProveTheEnd(t *testing.T) {
	a := memory.New()
	s := session(t, a, "s")
	s.KeepHeads(record.NewHeads(a, nil))
	step(t, s, 1)
	var kept strings.Builder
	must(t, record.WriteHeads(t.Context(), a, &kept))
	first := s.ManifestHead()
	verify := func(head string) record.Report {
		book, err := record.ReadHeads(t.Context(), a, record.HeadsOptions{})
		must(t, err)
		must(t, book.Copy(t.Context(), strings.NewReader(kept.String()), "kept"))
		r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{Heads: book, Head: head})
		must(t, err)
		return r
	}
	if r := verify(""); !r.TailProven || r.Proof != record.ProofCopy {
		t.Errorf("a copy of all: proven %v by %q", r.TailProven, r.Proof)
	}
	step(t, s, 2)
	if r := verify(""); !r.TailProven || r.Proof != record.ProofHeads {
		t.Errorf("a copy from before the end: proven %v by %q", r.TailProven, r.Proof)
	}
	// An old copy of a head does not weaken the proof by the heads beside the session.
	if r := verify(first); !r.TailProven || r.Proof != record.ProofHeads {
		t.Errorf("a head from before the end: proven %v by %q, %q", r.TailProven, r.Proof, r.Notes)
	}
	if r := verify(s.ManifestHead()); !r.TailProven || r.Proof != record.ProofHead {
		t.Errorf("the head of the end: proven %v by %q", r.TailProven, r.Proof)
	}
}

// Heads that only a copy has prove the end, as a copy: the heads beside the session are gone.
func TestHeadsThatOnlyACopyHasProveTheEnd(t *testing.T) {
	a := memory.New()
	s := session(t, a, "s")
	s.KeepHeads(record.NewHeads(a, nil))
	step(t, s, 1)
	var kept strings.Builder
	must(t, record.WriteHeads(t.Context(), a, &kept))
	backup{mustKey(t, "s/manifest.jsonl"): content(t, s, "manifest.jsonl")}.putBack(t, a)
	book, err := record.ReadHeads(t.Context(), a, record.HeadsOptions{})
	must(t, err)
	must(t, book.Copy(t.Context(), strings.NewReader(kept.String()), "kept"))
	r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{Heads: book})
	must(t, err)
	if !r.TailProven || r.Proof != record.ProofCopy || book.Report().OK() {
		t.Errorf("proven %v by %q; the heads: %q, want true and %q", r.TailProven, r.Proof, book.Report().Problems, record.ProofCopy)
	}
	// If heads must be signed, the lines of a copy must be, too.
	public, _, err := ed25519.GenerateKey(nil)
	must(t, err)
	book, err = record.ReadHeads(t.Context(), a, record.HeadsOptions{Public: []ed25519.PublicKey{public}})
	must(t, err)
	must(t, book.Copy(t.Context(), strings.NewReader(kept.String()), "kept"))
	r, err = record.Verify(t.Context(), a, "s", record.VerifyOptions{Heads: book})
	must(t, err)
	if r.TailProven || !strings.Contains(fmt.Sprint(book.Report().Problems), "kept: line 1: changed: it is not signed") {
		t.Errorf("unsigned: proven %v by %q; the heads: %q", r.TailProven, r.Proof, book.Report().Problems)
	}
}

// A second head of the same line that no copy has does not weaken the proof by the copy.
func TestLaterHeadOfALineDoesNotWeakenItsProof(t *testing.T) {
	a := memory.New()
	s := session(t, a, "s")
	s.KeepHeads(record.NewHeads(a, nil))
	must(t, s.Hold(t.Context(), text("case")))
	var kept strings.Builder
	must(t, record.WriteHeads(t.Context(), a, &kept))
	if _, err := s.Erase(t.Context(), text("asked for")); !errors.Is(err, record.ErrHeld) {
		t.Errorf("erased: %v, want ErrHeld", err)
	}
	book, err := record.ReadHeads(t.Context(), a, record.HeadsOptions{})
	must(t, err)
	must(t, book.Copy(t.Context(), strings.NewReader(kept.String()), "kept"))
	r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{Heads: book})
	must(t, err)
	if !r.OK() || !r.TailProven || r.Proof != record.ProofCopy {
		t.Errorf("%q, proven %v by %q; want no problems, true and %q", r.Problems, r.TailProven, r.Proof, record.ProofCopy)
	}
}

// If heads must be signed, unsigned heads prove nothing: neither an end nor an erasure,
// even if only one session is verified.
func TestUnsignedHeadsProveNothing(t *testing.T) {
	key, err := record.HeadsKey("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	must(t, err)
	public, _ := key.Public().(ed25519.PublicKey)
	a := memory.New()
	for _, id := range []string{"alice", "bob"} {
		s := session(t, a, id)
		s.KeepHeads(record.NewHeads(a, key))
		step(t, s, 1)
	}
	forger := record.NewHeads(a, nil)
	alice, bob := session(t, a, "alice"), session(t, a, "bob")
	alice.KeepHeads(forger)
	step(t, alice, 2)
	bob.KeepHeads(forger)
	must(t, second(bob.Erase(t.Context(), text("nobody asked"))))

	book, err := record.ReadHeads(t.Context(), a, record.HeadsOptions{Public: []ed25519.PublicKey{public}})
	must(t, err)
	r, err := record.Verify(t.Context(), a, "alice", record.VerifyOptions{Heads: book})
	must(t, err)
	if r.TailProven || r.Newer == 0 || r.Proof != record.ProofSigned {
		t.Errorf("alice: proven %v by %q, %d lines newer", r.TailProven, r.Proof, r.Newer)
	}
	gone, err := book.Vanished(t.Context(), a)
	must(t, err)
	if len(gone) != 1 || gone[0].OK() {
		t.Errorf("bob: %+v", gone)
	}
	if book.Report().OK() {
		t.Error("the heads themselves are said to be good")
	}
}
