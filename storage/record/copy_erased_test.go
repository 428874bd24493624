package record_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// wantErased fails if a copy has files of a session that src has erased, or if verify
// takes their absence for tampering.
func wantErased(t *testing.T, dst storage.Archive, id string) {
	t.Helper()
	for k := range everything(t, dst) {
		if strings.HasPrefix(k, id+"/") {
			t.Errorf("%s is there", k)
		}
	}
	if stone, ok, err := record.Erased(t.Context(), dst, id); !ok || !stone.Done || err != nil {
		t.Errorf("tombstone: %+v, %v", stone, err)
	}
	wantWhole(t, dst)
}

// wantWhole fails if verify finds a problem in an archive.
func wantWhole(t *testing.T, a storage.Archive) {
	t.Helper()
	book, err := record.ReadHeads(t.Context(), a, record.HeadsOptions{})
	must(t, err)
	gone, err := book.Vanished(t.Context(), a)
	must(t, err)
	graves, err := record.VerifyTombstones(t.Context(), a)
	must(t, err)
	for _, r := range append(gone, book.Report(), graves) {
		if !r.OK() {
			t.Errorf("%s: %q, want no problems", r.Dir, r.Problems)
		}
	}
	for s, err := range record.Sessions(t.Context(), a) {
		must(t, err)
		if r, err := record.Verify(t.Context(), a, s.ID, record.VerifyOptions{Heads: book}); err != nil || !r.OK() {
			t.Errorf("%s: %q, %v; want no problems and no error", s.ID, r.Problems, err)
		}
	}
}

func eraseAs(t *testing.T, a storage.Archive, id string) {
	t.Helper()
	s := session(t, a, id)
	s.KeepHeads(record.NewHeads(a, nil))
	s.ActAs(text("ann"))
	must(t, second(s.Erase(t.Context(), text("asked for"))))
}

// A nightly copy erases the sessions that were erased since the last copy, with the
// reason.
func TestCopyCarriesAnEraseOver(t *testing.T) {
	for _, heads := range []bool{false, true} {
		src, dst := lived(t), memory.New()
		opts := record.CopyOptions{}
		if heads {
			opts.Heads = record.NewHeads(dst, nil)
		}
		must(t, second(record.Copy(t.Context(), dst, src, opts)))
		eraseAs(t, src, "alice")
		done, err := record.Copy(t.Context(), dst, src, opts)
		if err != nil || done.Erased != 1 || done.Sessions != 1 {
			t.Errorf("%+v, %v, want one erased and one copied session, and no error", done, err)
		}
		wantErased(t, dst, "alice")
		if stone, _, _ := record.Erased(t.Context(), dst, "alice"); stone.Who != "ann" || stone.Reason != "asked for" {
			t.Errorf("erased by %q because %q, want %q and %q", stone.Who, stone.Reason, "ann", "asked for")
		}
		must(t, second(record.Copy(t.Context(), dst, src, opts)))
	}
}

// A new session under the name of an erased one is copied.
func TestCopyOfASecondLifeTakesThePlaceOfTheFirst(t *testing.T) {
	src, dst := lived(t), memory.New()
	must(t, second(record.Copy(t.Context(), dst, src, record.CopyOptions{})))
	eraseAs(t, src, "alice")
	must(t, second(record.Copy(t.Context(), dst, src, record.CopyOptions{})))
	s := session(t, src, "alice")
	s.KeepHeads(record.NewHeads(src, nil))
	step(t, s, 1)
	must(t, second(record.Copy(t.Context(), dst, src, record.CopyOptions{})))
	wantWhole(t, dst)
	if r := wantOK(t, dst, "alice"); r.Steps != 1 {
		t.Errorf("%d steps, want 1", r.Steps)
	}
}

