// Package turnindex defines the format of a session's turn index: a file with the
// place in the archive of each part of a turn. A lookup reads one page of 4 KB.
//
// The index is a linear hash table that is built whole and never changed. A key is the
// number of a turn, the fingerprint of a message, or the reference of a part. A record
// has the file, the offset and the length of that message's line, the line's part of
// the turn, and its form in the view. The table holds no text.
//
// # Format
//
// All numbers are little endian. The file consists of pages without anything between
// them. The last four bytes of each page are a CRC-32C, computed over the other bytes
// of the page followed by the page's number as four bytes. First comes the header, then
// a page for each bucket, then the overflow pages.
//
// The header is page 0:
//
//	0   8  "turnsidx"
//	8   2  version, 2
//	10  2  records that a page can hold, 170
//	12  4  bytes of the header
//	16  4  buckets, B
//	20  4  overflow pages
//	24  8  records
//	32  4  first step that the index covers
//	36  4  last step
//	40  4  number of files
//	44  4  bytes of the filter
//	48     for each file one byte of length and its name; then the filter; then for
//	       each page after the header one byte: how many records it holds
//
// The filter is a Bloom filter of 16 bits for each key, 10 probes. A page of records
// has at most 4,096 bytes:
//
//	0   2  number of records
//	2   2  zero
//	4   4  number of the next page of this bucket, 0 = none
//	8      records, 24 bytes each
//
// In version 1 every page has 4,096 bytes, with zeros before its checksum. The header
// has as many pages as it needs; their number is stored at offset 12 instead of its
// size in bytes, and there is no list of pages.
//
// A record:
//
//	0   1  kind of key: 1 turn, 2 message, 3 part
//	1   1  low four bits: slot (0 other, 1 request, 2 reasoning, 3 action,
//	       4 observation); high four: shown (0 in full, 1 truncated, 2 masked,
//	       3 summarized, 4 dropped)
//	2   2  file, as a position in the header's list
//	4   2  ordinal: of the message among those of its slot in the turn, or of
//	       the part in its message
//	6   8  the number of the turn, or the first eight bytes of the fingerprint
//	       as a big-endian number (of a part the first six, then zeros)
//	14  6  offset of the line in the file
//	20  4  length of the line without its line feed
//
// The hash of a key is splitmix64 of 1<<33 | n for turn n, which has 32 bits, and of
// 1<<32 | p where p is the first four bytes of a fingerprint, so that eight hex digits
// of it are enough for a lookup. With L the largest power of two that is at most B, the
// bucket of hash h is h mod 2L, minus L if there is no such bucket.
package turnindex
