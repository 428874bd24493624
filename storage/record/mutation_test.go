package record_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// folder is the content of a session's folder, by name.
type folder map[string][]byte

// mutations are the ways to change one thing in a folder. Each returns a description of
// the change, or "" if it found nothing to change.
var mutations = []func(r *rand.Rand, f folder, name string) string{
	func(r *rand.Rand, f folder, name string) string { // one bit
		b := bytes.Clone(f[name])
		if len(b) == 0 {
			return ""
		}
		i := r.IntN(len(b))
		b[i] ^= 1 << r.IntN(8)
		f[name] = b
		return fmt.Sprintf("byte %d flipped", i)
	},
	func(r *rand.Rand, f folder, name string) string { // a few bytes are cut out
		b := f[name]
		if len(b) < 2 {
			return ""
		}
		i := r.IntN(len(b) - 1)
		j := min(len(b), i+1+r.IntN(40))
		f[name] = slices.Concat(b[:i], b[j:])
		return fmt.Sprintf("bytes %d to %d cut out", i, j)
	},
	func(r *rand.Rand, f folder, name string) string { // bytes are cut out of the last line
		b := f[name]
		if len(b) < 2 {
			return ""
		}
		begin := bytes.LastIndexByte(b[:len(b)-1], '\n') + 1
		i := begin + r.IntN(len(b)-begin)
		j := min(len(b), i+1+r.IntN(4))
		f[name] = slices.Concat(b[:i], b[j:])
		return fmt.Sprintf("bytes %d to %d cut out of the last line", i, j)
	},
	func(r *rand.Rand, f folder, name string) string { // a few bytes are put in
		b := f[name]
		i := r.IntN(len(b) + 1)
		more := make([]byte, 1+r.IntN(20))
		for k := range more {
			more[k] = byte(r.IntN(256))
		}
		f[name] = slices.Concat(b[:i], more, b[i:])
		return fmt.Sprintf("%q put in at %d", more, i)
	},
	func(r *rand.Rand, f folder, name string) string { // the end is removed
		b := f[name]
		if len(b) == 0 {
			return ""
		}
		i := r.IntN(len(b))
		f[name] = b[:i]
		return fmt.Sprintf("cut off at %d", i)
	},
	func(r *rand.Rand, f folder, name string) string { // a line is removed
		l := bytes.SplitAfter(f[name], []byte("\n"))
		i := r.IntN(len(l))
		if len(l[i]) == 0 {
			return ""
		}
		f[name] = bytes.Join(slices.Delete(slices.Clone(l), i, i+1), nil)
		return fmt.Sprintf("line %d removed", i+1)
	},
	func(r *rand.Rand, f folder, name string) string { // a line comes twice
		l := bytes.SplitAfter(f[name], []byte("\n"))
		i, j := r.IntN(len(l)), r.IntN(len(l))
		f[name] = bytes.Join(slices.Insert(slices.Clone(l), j, l[i]), nil)
		return fmt.Sprintf("line %d once more at %d", i+1, j+1)
	},
	func(r *rand.Rand, f folder, name string) string { // lines change places
		l := slices.Clone(bytes.SplitAfter(f[name], []byte("\n")))
		i, j := r.IntN(len(l)), r.IntN(len(l))
		l[i], l[j] = l[j], l[i]
		f[name] = bytes.Join(l, nil)
		return fmt.Sprintf("lines %d and %d swapped", i+1, j+1)
	},
	func(_ *rand.Rand, f folder, name string) string { f[name] = nil; return "emptied" },
	func(_ *rand.Rand, f folder, name string) string { f[name] = []byte("garbage\n"); return "made garbage" },
	func(_ *rand.Rand, f folder, name string) string { delete(f, name); return "removed" },
	func(r *rand.Rand, f folder, name string) string { // a file replaces another
		names := slices.Sorted(maps.Keys(f))
		other := names[r.IntN(len(names))]
		f[name], f[other] = f[other], f[name]
		return "swapped with " + other
	},
	func(_ *rand.Rand, f folder, name string) string { // a file under a name that fits
		for n := 4; ; n++ {
			if other := fmt.Sprintf("ledger-%03d.json", n); f[other] == nil {
				f[other] = f[name]
				return "copied to " + other
			}
		}
	},
}

