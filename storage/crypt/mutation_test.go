package crypt_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/crypt"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// objects is the content of the archive below the encryption.
type objects map[string][]byte

var mutations = []func(r *rand.Rand, o objects, name string) string{
	func(r *rand.Rand, o objects, name string) string {
		b := bytes.Clone(o[name])
		i := r.IntN(len(b))
		b[i] ^= 1 << r.IntN(8)
		o[name] = b
		return fmt.Sprintf("byte %d flipped", i)
	},
	func(r *rand.Rand, o objects, name string) string {
		i := r.IntN(len(o[name]))
		o[name] = o[name][:i]
		return fmt.Sprintf("cut off at %d", i)
	},
	func(r *rand.Rand, o objects, name string) string {
		b := o[name]
		i := r.IntN(len(b))
		j := min(len(b), i+1+r.IntN(40))
		o[name] = slices.Concat(b[:i], b[j:])
		return fmt.Sprintf("bytes %d to %d cut out", i, j)
	},
	func(r *rand.Rand, o objects, name string) string {
		b := o[name]
		i := r.IntN(len(b) + 1)
		o[name] = slices.Concat(b[:i], []byte("more"), b[i:])
		return fmt.Sprintf("more put in at %d", i)
	},
	func(_ *rand.Rand, o objects, name string) string { o[name] = nil; return "emptied" },
	func(_ *rand.Rand, o objects, name string) string {
		o[name] = []byte("garbage\n")
		return "made garbage"
	},
	func(_ *rand.Rand, o objects, name string) string { delete(o, name); return "removed" },
	func(r *rand.Rand, o objects, name string) string {
		names := slices.Sorted(maps.Keys(o))
		other := names[r.IntN(len(names))]
		o[name], o[other] = o[other], o[name]
		return "swapped with " + other
	},
	func(_ *rand.Rand, o objects, name string) string {
		o["s/ledger-009.json.age"] = o[name]
		return "copied to a ledger"
	},
}

// TestVerifyFindsEveryMutation changes one thing of an encrypted session at a time. A
// session that Verify accepts then contains every stored byte; without a head, all
// except the end.
func TestVerifyFindsEveryMutation(t *testing.T) {
	p := newPair(t)
	k := keys(t, p.identity, p)
	whole, head := mutable(t, k)
	stored := contents(t, whole, k)
	names := slices.Sorted(maps.Keys(whole))
	count, found, harmless := 50, 0, 0
	if os.Getenv("COMPACT_SOAK") != "" {
		count = 3000
	}
	for seed := range count {
		r := rand.New(rand.NewPCG(uint64(seed), 17))
		o, name := maps.Clone(whole), names[seed%len(names)]
		did := mutations[r.IntN(len(mutations))](r, o, name)
		same := maps.Equal(contents(t, o, k), stored)
		for _, kept := range []string{head, ""} {
			report, err := record.Verify(t.Context(), crypt.New(place(t, o), k), "s", record.VerifyOptions{Head: kept})
			must(t, err)
			switch {
			case !report.OK():
				found++
			case same, kept == "" && strings.HasPrefix(name, "s/manifest.jsonl/") && !report.TailProven:
				harmless++
			default:
				t.Errorf("seed %d: %s %s: head %.8q: the changed session verifies", seed, name, did, kept)
			}
		}
	}
	t.Logf("%d mutations: %d reports found them, %d were shown harmless", count, found, harmless)
	if found < count {
		t.Errorf("only %d of %d reports found a mutation, want at least %d", found, 2*count, count)
	}
}

func mutable(t *testing.T, k *crypt.Keys) (objects, string) {
	t.Helper()
	inner := memory.New()
	s, err := record.OpenSession(t.Context(), crypt.New(inner, k), "s")
	must(t, err)
	for n := 1; n <= 2; n++ {
		step(t, s, n)
	}
	must(t, s.Checkpoint(t.Context()))
	o := objects{}
	for info, err := range inner.List(t.Context(), storage.Key{}) {
		must(t, err)
		body, err := read(t.Context(), inner, info.Key, 0, -1)
		must(t, err)
		o[info.Key.String()] = []byte(body)
	}
	return o, s.ManifestHead()
}