func TestCopyOfANamedSessionThatWasErasedReturnsErrErased(t *testing.T) {
	src, dst := lived(t), memory.New()
	opts := record.CopyOptions{Sessions: []string{"alice"}, Heads: record.NewHeads(dst, nil)}
	must(t, second(record.Copy(t.Context(), dst, src, opts)))
	eraseAs(t, src, "alice")
	if _, err := record.Copy(t.Context(), dst, src, opts); !errors.Is(err, record.ErrErased) {
		t.Errorf("copied: %v, want ErrErased", err)
	}
	wantErased(t, dst, "alice")
}

// A session that is under a hold in dst stays whole; the other sessions are copied.
func TestCopyErasesNoHeldSession(t *testing.T) {
	src, dst := lived(t), memory.New()
	must(t, second(record.Copy(t.Context(), dst, src, record.CopyOptions{})))
	s := session(t, dst, "alice")
	s.KeepHeads(record.NewHeads(dst, nil))
	must(t, s.Hold(t.Context(), text("a case of the copy")))
	eraseAs(t, src, "alice")
	step(t, session(t, src, "bob"), 2)
	if _, err := record.Copy(t.Context(), dst, src, record.CopyOptions{}); !errors.Is(err, record.ErrHeld) || !strings.Contains(err.Error(), "alice") {
		t.Errorf("copied: %v, want ErrHeld and an error with %q", err, "alice")
	}
	if _, gone, err := record.Erased(t.Context(), dst, "alice"); gone || err != nil {
		t.Errorf("erased %v, %v; want false and no error", gone, err)
	}
	if r := wantOK(t, dst, "bob"); r.Steps != 2 {
		t.Errorf("bob has %d steps, want 2", r.Steps)
	}
	wantWhole(t, dst)
}

// Another session of the same name does not belong to the source.
func TestCopyErasesNoOtherSession(t *testing.T) {
	src, dst := lived(t), memory.New()
	step(t, session(t, dst, "alice"), 1)
	eraseAs(t, src, "alice")
	must(t, second(record.Copy(t.Context(), dst, src, record.CopyOptions{})))
	if r := wantOK(t, dst, "alice"); r.Steps != 1 {
		t.Errorf("%d steps, want 1", r.Steps)
	}
	wantWhole(t, dst)
}

// sessionsOf returns the folders of the sessions of an archive.
func sessionsOf(t *testing.T, a storage.Archive) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for s, err := range record.Sessions(t.Context(), a) {
		must(t, err)
		all[s.Dir] = true
	}
	return all
}

// An erase at any time during a copy is not reported as tampering, and the copy, which
// begins again, counts a session once.
func TestCopyDuringAnEraseIsNoTampering(t *testing.T) {
	for _, named := range [][]string{nil, {"alice"}} {
		for at := 0; ; at++ {
			src, dst, n := lived(t), memory.New(), 0
			opts := record.CopyOptions{Sessions: named, Progress: func(storage.Key) {
				if n == at {
					eraseAs(t, src, "alice")
				}
				n++
			}}
			most := len(sessionsOf(t, src))
			done, err := record.Copy(t.Context(), dst, src, opts)
			if n <= at {
				break
			}
			if done.Sessions > most {
				t.Errorf("erased before file %d: %d sessions are counted, of %d", at, done.Sessions, most)
			}
			if err != nil && (named == nil || !errors.Is(err, record.ErrErased)) {
				t.Errorf("erased before file %d: %v", at, err)
			}
			wantWhole(t, dst)
			if named == nil {
				must(t, second(record.Copy(t.Context(), dst, src, record.CopyOptions{})))
				wantErased(t, dst, "alice")
			}
		}
	}
}

// older writes tombstones as version 0.1.0 did.
type older struct{ *memory.Archive }

