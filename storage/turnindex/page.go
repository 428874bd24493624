package turnindex

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

const (
	// PageSize is the maximum size of a page in bytes, and the size of a read.
	PageSize = 4096

	pageSum    = 4 // bytes of the checksum at the end of a page
	pageHead   = 8
	recordSize = 24
	perPage    = (PageSize - pageSum - pageHead) / recordSize
)

// ErrDamaged is wrapped by every error for an invalid or changed index. The
// index can be rebuilt from the transcripts.
var ErrDamaged = errors.New("the turn index is damaged")

// A PageError reports an invalid or changed page. It wraps [ErrDamaged].
type PageError struct {
	Page   int64 // from 0
	Reason string
}

// Error names the page.
func (e *PageError) Error() string {
	return fmt.Sprintf("%v: page %d: %s", ErrDamaged, e.Page, e.Reason)
}

// Unwrap returns [ErrDamaged].
func (e *PageError) Unwrap() error { return ErrDamaged }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum includes the number of the page, so that swapped pages are detected.
func checksum(page []byte, number uint32) uint32 {
	sum := crc32.Update(0, castagnoli, page[:len(page)-pageSum])
	return crc32.Update(sum, castagnoli, binary.LittleEndian.AppendUint32(nil, number))
}

// seal writes the checksum of a page.
func seal(page []byte, number uint32) {
	binary.LittleEndian.PutUint32(page[len(page)-pageSum:], checksum(page, number))
}

// checkPage returns an error for a page with a wrong size or checksum.
func checkPage(page []byte, number, size int64) error {
	if int64(len(page)) != size {
		return &PageError{number, "the file ends before it"}
	}
	if binary.LittleEndian.Uint32(page[size-pageSum:]) != checksum(page, uint32(number)) {
		return &PageError{number, "its checksum differs"}
	}
	return nil
}

// encodedRecord is a record in the form of the file.
type encodedRecord struct {
	key          Key
	slotAndShown uint8 // the slot, and the flag shown
	file         uint16
	ord          uint16
	off          uint64
	len          uint32
}

func (p *encodedRecord) put(b []byte) {
	le := binary.LittleEndian
	b[0], b[1] = byte(p.key.kind), p.slotAndShown
	le.PutUint16(b[2:], p.file)
	le.PutUint16(b[4:], p.ord)
	le.PutUint64(b[6:], p.key.id)
	le.PutUint32(b[14:], uint32(p.off))
	le.PutUint16(b[18:], uint16(p.off>>32))
	le.PutUint32(b[20:], p.len)
}

func unpack(b []byte) encodedRecord {
	le := binary.LittleEndian
	return encodedRecord{
		key: Key{kind(b[0]), le.Uint64(b[6:])}, slotAndShown: b[1],
		file: le.Uint16(b[2:]), ord: le.Uint16(b[4:]),
		off: uint64(le.Uint32(b[14:])) | uint64(le.Uint16(b[18:]))<<32, len: le.Uint32(b[20:]),
	}
}

// slots returns the encoded records of a checked page.
func slots(page []byte) ([]byte, error) {
	n := int(binary.LittleEndian.Uint16(page))
	if n > perPage || pageHead+n*recordSize+pageSum > len(page) {
		return nil, errors.New("its header has more records than a page can hold")
	}
	return page[pageHead : pageHead+n*recordSize], nil
}

func nextPage(page []byte) int64 { return int64(binary.LittleEndian.Uint32(page[4:])) }
