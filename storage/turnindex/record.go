package turnindex

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// kind is the kind of a key.
type kind uint8

const (
	kindTurn kind = 1 + iota
	kindMessage
	kindPart
)

// A Key identifies records. It is comparable. Create it with [Turn], [Message]
// or [Part].
type Key struct {
	kind kind
	id   uint64
}

// Turn returns the key of the turn with this number, from 1.
func Turn(n uint32) Key { return Key{kindTurn, uint64(n)} }

// Message returns the key of the message with this fingerprint. The key holds the first
// eight bytes of the fingerprint.
func Message(fingerprint [16]byte) Key {
	return Key{kindMessage, binary.BigEndian.Uint64(fingerprint[:8])}
}

// Part returns the key of the part with this reference, which is the first six bytes of
// its fingerprint.
func Part(ref [6]byte) Key {
	var b [8]byte
	copy(b[:], ref[:])
	return Key{kindPart, binary.BigEndian.Uint64(b[:])}
}

// Digits returns the number of hex digits of a fingerprint in the key, 0 for a
// turn.
func (k Key) Digits() int {
	switch k.kind {
	case kindMessage:
		return 16
	case kindPart:
		return 12
	}
	return 0
}

// String returns "turn:17", or the hex digits of the key.
func (k Key) String() string {
	if k.kind == kindTurn {
		return turnPrefix + strconv.FormatUint(k.id, 10)
	}
	return fmt.Sprintf("%016x", k.id)[:k.Digits()]
}

func (k Key) hash() uint64 {
	if k.kind == kindTurn {
		return mix(1<<33 | k.id)
	}
	return mix(1<<32 | k.id>>32)
}

// mix is the finalizer of splitmix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Slot is the part of a turn to which a record belongs.
type Slot uint8

// The slots of a turn.
const (
	Other Slot = iota
	Request
	Reasoning
	Action
	Observation
)

var slotNames = [...]string{"other", "request", "reasoning", "action", "observation"}

// String returns the name of the slot.
func (s Slot) String() string { return name(slotNames[:], int(s)) }

// ParseSlot parses the output of [Slot.String].
func ParseSlot(text string) (Slot, bool) {
	for i, n := range slotNames {
		if n == text {
			return Slot(i), true
		}
	}
	return 0, false
}

// Shown is the form of a record's message or part in the view, after the last step
// in the index that changed it.
type Shown uint8

// The forms of a message in a view.
const (
	InFull Shown = iota
	Truncated
	Masked
	Summarized
	Dropped
)

var shownNames = [...]string{"in full", "truncated", "masked", "summarized", "dropped"}

// String returns the form in words.
func (s Shown) String() string { return name(shownNames[:], int(s)) }

func name(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return "unknown"
}

// Record is the place of a line in the archive.
type Record struct {
	Key   Key
	Slot  Slot
	Shown Shown
	Ord   int    // index of the message in its slot of the turn, or of the part in its message, from 0
	File  string // in the session's folder
	Off   int64  // bytes
	Len   int64  // bytes, without the line feed
}

const turnPrefix = "turn:"

// ErrQuery means that a text is neither a turn number nor hex digits of a
// fingerprint.
var ErrQuery = errors.New(`not a reference: it is 8 to 32 hex digits, or "turn:" and a number`)

// A Query selects a turn, or all fingerprints that begin with given digits. It
// is comparable. Create it with [ParseQuery] or [Key.Query].
type Query struct {
	turn   bool
	id     uint64 // at most 16 digits
	digits int
}

// minDigits is the number of digits of a fingerprint that select its bucket.
const minDigits = 8

// ParseQuery parses "turn:17", or 8 to 32 hex digits in upper or lower case.
// Anything else is [ErrQuery].
func ParseQuery(text string) (Query, error) {
	if number, ok := strings.CutPrefix(text, turnPrefix); ok {
		n, err := strconv.ParseUint(number, 10, 32)
		if err != nil || n == 0 {
			return Query{}, ErrQuery
		}
		return Query{turn: true, id: n}, nil
	}
	if len(text) < minDigits || len(text) > 32 || strings.Trim(text, "0123456789abcdefABCDEF") != "" {
		return Query{}, ErrQuery
	}
	digits := min(len(text), 16)
	id, err := strconv.ParseUint((text + "0000000000000000")[:16], 16, 64)
	if err != nil {
		return Query{}, ErrQuery
	}
	if digits < 16 {
		id = id >> (64 - 4*digits) << (64 - 4*digits)
	}
	return Query{id: id, digits: digits}, nil
}

// Query returns the query for exactly this key.
func (k Key) Query() Query {
	return Query{turn: k.kind == kindTurn, id: k.id, digits: k.Digits()}
}

// IsTurn reports whether the query names a turn.
func (q Query) IsTurn() bool { return q.turn }

func (q Query) hash() uint64 {
	if q.turn {
		return Key{kindTurn, q.id}.hash()
	}
	return Key{kindMessage, q.id}.hash()
}

// matches reports whether k matches q: the digits that both have must be equal.
func (q Query) matches(k Key) bool {
	if q.turn || k.kind == kindTurn {
		return q.turn && k == Key{kindTurn, q.id}
	}
	shift := 64 - 4*min(q.digits, k.Digits())
	return q.id>>shift == k.id>>shift
}