func (a older) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if k.Base() == "_erased.jsonl" {
		data, err := io.ReadAll(b.Reader())
		if err != nil {
			return err
		}
		was := everythingIn(a.Archive, k)
		line := regexp.MustCompile(`,"life":"[0-9a-f]*"`).ReplaceAllString(string(data), "")
		if was != "" {
			line = regexp.MustCompile(`"prev":"[0-9a-f]*"`).ReplaceAllString(line, `"prev":"`+sha(lastLine(was))+`"`)
		}
		return a.Archive.Append(ctx, k, int64(len(was)), storage.Redacted(text("%s", line)))
	}
	return a.Archive.Append(ctx, k, seq, b)
}

func lastLine(log string) string {
	log = strings.TrimSuffix(log, "\n")
	return log[strings.LastIndexByte(log, '\n')+1:]
}

func sha(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

func everythingIn(a storage.Archive, k storage.Key) string {
	r, err := a.Open(context.Background(), k, 0, -1)
	if err != nil {
		return ""
	}
	data, _ := io.ReadAll(r)
	return string(data)
}

func TestCopyCarriesOverAnEraseOfAnOlderVersion(t *testing.T) {
	for _, heads := range []bool{true, false} {
		src, dst := memory.New(), memory.New()
		s := session(t, src, "alice")
		if heads {
			s.KeepHeads(record.NewHeads(src, nil))
		}
		step(t, s, 1)
		must(t, second(record.Copy(t.Context(), dst, src, record.CopyOptions{})))
		x := session(t, older{src}, "alice")
		if heads {
			x.KeepHeads(record.NewHeads(src, nil))
		}
		must(t, second(x.Erase(t.Context(), text("asked for"))))
		_, err := record.Copy(t.Context(), dst, src, record.CopyOptions{})
		if heads {
			must(t, err)
			if stone, ok, err := record.Erased(t.Context(), dst, "alice"); !ok || err != nil {
				t.Errorf("%+v, %v, want a tombstone and no error", stone, err)
			}
			continue
		}
		if !errors.Is(err, storage.ErrExists) || !strings.Contains(err.Error(), "alice") {
			t.Errorf("a tombstone of an unknown session: %v", err)
		}
		wantOK(t, dst, "alice")
	}
}

// vanish removes the files of a session, and leaves its heads and tombstones.
func vanish(t *testing.T, a *memory.Archive, id string) {
	t.Helper()
	for _, n := range names(t, session(t, a, id)) {
		must(t, a.Remove(t.Context(), key(t, id+"/"+n)))
	}
}

func key(t *testing.T, s string) storage.Key {
	t.Helper()
	k, err := storage.ParseKey(s)
	must(t, err)
	return k
}

// wantUnproven fails if a copy takes a tombstone for the proof of an erase.
func wantUnproven(t *testing.T, dst, src storage.Archive, opts record.CopyOptions, id string) {
	t.Helper()
	before := len(names(t, session(t, dst, id)))
	had, _, err := record.Erased(t.Context(), dst, id) // of an earlier session of this name
	must(t, err)
	done, err := record.Copy(t.Context(), dst, src, opts)
	if done.Erased != 0 || !errors.Is(err, storage.ErrExists) || !strings.Contains(err.Error(), id) {
		t.Errorf("%+v, %v; want ErrExists and an error with %q", done, err, id)
	}
	if n := len(names(t, session(t, dst, id))); n != before {
		t.Errorf("%s has %d files, had %d", id, n, before)
	}
	if stone, _, err := record.Erased(t.Context(), dst, id); stone.Life != had.Life || err != nil {
		t.Errorf("%+v, %v, want an unchanged tombstone and no error", stone, err)
	}
	wantWhole(t, dst)
}

// A line that anyone can write proves no erase: it has to fit the chain, and the heads
// must have a line for the erase.
func TestCopyErasesNothingForAForgedTombstone(t *testing.T) {
	chained := func(log string) string { return sha(lastLine(log)) }
	for name, forged := range map[string]struct {
		prev  func(log string) string
		again bool // an earlier session of the name was erased, and the tombstone has the head of that erase
	}{
		"outside the chain":             {func(string) string { return strings.Repeat("0", 64) }, false},
		"without a head":                {chained, false},
		"with the head of another life": {chained, true},
	} {
		t.Run(name, func(t *testing.T) {
			src, dst, head := lived(t), memory.New(), ""
			if forged.again {
				eraseAs(t, src, "alice")
				stone, _, err := record.Erased(t.Context(), src, "alice")
				must(t, err)
				head = stone.Head
				s := session(t, src, "alice")
				s.KeepHeads(record.NewHeads(src, nil))
				step(t, s, 1)
			}
			must(t, second(record.Copy(t.Context(), dst, src, record.CopyOptions{})))
			first, _, _ := strings.Cut(everythingIn(src, key(t, "alice/manifest.jsonl")), "\n")
			vanish(t, src, "alice")
			log := everythingIn(src, key(t, "_erased.jsonl"))
			seq := strings.Count(log, "\n") + 1
			line := text(`{"seq":%d,"prev":"%s","at":"2026-01-01T00:00:00Z","session":"%s","files":1,"bytes":1,"head":"%s","life":"%s","reason":"x","done":true}`+"\n", seq, forged.prev(log), sha("alice"), head, sha(first))
			must(t, src.Append(t.Context(), key(t, "_erased.jsonl"), int64(len(log)), storage.Redacted(line)))
			wantUnproven(t, dst, src, record.CopyOptions{}, "alice")
			wantUnproven(t, dst, src, record.CopyOptions{}, "alice")
		})
	}
}

// The first line of the log has no line before it, and holds the hash that begins a log. An
// archive without heads has no other proof of the line.
func TestCopyErasesNothingForAForgedFirstTombstone(t *testing.T) {
	src, dst := memory.New(), memory.New()
	step(t, session(t, src, "alice"), 1)
	must(t, second(record.Copy(t.Context(), dst, src, record.CopyOptions{})))
	first, _, _ := strings.Cut(everythingIn(src, key(t, "alice/manifest.jsonl")), "\n")
	vanish(t, src, "alice")
	line := text(`{"seq":1,"prev":"%s","at":"2026-01-01T00:00:00Z","session":"%s","files":1,"bytes":1,"life":"%s","reason":"x","done":true}`+"\n", strings.Repeat("0", 64), sha("alice"), sha(first))
	must(t, src.Append(t.Context(), key(t, "_erased.jsonl"), 0, storage.Redacted(line)))
	wantUnproven(t, dst, src, record.CopyOptions{}, "alice")
}

// If a key is given, a head without its signature proves no erase.
func TestCopyErasesOnlyForASignedHead(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	must(t, err)
	src, dst, opts := lived(t), memory.New(), record.CopyOptions{Public: []ed25519.PublicKey{public}}
	must(t, second(record.Copy(t.Context(), dst, src, opts)))
	eraseAs(t, src, "alice")
	wantUnproven(t, dst, src, opts, "alice")

	src, dst = lived(t), memory.New()
	must(t, second(record.Copy(t.Context(), dst, src, opts)))
	s := session(t, src, "alice")
	s.KeepHeads(record.NewHeads(src, private))
	must(t, second(s.Erase(t.Context(), text("asked for"))))
	must(t, second(record.Copy(t.Context(), dst, src, opts)))
	wantErased(t, dst, "alice")

	src, dst = memory.New(), memory.New() // without heads, as if somebody had removed them
	step(t, session(t, src, "alice"), 1)
	must(t, second(record.Copy(t.Context(), dst, src, opts)))
	must(t, second(session(t, src, "alice").Erase(t.Context(), text("asked for"))))
	wantUnproven(t, dst, src, opts, "alice")
	must(t, second(record.Copy(t.Context(), dst, src, record.CopyOptions{})))
	wantErased(t, dst, "alice")
}

// A damaged refusal does not count as an erase, and a copy does not end a hold.
func TestCopyErasesNothingForADamagedRefusal(t *testing.T) {
	for name, to := range map[string]string{"another member": `"refuse":"`, "no JSON": `"refused:"`} {
		for _, more := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				src, dst := lived(t), memory.New()
				b := session(t, src, "bob")
				b.KeepHeads(record.NewHeads(src, nil))
				must(t, second(record.Copy(t.Context(), dst, src, record.CopyOptions{})))
				if _, err := b.Erase(t.Context(), text("try")); !errors.Is(err, record.ErrHeld) {
					t.Fatal(err)
				}
				damage(t, src, "_erased.jsonl", `"refused":"`, to)
				vanish(t, src, "bob")
				if more {
					eraseAs(t, src, "alice")
				}
				_, err := record.Copy(t.Context(), dst, src, record.CopyOptions{})
				if !errors.Is(err, storage.ErrExists) {
					t.Errorf("copied: %v, want ErrExists", err)
				}
				d := session(t, dst, "bob")
				if h, err := d.Held(t.Context()); !h.Held || err != nil {
					t.Errorf("held %+v, %v", h, err)
				}
				must(t, d.Release(t.Context(), text("over")))
				if done, err := record.Copy(t.Context(), dst, src, record.CopyOptions{}); done.Erased > 0 || !errors.Is(err, storage.ErrExists) {
					t.Errorf("%+v, %v, want ErrExists", done, err)
				}
				wantOK(t, dst, "bob")
			})
		}
	}
}

