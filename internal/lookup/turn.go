package lookup

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/storage/turnindex"
)

// pieces holds the known records of a turn, one for each slot and ordinal.
type pieces []turnindex.Record

// add adds the records of an older index, unless a newer record exists. slot
// Other means all slots.
func (p *pieces) add(records []turnindex.Record, slot turnindex.Slot) {
	for _, r := range records {
		if slot != turnindex.Other && r.Slot != slot {
			continue
		}
		if !slices.ContainsFunc(*p, func(have turnindex.Record) bool { return have.Slot == r.Slot && have.Ord == r.Ord }) {
			*p = append(*p, r)
		}
	}
}

// sparse is the maximum gap in bytes between two lines that are read together. The
// lines of a turn are mostly adjacent.
const sparse = 64 << 10

// mostAtOnce is the maximum number of bytes that ReadLines reads together for several
// lines, and that piece reads for a line whose length is in no ledger. It limits the
// memory that a forged index can use. ReadLines reads a single line of any length.
var mostAtOnce int64 = 64 << 20

// turnText returns the text of a turn, with the name of each slot if there are
// several.
func (s *Session) turnText(ctx context.Context, p pieces, q Ref) (string, bool, error) {
	if len(p) == 0 {
		return "", false, nil
	}
	lines, err := s.provenLines(ctx, p)
	if err != nil {
		return "", false, err
	}
	slices.SortStableFunc(p, func(a, b turnindex.Record) int {
		return cmp.Or(cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.Ord, b.Ord))
	})
	var b strings.Builder
	for i, r := range p {
		if i > 0 {
			b.WriteByte('\n')
		}
		if len(p) > 1 && q.Slot == turnindex.Other && (i == 0 || p[i-1].Slot != r.Slot) {
			b.WriteString("[" + r.Slot.String() + "]\n")
		}
		a, err := ledger.ParseLine(lines[ledger.Place{File: r.File, Off: r.Off}])
		if err != nil {
			return "", false, err
		}
		b.WriteString(a.SlotText(r.Slot))
	}
	return b.String(), true, nil
}

// ReadLines reads the lines of records, adjacent ones with one read.
func (s *Session) ReadLines(ctx context.Context, p []turnindex.Record) (map[ledger.Place][]byte, error) {
	sorted := slices.Clone(p)
	slices.SortFunc(sorted, func(a, b turnindex.Record) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Off, b.Off))
	})
	out := map[ledger.Place][]byte{}
	for len(sorted) > 0 {
		n, end := 1, sorted[0].Off+sorted[0].Len
		for n < len(sorted) && sorted[n].File == sorted[0].File && sorted[n].Off-end <= sparse && sorted[n].Off+sorted[n].Len-sorted[0].Off <= mostAtOnce {
			end = max(end, sorted[n].Off+sorted[n].Len)
			n++
		}
		start := sorted[0].Off
		data, err := s.log.Read(ctx, sorted[0].File, start, end-start)
		if err != nil {
			return nil, err
		}
		for _, r := range sorted[:n] {
			from := min(r.Off-start, int64(len(data)))
			out[ledger.Place{File: r.File, Off: r.Off}] = data[from:min(from+r.Len, int64(len(data)))]
		}
		sorted = sorted[n:]
	}
	return out, nil
}
