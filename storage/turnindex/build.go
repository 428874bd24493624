package turnindex

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// ErrLimit means that a record has a number that the format can't hold.
var ErrLimit = errors.New("turnindex: a record does not fit the form")

// Set collects the records of an index. The zero Set is empty and covers no
// step. It is not safe for concurrent use.
type Set struct {
	first, last uint32
	files       []string
	at          map[string]uint16
	records     []encodedRecord
}

// Cover records that the set covers the steps from first to last. Several calls
// extend the range.
func (s *Set) Cover(first, last int) {
	if s.first == 0 || uint32(first) < s.first {
		s.first = uint32(first)
	}
	s.last = max(s.last, uint32(last))
}

// Len returns how many records were added.
func (s *Set) Len() int { return len(s.records) }

// Files returns the names of the files that the records name. The caller must not modify
// the result.
func (s *Set) Files() []string { return s.files }

// Add adds a record. Of several records with one key, slot and ordinal (and
// length, for a fingerprint), only the first one stays, so add newer records
// before older ones. If the error is [ErrLimit], the record was not added.
func (s *Set) Add(r Record) error {
	if r.Off < 0 || r.Off >= 1<<48 || r.Len < 0 || r.Len >= 1<<32 || r.Ord < 0 || r.Ord >= 1<<16 || r.Slot > 15 || r.Shown > 15 {
		return fmt.Errorf("%w: %+v", ErrLimit, r)
	}
	file, err := s.file(r.File)
	if err != nil {
		return err
	}
	s.records = append(s.records, encodedRecord{
		key: r.Key, slotAndShown: uint8(r.Slot) | uint8(r.Shown)<<4, file: file, ord: uint16(r.Ord), off: uint64(r.Off), len: uint32(r.Len),
	})
	return nil
}

func (s *Set) file(name string) (uint16, error) {
	if at, ok := s.at[name]; ok {
		return at, nil
	}
	if len(s.files) == maxFiles || len(name) > maxFileName || name == "" {
		return 0, fmt.Errorf("%w: file %.80q, after %d others", ErrLimit, name, len(s.files))
	}
	if s.at == nil {
		s.at = map[string]uint16{}
	}
	at := uint16(len(s.files))
	s.at[name] = at
	s.files = append(s.files, name)
	return at, nil
}

// order compares records by key, slot, ordinal and, for fingerprints, length.
func order(a, b encodedRecord) int {
	return cmp.Or(cmp.Compare(a.key.kind, b.key.kind), cmp.Compare(a.key.id, b.key.id),
		cmp.Compare(a.slotAndShown&15, b.slotAndShown&15), cmp.Compare(a.ord, b.ord), cmp.Compare(a.length(), b.length()))
}

// length returns the length for comparing records of one fingerprint; 0 for a
// turn.
func (p *encodedRecord) length() uint32 {
	if p.key.kind == kindTurn {
		return 0
	}
	return p.len
}

// Encode returns the file. The same records, added in the same order, give the
// same bytes.
func (s *Set) Encode() []byte {
	records := slices.Clone(s.records)
	slices.SortStableFunc(records, order)
	records = slices.CompactFunc(records, func(a, b encodedRecord) bool { return order(a, b) == 0 })
	h := &header{records: uint64(len(records)), first: s.first, last: s.last, files: s.files}
	h.filter = filterOf(records)
	counts := h.chooseBuckets(records)
	for _, n := range counts {
		h.overflow += overflowPages(n)
	}
	return h.fill(records)
}

func filterOf(records []encodedRecord) filter {
	keys := 0
	for i := range records {
		if i == 0 || records[i].key != records[i-1].key {
			keys++
		}
	}
	f := newFilter(keys)
	for i := range records {
		if i == 0 || records[i].key != records[i-1].key {
			f.add(records[i].key.hash())
		}
	}
	return f
}

func overflowPages(records uint32) uint32 {
	if records <= perPage {
		return 0
	}
	return (records - 1) / perPage
}

const (
	overflowShare = 100 // at most one of this many records is in a bucket with more than one page …
	emptiest      = 4   // … unless one key has very many records and pages would be less than a quarter full
)

// chooseBuckets sets the smallest tried number of buckets with which nearly
// every record is found in one page, and returns the number of records in each.
func (h *header) chooseBuckets(records []encodedRecord) []uint32 {
	least := uint32((len(records) + perPage - 1) / perPage)
	h.buckets = max(least, 1)
	for {
		counts, over := h.count(records)
		if over*overflowShare <= len(records) || h.buckets >= emptiest*least {
			return counts
		}
		h.buckets += 1 + h.buckets/16
	}
}

// count returns the number of records in each bucket, and the number of records
// in buckets with more than one page.
func (h *header) count(records []encodedRecord) (counts []uint32, over int) {
	counts = make([]uint32, h.buckets)
	for i := range records {
		counts[bucket(records[i].key.hash(), h.buckets)]++
	}
	for _, n := range counts {
		if n > perPage {
			over += int(n)
		}
	}
	return counts, over
}

// fill returns the file: the header, and the records in their pages.
func (h *header) fill(records []encodedRecord) []byte {
	le := binary.LittleEndian
	pages := make([][]byte, h.buckets+h.overflow)
	for i := range pages {
		pages[i] = make([]byte, pageHead, pageHead+pageSum+recordSize)
	}
	free := h.buckets // the next overflow page
	at := make([]uint32, h.buckets)
	for b := range at {
		at[b] = uint32(b)
	}
	held := make([]uint32, len(pages))
	for i := range records {
		b := bucket(records[i].key.hash(), h.buckets)
		if held[at[b]] == perPage {
			le.PutUint32(pages[at[b]][4:], 1+free)
			at[b], free = free, free+1
		}
		page := append(pages[at[b]], make([]byte, recordSize)...)
		records[i].put(page[len(page)-recordSize:])
		pages[at[b]] = page
		held[at[b]]++
		le.PutUint16(page, uint16(held[at[b]]))
	}
	out := h.encode(held)
	for n, page := range pages {
		page = append(page, make([]byte, pageSum)...)
		seal(page, uint32(n)+1)
		out = append(out, page...)
	}
	return out
}
