// Package forgery tests that a verification detects forged heads and forged
// sessions of an archive. The tests of every kind of archive use it.
package forgery

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// scene is an archive with sessions to forge: alice has two steps of two processes,
// bob is under a hold that stopped an erase, carol was erased.
type scene struct {
	t    *testing.T
	a    storage.Archive
	text func(string) redact.Text // makes a redacted text of any string
	key  ed25519.PrivateKey
	old  state // the state after alice's first step, before bob's hold and before carol's erase
	full state
}

// state is the content of an archive.
type state map[storage.Key][]byte

// Run forges heads and sessions of an archive, which must be empty and able to
// remove, and fails the test if the verification misses a forgery. With a step
// above 1 it tries only every step-th forgery of a single line.
func Run(t *testing.T, a storage.Archive, step int, text func(string) redact.Text) {
	s := &scene{t: t, a: a, text: text, key: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))}
	s.build()
	if found := s.verify(nil, nil); len(found) > 0 {
		t.Fatalf("before anything is forged: %q", found)
	}
	s.lines(step)
	s.sessions()
	s.records()
	s.copies()
	s.signatures()
}

func (s *scene) build() {
	one, two := record.NewHeads(s.a, s.key), record.NewHeads(s.a, s.key)
	alice, bob, carol := s.open("alice", one), s.open("bob", one), s.open("carol", one)
	for _, x := range []*record.Session{alice, bob, carol} {
		s.commit(x, 1)
	}
	s.old = s.dump()
	s.must(bob.Hold(s.t.Context(), s.text("a case")))
	bob.ActAs(s.text("erin"))
	if _, err := bob.Erase(s.t.Context(), s.text("in the way")); !errors.Is(err, record.ErrHeld) {
		s.t.Fatalf("the erase of a held session: %v", err)
	}
	carol.ActAs(s.text("dave"))
	_, err := carol.Erase(s.t.Context(), s.text("asked for"))
	s.must(err)
	again := s.open("alice", two)
	s.commit(again, 2)
	s.must(again.Events(s.t.Context(), []redact.Text{s.text(`{"last":true}`)}))
	s.must(again.Checkpoint(s.t.Context()))
	s.full = s.dump()
}

func (s *scene) open(id string, h *record.Heads) *record.Session {
	x, err := record.OpenSession(s.t.Context(), s.a, id)
	s.must(err)
	x.KeepHeads(h)
	return x
}

func (s *scene) commit(x *record.Session, step int) {
	ctx := s.t.Context()
	_, err := x.Transcript(ctx, step, []redact.Text{s.text(fmt.Sprintf(`{"step":%d}`, step))})
	s.must(err)
	_, err = x.Commit(ctx, step, s.text(fmt.Sprintf(`{"v":1,"step":%d}`, step)))
	s.must(err)
}

func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) dump() state {
	all := state{}
	for info, err := range s.a.List(s.t.Context(), storage.Key{}) {
		s.must(err)
		r, err := s.a.Open(s.t.Context(), info.Key, 0, -1)
		s.must(err)
		data, err := io.ReadAll(r)
		s.must(err)
		s.must(r.Close())
		all[info.Key] = data
	}
	return all
}

// put stores data under a key, or removes the key if data is nil.
func (s *scene) put(k storage.Key, data []byte) {
	s.must(s.a.(storage.Remover).Remove(s.t.Context(), k))
	b := storage.Redacted(s.text(string(data)))
	switch {
	case data == nil:
	case strings.HasSuffix(k.String(), "manifest.jsonl"), strings.HasSuffix(k.String(), "events.jsonl"), k.String()[0] == '_' && k.Dir() != "_names":
		s.must(s.a.Append(s.t.Context(), k, 0, b))
	default:
		s.must(s.a.Create(s.t.Context(), k, b))
	}
}

// become restores a state for the keys that the function in selects.
func (s *scene) become(want state, in func(storage.Key) bool) {
	now := s.dump()
	for k := range now {
		if _, ok := want[k]; !ok && in(k) {
			s.put(k, nil)
		}
	}
	for k, data := range want {
		if have, ok := now[k]; in(k) && (!ok || !bytes.Equal(have, data)) {
			s.put(k, data)
		}
	}
}

func (s *scene) restore() { s.become(s.full, anything) }

func anything(storage.Key) bool { return true }

func below(dir string) func(storage.Key) bool {
	return func(k storage.Key) bool { return k.Dir() == dir }
}

