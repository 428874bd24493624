package turnindex

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

const (
	magic      = "turnsidx"
	version    = 1
	headFields = 48

	maxFiles    = 1 << 16
	maxFileName = 255
)

// header is what the first pages say.
type header struct {
	pages, buckets, overflow uint32
	records                  uint64
	first, last              uint32
	files                    []string
	filter                   filter
}

// encode returns the pages of the header, and sets how many they are.
func (h *header) encode() []byte {
	le := binary.LittleEndian
	body := make([]byte, headFields)
	copy(body, magic)
	le.PutUint16(body[8:], version)
	le.PutUint16(body[10:], perPage)
	le.PutUint32(body[16:], h.buckets)
	le.PutUint32(body[20:], h.overflow)
	le.PutUint64(body[24:], h.records)
	le.PutUint32(body[32:], h.first)
	le.PutUint32(body[36:], h.last)
	le.PutUint32(body[40:], uint32(len(h.files)))
	le.PutUint32(body[44:], uint32(len(h.filter)))
	for _, name := range h.files {
		body = append(append(body, byte(len(name))), name...)
	}
	body = append(body, h.filter...)
	h.pages = uint32((len(body) + pageBody - 1) / pageBody)
	le.PutUint32(body[12:], h.pages)
	out := make([]byte, int(h.pages)*PageSize)
	for n := range h.pages {
		page := out[int(n)*PageSize:][:PageSize]
		copy(page[:pageBody], body[int(n)*pageBody:])
		seal(page, n)
	}
	return out
}

// headerPages returns how many pages the header has, by its first one.
func headerPages(page []byte) (int64, error) {
	if len(page) < PageSize || string(page[:8]) != magic {
		return 0, &PageError{0, "it is not the beginning of a turn index"}
	}
	if err := checkPage(page[:PageSize], 0); err != nil {
		return 0, err
	}
	le := binary.LittleEndian
	if v := le.Uint16(page[8:]); v != version {
		return 0, &PageError{0, fmt.Sprintf("version %d is not known (this program knows %d)", v, version)}
	}
	n := le.Uint32(page[12:])
	if le.Uint16(page[10:]) != perPage || n == 0 || le.Uint32(page[16:]) == 0 {
		return 0, &PageError{0, "its numbers can't be"}
	}
	return int64(n), nil
}

// parseHeader reads all pages of a header.
func parseHeader(pages []byte) (*header, error) {
	var body []byte
	for n := 0; n*PageSize < len(pages); n++ {
		page := pages[n*PageSize:]
		page = page[:min(len(page), PageSize)]
		if err := checkPage(page, int64(n)); err != nil {
			return nil, err
		}
		body = append(body, page[:pageBody]...)
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
	h.filter = filter(rest[:size:size])
	return h, nil
}

// bucket is linear hashing: as if the buckets had been split one after the
// other, of which the last round is not finished.
func bucket(hash uint64, buckets uint32) uint32 {
	low := uint64(1) << (bits.Len32(buckets) - 1)
	b := hash & (2*low - 1)
	if b >= uint64(buckets) {
		b -= low
	}
	return uint32(b)
}
