package turnindex

import (
	"context"
	"iter"
)

// A Source reads at most n bytes of an index file from off; fewer only at the
// end of the file. It must be safe for concurrent use.
type Source func(ctx context.Context, off, n int64) ([]byte, error)

// Bytes returns a Source for an index in memory.
func Bytes(data []byte) Source {
	return func(_ context.Context, off, n int64) ([]byte, error) {
		off = min(off, int64(len(data)))
		return data[off:min(off+n, int64(len(data)))], nil
	}
}

// Table is an open index. It holds only the header in memory. It is safe for
// concurrent use.
type Table struct {
	src Source
	h   *header
}

// headRead is the size of the first read. The size covers a small index completely, and
// the header of every index that is not large.
const headRead = 4 * PageSize

// Open reads the header of an index, with one read, or two if the header
// exceeds 16 KB. Errors are those of the source, and [ErrDamaged].
func Open(ctx context.Context, src Source) (*Table, error) {
	data, err := src(ctx, 0, headRead)
	if err != nil {
		return nil, err
	}
	want, err := headerSize(data)
	if err != nil {
		return nil, err
	}
	if want > headRead {
		more, err := src(ctx, headRead, want-headRead)
		if err != nil {
			return nil, err
		}
		data = append(data[:len(data):len(data)], more...)
	}
	if int64(len(data)) < want {
		return nil, &PageError{0, "the file ends before its end"}
	}
	h, err := parseHeader(data[:want])
	if err != nil {
		return nil, err
	}
	return &Table{src, h}, nil
}

// Steps returns the first and the last step that the index covers.
func (t *Table) Steps() (first, last int) { return int(t.h.first), int(t.h.last) }

// Len returns the number of records.
func (t *Table) Len() int { return int(t.h.records) }

// Size returns the number of bytes of the file.
func (t *Table) Size() int64 {
	off, size := t.h.place(t.h.after() - 1)
	return off + size
}

// Files returns the names of the files in the records. The caller must not modify the
// result.
func (t *Table) Files() []string { return t.h.files }

// Mentions reports whether the table may have records for q. false is certain;
// true is wrong in less than one of a hundred cases. It reads nothing.
func (t *Table) Mentions(q Query) bool { return t.h.filter.holds(q.hash()) }

// Lookup returns the records for q. Records of one key are sorted by slot and ordinal.
// It is not an error if there are no records. It reads one page, and the overflow pages
// of the bucket. Errors are those of the source, and [ErrDamaged].
func (t *Table) Lookup(ctx context.Context, q Query) ([]Record, error) {
	var out []Record
	number := int64(t.h.pages) + int64(bucket(q.hash(), t.h.buckets))
	for number != 0 {
		page, err := t.page(ctx, number)
		if err != nil {
			return nil, err
		}
		if out, err = t.match(out, page, number, q); err != nil {
			return nil, err
		}
		if number, err = t.follow(page, number); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// match appends the records of a page that match q.
func (t *Table) match(out []Record, page []byte, number int64, q Query) ([]Record, error) {
	records, err := slots(page)
	if err != nil {
		return nil, &PageError{number, err.Error()}
	}
	for ; len(records) > 0; records = records[recordSize:] {
		p := unpack(records)
		if !q.matches(p.key) {
			continue
		}
		r, err := t.record(p, number)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func (t *Table) record(p encodedRecord, number int64) (Record, error) {
	if int(p.file) >= len(t.h.files) || p.key.kind < kindTurn || p.key.kind > kindPart {
		return Record{}, &PageError{number, "a record names a file or a kind that does not exist"}
	}
	return Record{
		Key: p.key, Slot: Slot(p.slotAndShown & 15), Shown: Shown(p.slotAndShown >> 4), Ord: int(p.ord),
		File: t.h.files[p.file], Off: int64(p.off), Len: int64(p.len),
	}, nil
}

func (t *Table) page(ctx context.Context, number int64) ([]byte, error) {
	off, size := t.h.place(number)
	page, err := t.src(ctx, off, PageSize)
	if err != nil {
		return nil, err
	}
	page = page[:min(int64(len(page)), size)]
	return page, checkPage(page, number, size)
}

// follow returns the next page of the bucket, or 0. Chains must lead forward,
// so that a forged chain ends.
func (t *Table) follow(page []byte, number int64) (int64, error) {
	next := nextPage(page)
	overflow := int64(t.h.pages) + int64(t.h.buckets)
	if next != 0 && (next <= number || next < overflow || next >= overflow+int64(t.h.overflow)) {
		return 0, &PageError{number, "its link to the next page is invalid"}
	}
	return next, nil
}

// allRead is the size of All's reads in bytes.
const allRead = 256 * PageSize

// All yields every record, page by page. Records of one key have the order of
// [Table.Lookup]. An error is yielded last. It is an error of the source, or
// [ErrDamaged]; a number of records that differs from the header is ErrDamaged, too.
func (t *Table) All(ctx context.Context) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		count, stopped, err := t.each(ctx, func(r Record) bool { return yield(r, nil) })
		switch {
		case stopped:
		case err == nil && count != t.h.records:
			err = &PageError{0, "its number of records is wrong"}
			fallthrough
		case err != nil:
			yield(Record{}, err)
		}
	}
}

func (t *Table) each(ctx context.Context, fn func(Record) bool) (count uint64, stopped bool, err error) {
	for number := int64(t.h.pages); number < t.h.after(); {
		from, _ := t.h.place(number)
		next, end := t.stretch(number)
		data, err := t.src(ctx, from, end-from)
		if err != nil {
			return count, false, err
		}
		for ; number < next; number++ {
			_, size := t.h.place(number)
			page := data[:min(int64(len(data)), size)]
			data = data[len(page):]
			n, stopped, err := t.eachOf(page, number, size, fn)
			if count += n; err != nil || stopped {
				return count, stopped, err
			}
		}
	}
	return count, false, nil
}

// stretch returns the end of the pages that are read together from a page on.
func (t *Table) stretch(number int64) (next, end int64) {
	from, size := t.h.place(number)
	for next, end = number+1, from+size; next < t.h.after(); next++ {
		off, size := t.h.place(next)
		if off+size-from > allRead {
			break
		}
		end = off + size
	}
	return next, end
}

func (t *Table) eachOf(page []byte, number, size int64, fn func(Record) bool) (count uint64, stopped bool, err error) {
	if err := checkPage(page, number, size); err != nil {
		return 0, false, err
	}
	records, err := slots(page)
	if err != nil {
		return 0, false, &PageError{number, err.Error()}
	}
	for ; len(records) > 0; records = records[recordSize:] {
		r, err := t.record(unpack(records), number)
		if err != nil {
			return count, false, err
		}
		if count++; !fn(r) {
			return count, true, nil
		}
	}
	return count, false, nil
}