// step takes a session through one whole step.
func step(t testing.TB, s *record.Session, n int) {
	t.Helper()
	lines := func(tag string) []redact.Text {
		return []redact.Text{text(t, fmt.Sprintf(`{"content":"%s %d"}`, tag, n)), text(t, fmt.Sprintf(`{"content":"%s again"}`, tag))}
	}
	_, err := s.Transcript(t.Context(), n, lines("a message"))
	must(t, err)
	must(t, s.Events(t.Context(), lines("an event")))
	_, err = s.Commit(t.Context(), n, text(t, `{"v":1}`))
	must(t, err)
}

func place(t *testing.T, o objects) storage.Archive {
	t.Helper()
	a := memory.New()
	for name, body := range o {
		must(t, a.Create(context.Background(), key(t, name), storage.Redacted(text(t, string(body)))))
	}
	return a
}

// contents returns the readable contents, by key.
func contents(t *testing.T, o objects, k *crypt.Keys) map[string]string {
	t.Helper()
	a, out := crypt.New(place(t, o), k), map[string]string{}
	for info, err := range a.List(t.Context(), storage.Key{}) {
		must(t, err)
		if info.Foreign != "" {
			out[info.Foreign] = "foreign"
			continue
		}
		body, err := read(t.Context(), a, info.Key, 0, -1)
		if err != nil {
			body = "unreadable"
		}
		out[info.Key.String()] = body
	}
	return out
}

// TestChangedPieceOfALogYieldsNoLine: the text before and after the changed piece is
// read at its place, in any range.
func TestChangedPieceOfALogYieldsNoLine(t *testing.T) {
	p := newPair(t)
	k := keys(t, p.identity, p)
	inner := memory.New()
	a := crypt.New(inner, k)
	log, size := key(t, "s/log.jsonl"), int64(0)
	for _, line := range []string{"one\n", "second\n", "three\n"} {
		must(t, a.Append(t.Context(), log, size, storage.Redacted(text(t, line))))
		size += int64(len(line))
	}
	o := objects{}
	for info, err := range inner.List(t.Context(), storage.Key{}) {
		must(t, err)
		r, err := inner.Open(t.Context(), info.Key, 0, -1)
		must(t, err)
		o[info.Key.String()], err = io.ReadAll(r)
		must(t, err)
	}
	o["s/log.jsonl/00000000000000000004.age"][1050] ^= 1
	want := "one\n\x00\x00\x00\x00\x00\x00\nthree\n"
	changed := crypt.New(place(t, o), k)
	for off := range want {
		for n := -1; n <= len(want)-off; n++ {
			end := len(want)
			if n >= 0 {
				end = off + n
			}
			if got, err := read(t.Context(), changed, log, int64(off), int64(n)); err != nil || got != want[off:end] {
				t.Errorf("%d bytes at %d: %q, %v; want %q", n, off, got, err, want[off:end])
			}
		}
	}
	used := []byte(strings.Repeat("x", len(want))) // by an earlier read
	r, err := changed.Open(t.Context(), log, 0, -1)
	must(t, err)
	if _, err := io.ReadFull(r, used); err != nil || string(used) != want {
		t.Errorf("into a used buffer: %q, %v; want %q", used, err, want)
	}
	must(t, r.Close())
}

// A file that is not encrypted is listed under its name, as a file of another program.
func TestPlainFileOfAnEncryptedArchiveIsForeign(t *testing.T) {
	p, inner := newPair(t), memory.New()
	a := crypt.New(inner, keys(t, p.identity, p))
	must(t, a.Create(t.Context(), key(t, "s/file"), storage.Redacted(text(t, "x"))))
	must(t, inner.Create(t.Context(), key(t, "s/plain"), storage.Redacted(text(t, "x"))))
	var got []string
	for info, err := range a.List(t.Context(), key(t, "s")) {
		must(t, err)
		got = append(got, info.Key.String()+"|"+info.Foreign)
	}
	slices.Sort(got)
	if want := []string{"s/file|", "|s/plain"}; !slices.Equal(got, want) {
		t.Errorf("listed are %q, want %q", got, want)
	}
}
