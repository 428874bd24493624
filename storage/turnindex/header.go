package turnindex

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

const (
	magic      = "turnsidx"
	version    = 2
	padded     = 1 // the version in which every page has [PageSize] bytes
	headFields = 48

	maxFiles    = 1 << 16
	maxFileName = 255
)

// header is the parsed header.
type header struct {
	pages, buckets, overflow uint32 // pages of the header (1 in version 2), bucket pages and overflow pages
	records                  uint64
	first, last              uint32
	files                    []string
	filter                   filter
	ends                     []int64 // version 2: end offset of each page, the header's first
}

// place returns the offset and the size of a page.
func (h *header) place(number int64) (off, size int64) {
	if h.ends == nil {
		return number * PageSize, PageSize
	}
	return h.ends[number-1], h.ends[number] - h.ends[number-1]
}

// after returns the number of the last page plus one.
func (h *header) after() int64 { return int64(h.pages) + int64(h.buckets) + int64(h.overflow) }

// encode returns the header of a table; held are the numbers of records in its
// pages.
func (h *header) encode(held []uint32) []byte {
	le := binary.LittleEndian
	out := make([]byte, headFields)
	copy(out, magic)
	le.PutUint16(out[8:], version)
	le.PutUint16(out[10:], perPage)
	le.PutUint32(out[16:], h.buckets)
	le.PutUint32(out[20:], h.overflow)
	le.PutUint64(out[24:], h.records)
	le.PutUint32(out[32:], h.first)
	le.PutUint32(out[36:], h.last)
	le.PutUint32(out[40:], uint32(len(h.files)))
	le.PutUint32(out[44:], uint32(len(h.filter)))
	for _, name := range h.files {
		out = append(append(out, byte(len(name))), name...)
	}
	out = append(out, h.filter...)
	for _, n := range held {
		out = append(out, byte(n))
	}
	out = append(out, make([]byte, pageSum)...)
	le.PutUint32(out[12:], uint32(len(out)))
	seal(out, 0)
	return out
}

// headerSize returns the size of the header, from the first bytes of the file.
func headerSize(data []byte) (int64, error) {
	if len(data) < headFields+pageSum || string(data[:8]) != magic {
		return 0, &PageError{0, "it is not the beginning of a turn index"}
	}
	le := binary.LittleEndian
	v, n := le.Uint16(data[8:]), int64(le.Uint32(data[12:]))
	switch {
	case v != version && v != padded:
		return 0, &PageError{0, fmt.Sprintf("version %d is not known (this program knows %d and %d)", v, padded, version)}
	case v == padded:
		if err := checkPage(data[:min(len(data), PageSize)], 0, PageSize); err != nil {
			return 0, err
		}
		n *= PageSize
	}
	if le.Uint16(data[10:]) != perPage || n < headFields+pageSum || le.Uint32(data[16:]) == 0 {
		return 0, &PageError{0, "its numbers are impossible"}
	}
	return n, nil
}

// parseHeader parses a complete header.
func parseHeader(data []byte) (*header, error) {
	body, err := headerBody(data)
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	h := &header{
		pages: le.Uint32(body[12:]), buckets: le.Uint32(body[16:]), overflow: le.Uint32(body[20:]),
		records: le.Uint64(body[24:]), first: le.Uint32(body[32:]), last: le.Uint32(body[36:]),
	}
	rest := body[headFields:]
	for range le.Uint32(body[40:]) {
		if len(rest) == 0 || len(rest) <= int(rest[0]) || len(h.files) == maxFiles {
			return nil, &PageError{0, "its list of files does not fit"}
		}
		n := 1 + int(rest[0])
		h.files = append(h.files, string(rest[1:n]))
		rest = rest[n:]
	}
	size := int64(le.Uint32(body[44:]))
	if size > int64(len(rest)) {
		return nil, &PageError{0, "its filter does not fit"}
	}
	h.filter, rest = filter(rest[:size:size]), rest[size:]
	if le.Uint16(body[8:]) == padded {
		return h, nil
	}
	h.pages = 1
	return h, h.directory(rest, int64(len(data)))
}

// headerBody checks the checksums of a header, and returns it without them.
func headerBody(data []byte) (body []byte, err error) {
	if binary.LittleEndian.Uint16(data[8:]) != padded {
		size := int64(len(data))
		return data[:size-pageSum], checkPage(data, 0, size)
	}
	for n := int64(0); n*PageSize < int64(len(data)); n++ {
		page := data[n*PageSize:]
		page = page[:min(len(page), PageSize)]
		if err := checkPage(page, n, PageSize); err != nil {
			return nil, err
		}
		body = append(body, page[:PageSize-pageSum]...)
	}
	return body, nil
}

// directory computes the offsets of pages from their numbers of records.
func (h *header) directory(held []byte, end int64) error {
	if int64(len(held)) != int64(h.buckets)+int64(h.overflow) {
		return &PageError{0, "its list of pages does not fit"}
	}
	h.ends = make([]int64, 1, 1+len(held))
	h.ends[0] = end
	for _, n := range held {
		if n > perPage {
			return &PageError{0, "it lists more records for a page than a page can hold"}
		}
		end += int64(pageHead + int(n)*recordSize + pageSum)
		h.ends = append(h.ends, end)
	}
	return nil
}

// bucket returns the bucket of a hash by linear hashing, as if buckets had been
// split in order and the last round were incomplete.
func bucket(hash uint64, buckets uint32) uint32 {
	low := uint64(1) << (bits.Len32(buckets) - 1)
	b := hash & (2*low - 1)
	if b >= uint64(buckets) {
		b -= low
	}
	return uint32(b)
}