// An erase in the source that was interrupted ends in the copy.
func TestCopyCarriesAnInterruptedEraseOver(t *testing.T) {
	src, dst := memory.New(), memory.New()
	step(t, session(t, src, "s"), 1)
	must(t, second(record.Copy(t.Context(), dst, src, record.CopyOptions{})))
	if _, err := session(t, &between{Archive: src, dead: true}, "s").Erase(t.Context(), text("asked for")); !errors.Is(err, errDead) {
		t.Errorf("erased: %v, want errDead", err)
	}
	done, err := record.Copy(t.Context(), dst, src, record.CopyOptions{})
	if done.Erased != 1 || err != nil || len(names(t, session(t, dst, "s"))) > 0 {
		t.Errorf("%+v, %v; left are %q", done, err, names(t, session(t, dst, "s")))
	}
	must(t, second(session(t, src, "s").Erase(t.Context(), text("asked for"))))
	must(t, second(record.Copy(t.Context(), dst, src, record.CopyOptions{})))
	wantErased(t, dst, "s")
}

// A session that was put back into the source after its erase does not come back in the
// copy.
func TestCopyBringsNoErasedSessionBack(t *testing.T) {
	src, dst := memory.New(), memory.New()
	step(t, session(t, src, "s"), 1)
	before := backupOf(t, src)
	must(t, second(record.Copy(t.Context(), dst, src, record.CopyOptions{})))
	must(t, second(session(t, src, "s").Erase(t.Context(), text("asked for"))))
	must(t, second(record.Copy(t.Context(), dst, src, record.CopyOptions{})))
	before.putBack(t, src)
	for _, named := range [][]string{nil, {"s"}} {
		if _, err := record.Copy(t.Context(), dst, src, record.CopyOptions{Sessions: named}); !errors.Is(err, record.ErrErased) {
			t.Errorf("copied %q: %v, want ErrErased", named, err)
		}
		wantErased(t, dst, "s")
	}
}