// heads returns the files of heads, in order.
func (s *scene) heads(in state) (keys []storage.Key) {
	for k := range in {
		if k.Dir() == "_heads" {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(x, y storage.Key) int { return strings.Compare(x.String(), y.String()) })
	return keys
}

// copyOf returns a copy of the heads, as an auditor has it.
func (s *scene) copyOf(in state) []byte {
	var b []byte
	for _, k := range s.heads(in) {
		b = append(b, in[k]...)
	}
	return b
}

// verify returns a description of everything that is wrong or not proven.
func (s *scene) verify(copied []byte, public []ed25519.PublicKey) (found []string) {
	ctx := s.t.Context()
	book, err := record.ReadHeads(ctx, s.a, record.HeadsOptions{Public: public})
	s.must(err)
	if copied != nil {
		s.must(book.Copy(ctx, bytes.NewReader(copied), "the copy"))
	}
	reports, err := book.Vanished(ctx, s.a)
	s.must(err)
	for _, r := range reports {
		found = append(found, r.Notes...)
	}
	graves, err := record.VerifyTombstones(ctx, s.a)
	s.must(err)
	reports = append(reports, book.Report(), graves)
	for info, err := range record.Sessions(ctx, s.a) {
		s.must(err)
		x, err := record.OpenDir(ctx, s.a, info.Dir)
		s.must(err)
		r, err := x.Verify(ctx, record.VerifyOptions{Heads: book})
		s.must(err)
		if reports = append(reports, r); !r.TailProven {
			found = append(found, info.Dir+": not proven")
		}
	}
	for _, r := range reports {
		for _, p := range r.Problems {
			found = append(found, r.Dir+": "+p.String())
		}
	}
	return found
}

// find fails the test unless one of the findings contains all of the words.
func (s *scene) find(name string, found []string, words ...string) {
	s.t.Helper()
	ok := slices.ContainsFunc(found, func(f string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(f, w) })
	})
	if !ok {
		s.t.Errorf("%s: found %q, want %q", name, found, words)
	}
	s.restore()
}

// lines removes, changes and swaps each line of the heads.
func (s *scene) lines(step int) {
	n := 0
	try := func(name string, k storage.Key, lines [][]byte) {
		if n++; n%step == 0 {
			s.put(k, bytes.Join(lines, nil))
			s.find(name, s.verify(nil, nil))
		}
	}
	for _, k := range s.heads(s.full) {
		lines := bytes.SplitAfter(bytes.TrimSuffix(s.full[k], []byte("\n")), []byte("\n"))
		lines[len(lines)-1] = append(slices.Clone(lines[len(lines)-1]), '\n')
		for i := range lines {
			name := fmt.Sprintf("line %d of %s", i+1, k)
			try(name+" removed", k, slices.Delete(slices.Clone(lines), i, i+1))
			changed := slices.Clone(lines)
			changed[i] = bytes.Replace(lines[i], []byte(`"head":"`), []byte(`"head":"0`), 1)
			try(name+" changed", k, changed)
			if i > 0 {
				swapped := slices.Clone(lines)
				swapped[i], swapped[i-1] = swapped[i-1], swapped[i]
				try(name+" moved", k, swapped)
			}
		}
	}
}

// sessions forges sessions in ways that only the heads reveal.
func (s *scene) sessions() {
	none := state{}
	s.become(none, below("alice"))
	s.find("a folder deleted", s.verify(nil, nil), "alice", "vanished", "mark at")
	s.become(none, func(k storage.Key) bool { return k.Dir() == "alice" || k.Dir() == "_names" })
	s.find("a folder and its name deleted", s.verify(nil, nil), "vanished")
	s.become(s.old, below("alice"))
	s.find("a session rolled back", s.verify(nil, nil), "alice", "rolled back")
	s.become(s.old, below("bob"))
	s.find("a hold rolled back", s.verify(nil, nil), "bob", "lost its legal hold")
	s.become(s.old, below("carol"))
	s.find("an erased session restored", s.verify(nil, nil), "carol", "rolled back", "erase", "by dave")
	s.become(none, below("bob"))
	s.commit(s.open("bob", nil), 1)
	s.find("a session begun anew", s.verify(nil, nil), "bob", "began again")
	stones := func(k storage.Key) bool { return k.String() == "_erased.jsonl" }
	s.become(none, stones)
	s.find("the tombstones deleted", s.verify(nil, nil), "the tombstone is gone", "erase")
	for k, data := range s.full {
		if stones(k) {
			s.put(k, data[:bytes.LastIndexByte(data[:len(data)-1], '\n')+1]) // the last line, of op done
			s.find("the last tombstone cut off", s.verify(nil, nil), "no tombstone says that it was completed")
			s.put(k, bytes.Replace(data, []byte(`"head":"`), []byte(`"head":"1`), 2))
			s.find("a tombstone changed", s.verify(nil, nil), "tombstone is gone")
		}
	}
	s.become(none, below("_heads"))
	s.find("the heads deleted", s.verify(nil, nil), "bob: not proven")
}