// TestVerifyFindsEveryMutation changes one thing of a stored session at a time. If
// Verify then accepts the session, it must hold every byte that was stored (with a kept
// head of the manifest), or all files that the lines of the manifest still name
// (without one).
func TestVerifyFindsEveryMutation(t *testing.T) {
	whole, head := mutable(t)
	names := slices.Sorted(maps.Keys(whole))
	count := 300
	if os.Getenv("COMPACT_SOAK") != "" {
		count = 3000
	}
	found, harmless := 0, 0
	for seed := range count {
		r := rand.New(rand.NewPCG(uint64(seed), 17))
		f := maps.Clone(whole)
		name := names[seed%len(names)]
		did := mutations[r.IntN(len(mutations))](r, f, name)
		if did == "" || maps.EqualFunc(f, whole, bytes.Equal) {
			harmless++
			continue
		}
		for _, kept := range []string{head, ""} {
			report := verify(t, place(t, f), "s", record.VerifyOptions{Head: kept})
			switch lost := missing(whole, f); {
			case !report.OK():
				found++
			case lost == "":
				harmless++
			case kept == "" && !report.TailProven && lastLineOnly(whole, f, lost):
				harmless++ // no line confirms the last line, and Verify reports that
			case kept == "" && endsEarly(whole, f, lost):
				harmless++ // covered by "the end is not proven"
				if report.TailProven {
					t.Errorf("seed %d: %s %s: the tail is called proven", seed, name, did)
				}
			default:
				t.Errorf("seed %d: %s %s: head %.8q: %s differs from the stored content, and verifies", seed, name, did, kept, lost)
			}
		}
	}
	t.Logf("%d mutations: %d reports found them, %d were shown harmless", count, found, harmless)
	if found < count {
		t.Errorf("only %d of %d reports found a mutation, want at least %d", found, 2*count, count)
	}
}

// mutable returns a session of three steps, with all kinds of files that a folder can hold, and the head of its manifest.
// Its last step refers to the first one, and to an edit between the steps.
func mutable(t *testing.T) (folder, string) {
	t.Helper()
	a := memory.New()
	s := session(t, a, "s")
	step(t, s, 1)
	step(t, s, 2)
	var third record.Content
	kept := lines("kept", 2)
	third.Same(inLog(kept[1], logged(t, s, kept...)[1]))
	third.Same(stretch("transcript-pre-compact-001.jsonl", lines("t1", 3), 1, 2))
	third.Line(text(`{"role":"user","content":"new"}`))
	must(t, second(s.TranscriptOf(t.Context(), 3, &third)))
	must(t, second(s.Summary(t.Context(), 3, text(`{"summary":3}`))))
	must(t, s.Events(t.Context(), lines("e3", 2)))
	must(t, second(s.Commit(t.Context(), 3, text(`{"v":1,"step":3}`))))
	must(t, s.Journal(t.Context(), lines("j", 5)))
	must(t, second(s.Final(t.Context(), lines("f", 4))))
	must(t, s.Events(t.Context(), lines("late", 3)))
	must(t, s.Checkpoint(t.Context()))
	f := folder{}
	for info, err := range s.Files(t.Context()) {
		must(t, err)
		body, err := readAll(t.Context(), s, info.Key.Base())
		must(t, err)
		f[info.Key.Base()] = []byte(body)
	}
	return f, s.ManifestHead()
}

// place stores a folder as the session "s".
func place(t *testing.T, f folder) storage.Archive {
	t.Helper()
	a := memory.New()
	for name, body := range f {
		must(t, a.Create(context.Background(), mustKey(t, "s/"+name), storage.Redacted(text("%s", body))))
	}
	return a
}

// missing names a file that does not begin with its former content, or returns "". A
// log may have more lines, and its last line feed does not count.
func missing(whole, f folder) string {
	for _, name := range slices.Sorted(maps.Keys(whole)) {
		want, have := whole[name], f[name]
		if isLogName(name) {
			want = bytes.TrimSuffix(want, []byte("\n"))
			have = have[:min(len(have), len(want))]
		}
		if !bytes.Equal(want, have) {
			return name
		}
	}
	return ""
}

// endsEarly reports whether only the end of the manifest is missing, and no other file
// has changed. Bytes in the place of the end are not a line, so no reader takes them
// for one.
func endsEarly(whole, f folder, lost string) bool {
	others := maps.Clone(f)
	others[lost] = whole[lost]
	if lost != "manifest.jsonl" || missing(whole, others) != "" {
		return false
	}
	rest := bytes.SplitAfter(f[lost], []byte("\n"))
	for _, line := range bytes.SplitAfter(whole[lost], []byte("\n")) {
		if len(rest) > 0 && bytes.Equal(rest[0], line) {
			rest = rest[1:]
		}
	}
	return !slices.ContainsFunc(rest, json.Valid)
}

// lastLineOnly reports whether only the last line of the manifest was changed.
func lastLineOnly(whole, f folder, lost string) bool {
	others := maps.Clone(f)
	others[lost] = whole[lost]
	if lost != "manifest.jsonl" || missing(whole, others) != "" {
		return false
	}
	was := bytes.TrimSuffix(whole[lost], []byte("\n"))
	return bytes.HasPrefix(f[lost], was[:bytes.LastIndexByte(was, '\n')+1])
}

func isLogName(name string) bool {
	return slices.Contains([]string{"manifest.jsonl", "events.jsonl", "journal.jsonl", "edits.jsonl"}, name)
}