// If the source began a session of one name several times between two copies, the copy
// still erases the session that it has.
func TestCopyErasesAnEarlierLife(t *testing.T) {
	for _, named := range [][]string{nil, {"alice"}} {
		for _, again := range []bool{false, true} {
			src, dst := lived(t), memory.New()
			opts := record.CopyOptions{Sessions: named}
			must(t, second(record.Copy(t.Context(), dst, src, opts)))
			eraseAs(t, src, "alice")
			s := session(t, src, "alice")
			s.KeepHeads(record.NewHeads(src, nil))
			step(t, s, 1)
			if !again {
				eraseAs(t, src, "alice")
			}
			done, err := record.Copy(t.Context(), dst, src, opts)
			if done.Erased != 1 || err != nil && !(errors.Is(err, record.ErrErased) && named != nil && !again) {
				t.Errorf("%v, begun again %v: %+v, %v", named, again, done, err)
			}
			if !again {
				wantErased(t, dst, "alice")
				continue
			}
			if r := wantOK(t, dst, "alice"); r.Steps != 1 {
				t.Errorf("%d steps, want 1", r.Steps)
			}
			wantWhole(t, dst)
		}
	}
}

// A damaged tombstone of the copy stops only the copying of sessions to which it may
// belong.
func TestCopyWithADamagedTombstoneCopiesOtherSessions(t *testing.T) {
	src, dst := lived(t), memory.New()
	must(t, second(record.Copy(t.Context(), dst, src, record.CopyOptions{})))
	eraseAs(t, dst, "alice") // in the copy alone
	damage(t, dst, "_erased.jsonl", `"session":"`+sha("alice"), `"session":"x`)
	step(t, session(t, src, "dora"), 1)
	done, err := record.Copy(t.Context(), dst, src, record.CopyOptions{})
	if !errors.Is(err, storage.ErrDamaged) || !strings.Contains(err.Error(), "alice") || strings.Contains(err.Error(), "dora") || done.Sessions != 2 {
		t.Errorf("%+v, %v; want ErrDamaged, an error with %q and an error without %q", done, err, "alice", "dora")
	}
	wantOK(t, dst, "dora")
	if n := len(names(t, session(t, dst, "alice"))); n > 0 {
		t.Errorf("alice is back, with %d files", n)
	}
}

