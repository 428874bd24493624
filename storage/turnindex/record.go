package turnindex

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// kind says what a key names.
type kind uint8

const (
	kindTurn kind = 1 + iota
	kindMessage
	kindPart
)

// Key is what a record is found by. It is comparable. Make it with [Turn],
// [Message] or [Part].
type Key struct {
	kind kind
	id   uint64
}

// Turn is the key of the turn with this number; turns count from 1.
func Turn(n uint32) Key { return Key{kindTurn, uint64(n)} }

// Message is the key of the message with this fingerprint, of which the first
// eight bytes are kept.
func Message(fingerprint [16]byte) Key {
	return Key{kindMessage, binary.BigEndian.Uint64(fingerprint[:8])}
}

// Part is the key of the part with this reference: the first six bytes of its
// fingerprint.
func Part(ref [6]byte) Key {
	var b [8]byte
	copy(b[:], ref[:])
	return Key{kindPart, binary.BigEndian.Uint64(b[:])}
}

// Digits returns how many hex digits of a fingerprint the key holds, 0 for a
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

// String returns "turn:17", or the hex digits that the key holds.
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

// Slot says which part of its turn a record is about.
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

// ParseSlot reads what [Slot.String] writes.
func ParseSlot(text string) (Slot, bool) {
	for i, n := range slotNames {
		if n == text {
			return Slot(i), true
		}
	}
	return 0, false
}

// Shown says how the view shows what a record is about, after the last step
// that the index covers and that touched it.
type Shown uint8

// The ways in which a view shows a message.
const (
	InFull Shown = iota
	Truncated
	Masked
	Summarized
	Dropped
)

var shownNames = [...]string{"in full", "truncated", "masked", "summarized", "dropped"}

// String says it in words.
func (s Shown) String() string { return name(shownNames[:], int(s)) }

func name(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return "unknown"
}

// Record says where a line of the archive is.
type Record struct {
	Key   Key
	Slot  Slot
	Shown Shown
	Ord   int    // of the message among those of its slot in the turn, or of the part in its message; from 0
	File  string // in the session's folder
	Off   int64  // bytes
	Len   int64  // bytes, without the line feed
}

const turnPrefix = "turn:"

// ErrQuery: a text is neither the number of a turn nor hex digits of a
// fingerprint.
var ErrQuery = errors.New(`not a reference: it is 8 to 32 hex digits, or "turn:" and a number`)

// Query is what to look up: a turn, or all whose fingerprint begins with the
// given digits. It is comparable. Make it with [ParseQuery] or [Key.Query].
type Query struct {
	turn   bool
	id     uint64 // digits beyond the 16th are not kept
	digits int
}

// minDigits is how many digits of a fingerprint its bucket is chosen by.
const minDigits = 8

// ParseQuery reads "turn:17", or 8 to 32 hex digits in either case. Everything
// else is [ErrQuery].
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

// matches reports whether k is what q asks for: as far as both have digits,
// they are the same.
func (q Query) matches(k Key) bool {
	if q.turn || k.kind == kindTurn {
		return q.turn && k == Key{kindTurn, q.id}
	}
	shift := 64 - 4*min(q.digits, k.Digits())
	return q.id>>shift == k.id>>shift
}
