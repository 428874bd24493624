package record

import "testing"

// If several announcements name the same ledger, committedBy returns the one whose
// files all exist.
func TestLedgerIsCommittedByTheAnnouncementWhoseFilesExist(t *testing.T) {
	have, blob := fileHash{Name: "1.json", Bytes: 3, SHA256: "aa"}, fileHash{Name: "b", Bytes: 5, SHA256: "bb"}
	lost := fileHash{Name: "c", Bytes: 5, SHA256: "cc"}
	commits := []record{
		{Step: 1, fileHash: have, With: []fileHash{lost}}, {Step: 2, fileHash: have, With: []fileHash{blob}},
		{Step: 3, fileHash: fileHash{Name: "1.json", Bytes: 4, SHA256: "ab"}}, {Step: 4, fileHash: have},
	}
	hashes := map[string]fileHash{"b": blob}
	for _, c := range []struct {
		commits []record
		have    fileHash
		want    int
	}{
		{commits, have, 2}, {commits[:1], have, 1}, {commits[2:], have, 4}, {commits, fileHash{Name: "1.json", Bytes: 9}, 1},
	} {
		if got := committedBy(c.commits, c.have, hashes); got.Step != c.want {
			t.Errorf("announcement %d, want %d", got.Step, c.want)
		}
	}
}

// A mark of the manifest ends with a line of the log.
func TestMarkThatEndsWithinALineIsAChange(t *testing.T) {
	for _, m := range []struct {
		mark logMark
		want int
	}{
		{logMark{end: 40, head: "h"}, 0}, {logMark{end: 39, head: "h"}, 1}, {logMark{end: 40, head: "g"}, 1}, {logMark{end: 41, head: "g"}, 0},
	} {
		v := &verifier{}
		c := &logCheck{v: v, name: "events.jsonl", head: "h", end: 40, marks: []logMark{m.mark}}
		c.passMarks()
		if n := len(v.report.Problems); n != m.want || len(c.marks) != one(m.mark.end > 40) {
			t.Errorf("%+v: %d problems, %d marks left, want %d", m.mark, n, len(c.marks), m.want)
		}
	}
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}
