package record_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agentcompact/compact/storage/record"
)

// find is a problem that must be reported.
type find struct {
	kind record.ProblemKind
	file string
	line int // 0: of the whole file
}

// tampering lists changes that an attacker could make to a stored session, each with the
// problems that Verify must report.
var tampering = []struct {
	name string
	do   func(s *stored)
	want []find
}{
	{"a transcript is removed", func(s *stored) { must(s.t, os.Remove(s.path("transcript-pre-compact-001.jsonl"))) },
		[]find{{record.Removed, "transcript-pre-compact-001.jsonl", 0}}},
	{"a summary is removed", func(s *stored) { must(s.t, os.Remove(s.path("summary-002.json"))) },
		[]find{{record.Removed, "summary-002.json", 0}}},
	{"the last ledger is removed", func(s *stored) { must(s.t, os.Remove(s.path("ledger-003.json"))) },
		[]find{{record.Removed, "ledger-003.json", 0}}},
	{"a ledger in the middle is removed", func(s *stored) { must(s.t, os.Remove(s.path("ledger-002.json"))) },
		[]find{{record.Removed, "ledger-002.json", 0}}},
	{"the final transcript is removed", func(s *stored) { must(s.t, os.Remove(s.path("transcript-final-001.jsonl"))) },
		[]find{{record.Removed, "transcript-final-001.jsonl", 0}}},
	{"the manifest is removed", func(s *stored) { must(s.t, os.Remove(s.path("manifest.jsonl"))) },
		[]find{{record.Removed, "manifest.jsonl", 0}}},
	{"the manifest is emptied", func(s *stored) { s.write("manifest.jsonl", nil) },
		[]find{{record.Truncated, "manifest.jsonl", 0}}},
	{"the manifest becomes garbage", func(s *stored) { s.write("manifest.jsonl", []byte("garbage\n")) },
		[]find{{record.Truncated, "manifest.jsonl", 0}}},
	{"the events are removed", func(s *stored) { must(s.t, os.Remove(s.path("events.jsonl"))) },
		[]find{{record.Removed, "events.jsonl", 0}}},
	{"the journal is removed", func(s *stored) { must(s.t, os.Remove(s.path("journal.jsonl"))) },
		[]find{{record.Removed, "journal.jsonl", 0}}},
	{"a transcript is added", func(s *stored) { s.write("transcript-pre-compact-004.jsonl", []byte("{}\n")) },
		[]find{{record.Added, "transcript-pre-compact-004.jsonl", 0}}},
	{"an attempt is added", func(s *stored) {
		s.write("transcript-pre-compact-001.2.jsonl", s.read("transcript-pre-compact-001.jsonl"))
	},
		[]find{{record.Added, "transcript-pre-compact-001.2.jsonl", 0}}},
	{"a ledger is added", func(s *stored) { s.write("ledger-004.json", []byte("{}")) },
		[]find{{record.Added, "ledger-004.json", 0}}},
	{"something strange is added", func(s *stored) { s.write("Notes from me.txt", nil) },
		[]find{{record.Added, "Notes from me.txt", 0}}},
	{"a folder is added", func(s *stored) {
		must(s.t, os.Mkdir(s.path("more"), 0o700))
		s.write("more/ledger-001.json", nil)
	}, []find{{record.Added, "more/ledger-001.json", 0}}},
	{"a file becomes a link", func(s *stored) {
		must(s.t, os.Remove(s.path("summary-001.json")))
		must(s.t, os.Symlink("summary-002.json", s.path("summary-001.json")))
	}, []find{{record.Added, "summary-001.json", 0}, {record.Removed, "summary-001.json", 0}}},
	{"one byte of a transcript is changed", func(s *stored) {
		b := s.read("transcript-pre-compact-002.2.jsonl")
		b[len(b)/2] ^= 1
		s.write("transcript-pre-compact-002.2.jsonl", b)
	}, []find{{record.Changed, "transcript-pre-compact-002.2.jsonl", 0}}},
	{"one byte of an abandoned file is changed", func(s *stored) {
		b := s.read("transcript-pre-compact-002.jsonl")
		b[3] ^= 1
		s.write("transcript-pre-compact-002.jsonl", b)
	}, []find{{record.Changed, "transcript-pre-compact-002.jsonl", 0}}},
	{"a ledger is changed", func(s *stored) { s.write("ledger-002.json", []byte(`{"v":1,"step":9}`)) },
		[]find{{record.Changed, "ledger-002.json", 0}}},
	{"a transcript is truncated", func(s *stored) { must(s.t, os.Truncate(s.path("transcript-pre-compact-001.jsonl"), 7)) },
		[]find{{record.Truncated, "transcript-pre-compact-001.jsonl", 0}}},
	{"a final transcript is emptied", func(s *stored) { must(s.t, os.Truncate(s.path("transcript-final-001.jsonl"), 0)) },
		[]find{{record.Truncated, "transcript-final-001.jsonl", 0}}},
	{"a transcript grows", func(s *stored) {
		s.write("transcript-pre-compact-001.jsonl", append(s.read("transcript-pre-compact-001.jsonl"), "{}\n"...))
	}, []find{{record.Changed, "transcript-pre-compact-001.jsonl", 0}}},
	{"two files are swapped", func(s *stored) {
		one, two := s.read("transcript-pre-compact-001.jsonl"), s.read("transcript-pre-compact-003.jsonl")
		s.write("transcript-pre-compact-001.jsonl", two)
		s.write("transcript-pre-compact-003.jsonl", one)
	}, []find{{record.Changed, "transcript-pre-compact-001.jsonl", 0}, {record.Changed, "transcript-pre-compact-003.jsonl", 0}}},
	{"an event is removed", func(s *stored) { s.lines("events.jsonl", func(l [][]byte) [][]byte { return slices.Delete(l, 2, 3) }) },
		[]find{{record.Removed, "events.jsonl", 3}}},
	{"the first event is removed", func(s *stored) { s.lines("events.jsonl", func(l [][]byte) [][]byte { return l[1:] }) },
		[]find{{record.Removed, "events.jsonl", 1}}},
	{"two events are removed", func(s *stored) { s.lines("events.jsonl", func(l [][]byte) [][]byte { return slices.Delete(l, 2, 4) }) },
		[]find{{record.Removed, "events.jsonl", 3}, {record.Removed, "events.jsonl", 3}}},
	{"an event is changed", func(s *stored) {
		s.write("events.jsonl", bytes.Replace(s.read("events.jsonl"), []byte("e2 0"), []byte("e2 7"), 1))
	},
		[]find{{record.Changed, "events.jsonl", 3}}},
	{"an event becomes garbage", func(s *stored) {
		s.lines("events.jsonl", func(l [][]byte) [][]byte { l[3] = []byte("garbage\n"); return l })
	}, []find{{record.Changed, "events.jsonl", 4}}},
	{"two events are swapped", func(s *stored) {
		s.lines("events.jsonl", func(l [][]byte) [][]byte { l[2], l[3] = l[3], l[2]; return l })
	}, []find{{record.Reordered, "events.jsonl", 4}}},
	{"an event comes twice", func(s *stored) {
		s.lines("events.jsonl", func(l [][]byte) [][]byte { return slices.Insert(l, 4, l[2]) })
	},
		[]find{{record.Added, "events.jsonl", 5}}},
	{"garbage is added to the events", func(s *stored) {
		s.lines("events.jsonl", func(l [][]byte) [][]byte { return slices.Insert(l, 3, []byte("garbage\n")) })
	}, []find{{record.Added, "events.jsonl", 4}}},
	{"the events end early", func(s *stored) { s.lines("events.jsonl", func(l [][]byte) [][]byte { return l[:5] }) },
		[]find{{record.Truncated, "events.jsonl", 0}}},
	{"the last event is cut", func(s *stored) { must(s.t, os.Truncate(s.path("events.jsonl"), int64(len(s.read("events.jsonl"))-9))) },
		[]find{{record.Truncated, "events.jsonl", 0}}},
	{"the last event is changed", func(s *stored) {
		s.write("events.jsonl", bytes.Replace(s.read("events.jsonl"), []byte("late 2"), []byte("late 3"), 1))
	},
		[]find{{record.Changed, "events.jsonl", 9}}},
	{"the events are those of another session", func(s *stored) {
		other := session(s.t, s.a, "other")
		step(s.t, other, 1)
		b, err := os.ReadFile(filepath.Join(s.root, "other", "events.jsonl"))
		must(s.t, err)
		s.write("events.jsonl", b)
	}, []find{{record.Changed, "events.jsonl", 1}, {record.Truncated, "events.jsonl", 0}}},
	{"a line of the manifest is removed", func(s *stored) {
		s.lines("manifest.jsonl", func(l [][]byte) [][]byte { return slices.Delete(l, 1, 2) })
	},
		[]find{{record.Removed, "manifest.jsonl", 2}}},
	{"a line of the manifest is changed", func(s *stored) {
		s.write("manifest.jsonl", bytes.Replace(s.read("manifest.jsonl"), []byte(`"op":"put"`), []byte(`"op":"tup"`), 1))
	}, []find{{record.Changed, "manifest.jsonl", 1}}},
	{"lines of the manifest are swapped", func(s *stored) {
		s.lines("manifest.jsonl", func(l [][]byte) [][]byte { l[4], l[5] = l[5], l[4]; return l })
	}, []find{{record.Reordered, "manifest.jsonl", 6}}},
}

func TestVerifyReportsEachTampering(t *testing.T) {
	for _, c := range tampering {
		t.Run(c.name, func(t *testing.T) {
			s := newStored(t)
			c.do(s)
			for _, head := range []string{"", s.head} {
				r := verify(t, s.a, "s", record.VerifyOptions{Head: head})
				if r.OK() {
					t.Fatalf("head %q: the change was not detected", head)
				}
				left := slices.Clone(r.Problems)
				for _, w := range c.want {
					i := slices.IndexFunc(left, func(p record.Problem) bool { return find{p.Kind, p.File, p.Line} == w })
					if i < 0 {
						t.Errorf("head %q: %+v is not among %v", head, w, r.Problems)
						continue
					}
					left = slices.Delete(left, i, i+1)
				}
				for _, p := range left {
					t.Errorf("head %q: verify also reports %v", head, p)
				}
			}
		})
	}
}