// records rewrites the tombstones with a valid chain.
func (s *scene) records() {
	var k storage.Key
	for key := range s.full {
		if key.String() == "_erased.jsonl" {
			k = key
		}
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(s.full[k], []byte("\n")), []byte("\n"))
	if len(lines) != 3 {
		s.t.Fatalf("%d tombstones", len(lines))
	}
	first := string(linked.FindSubmatch(lines[0])[1])
	for name, forge := range map[string]func(line []byte) []byte{
		"who":  func(l []byte) []byte { return bytes.Replace(l, []byte(`"dave"`), []byte(`"erin"`), 1) },
		"why":  func(l []byte) []byte { return bytes.Replace(l, []byte(`"asked for"`), []byte(`"by mistake"`), 1) },
		"time": func(l []byte) []byte { return bytes.Replace(l, []byte(`"at":"2`), []byte(`"at":"1`), 1) },
	} {
		for _, of := range [][]int{{1, 2}, {1}, {2}} {
			changed := slices.Clone(lines)
			for _, i := range of {
				changed[i] = forge(changed[i])
			}
			s.put(k, chained(first, changed))
			s.find(fmt.Sprintf("%s of tombstones %v", name, of), s.verify(nil, nil), "erase", "by dave", "the tombstone says")
		}
	}
	s.put(k, chained(first, lines[1:]))
	s.find("the refusal dropped", s.verify(nil, nil), "bob", "refusal", "by erin")
	s.put(k, chained(first, [][]byte{bytes.Replace(lines[0], []byte("erin"), []byte("dave"), 1), lines[1], lines[2]}))
	s.find("the refusal of somebody else", s.verify(nil, nil), "bob", "refusal", "by erin")
}

var linked = regexp.MustCompile(`^\{"seq":\d+,"prev":"([0-9a-f]{64})"`)

// chained gives lines of a log new numbers and new hashes of the previous lines.
func chained(prev string, lines [][]byte) []byte {
	var out [][]byte
	for i, line := range lines {
		line = append(bytes.TrimSuffix(slices.Clone(line), []byte("\n")), '\n')
		line = linked.ReplaceAll(line, fmt.Appendf(nil, `{"seq":%d,"prev":"%s"`, i+1, prev))
		prev = fmt.Sprintf("%x", sha256.Sum256(bytes.TrimSuffix(line, []byte("\n"))))
		out = append(out, line)
	}
	return bytes.Join(out, nil)
}

// copies forges heads in ways that only external copies of the heads reveal.
func (s *scene) copies() {
	kept := s.copyOf(s.full)
	if found := s.verify(kept, nil); len(found) > 0 {
		s.t.Errorf("with a copy, before anything is forged: %q", found)
	}
	s.become(state{}, below("_heads"))
	s.find("the heads deleted, with a copy", s.verify(kept, nil), "the archive has none")
	for _, k := range s.heads(s.full) { // no line contains the hash of the last line
		s.put(k, bytes.Replace(s.full[k], []byte(`"op":"mark"`), []byte(`"op":"final"`), 1))
	}
	s.find("the last line written anew", s.verify(kept, nil), "the copy has another line")
	s.become(s.old, anything)
	s.find("all of it rolled back", s.verify(kept, nil), "bob", "lost its legal hold")
	s.become(s.old, anything)
	s.find("all of it rolled back", s.verify(kept, nil), "the copy has line")
	s.become(state{}, anything)
	s.find("all of it deleted", s.verify(kept, nil), "vanished")
}

// signatures rewrites heads like an attacker without a key.
func (s *scene) signatures() {
	public := []ed25519.PublicKey{s.key.Public().(ed25519.PublicKey)}
	if found := s.verify(nil, public); len(found) > 0 {
		s.t.Errorf("signed, before anything is forged: %q", found)
	}
	for _, key := range []ed25519.PrivateKey{nil, ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, ed25519.SeedSize))} {
		s.become(s.old, below("bob"))
		s.become(state{}, below("_heads"))
		s.commit(s.open("bob", record.NewHeads(s.a, key)), 2)
		want := "not signed"
		if key != nil {
			want = "another key"
		}
		s.find("heads of somebody else", s.verify(nil, public), "_heads", want)
	}
}