// A session to which a damaged tombstone may belong is not copied. The heads are not
// copied either, because they would show that the session is missing.
func TestCopyBesideADamagedTombstoneCopiesNoHeads(t *testing.T) {
	for name, nameless := range map[string]bool{"of this session": false, "of any session": true} {
		t.Run(name, func(t *testing.T) {
			src, dst := memory.New(), memory.New()
			first := session(t, src, "alice")
			first.KeepHeads(record.NewHeads(src, nil))
			step(t, first, 1)
			must(t, second(record.Copy(t.Context(), dst, src, record.CopyOptions{Sessions: []string{"alice"}})))
			must(t, second(session(t, dst, "alice").Erase(t.Context(), text("in the copy alone"))))
			damage(t, dst, "_erased.jsonl", `"session":"`+sha("alice"), `"session":"x`)
			if nameless {
				damage(t, dst, "_erased.jsonl", `"life":"`, `"life":"x`)
			}
			if _, err := record.Copy(t.Context(), dst, src, record.CopyOptions{}); !errors.Is(err, storage.ErrDamaged) {
				t.Fatalf("copied: %v, want ErrDamaged", err)
			}
			book, err := record.ReadHeads(t.Context(), dst, record.HeadsOptions{})
			must(t, err)
			gone, err := book.Vanished(t.Context(), dst)
			if must(t, err); len(gone) > 0 {
				t.Errorf("%q, want no vanished session", gone[0].Problems)
			}
		})
	}
}

// A damaged tombstone is not copied, because in the copy it could belong to any
// session.
func TestCopyLeavesADamagedTombstone(t *testing.T) {
	src, dst := lived(t), memory.New()
	eraseAs(t, src, "alice")
	damage(t, src, "_erased.jsonl", `"session":"`+sha("carol"), `"session":"x`)
	must(t, second(record.Copy(t.Context(), dst, src, record.CopyOptions{})))
	known := 0
	for stone, err := range record.Tombstones(t.Context(), dst) {
		if must(t, err); stone.Damaged {
			t.Errorf("%+v, want no damaged tombstone", stone)
		}
		known++
	}
	if known != 2 {
		t.Errorf("%d tombstones, want those of alice", known)
	}
}
