package seal

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// KeySize is the length of a key in bytes.
const KeySize = 32

// A Key seals fingerprints. It prints as "[redacted]".
type Key [KeySize]byte

// errKey describes a key, without the given text.
var errKey = errors.New("seal: a key has 64 hex digits, or is base64 of 32 bytes")

// NewKey returns a random key.
func NewKey() (k Key) {
	_, _ = rand.Read(k[:]) // never fails
	return k
}

// ParseKey parses a key: 64 hex digits, or base64 of 32 bytes.
func ParseKey(text string) (k Key, err error) {
	text = strings.TrimSpace(text)
	raw, err := hex.DecodeString(text)
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if err == nil && len(raw) == len(k) {
			break
		}
		raw, err = enc.DecodeString(strings.TrimRight(text, "="))
	}
	if err != nil || len(raw) != len(k) {
		return Key{}, errKey
	}
	copy(k[:], raw)
	return k, nil
}

// ParseKeys parses keys separated by commas, the newest first. An empty text
// has no keys.
func ParseKeys(text string) (keys []Key, err error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		k, err := ParseKey(part)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// ID returns the id of the key, 16 hex digits, which does not reveal the key.
func (k Key) ID() string {
	sum := k.derive("id")
	return hex.EncodeToString(sum[:8])
}

// Hex returns the key itself, in a form for [ParseKey].
func (k Key) Hex() string { return hex.EncodeToString(k[:]) }

// Format writes "[redacted]" for every verb.
func (Key) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("[redacted]")) }

// MarshalText returns "[redacted]", for JSON and logs, which don't call Format.
func (Key) MarshalText() ([]byte, error) { return []byte("[redacted]"), nil }

// derive returns a key for one purpose, derived from k.
func (k Key) derive(purpose string) (out [sha256.Size]byte) {
	copy(out[:], mac(k[:], "compact archive "+purpose, nil))
	return out
}

func mac(key []byte, purpose string, data []byte) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write([]byte(purpose)) // a hash never fails
	_, _ = h.Write([]byte{0})
	_, _ = h.Write(data)
	return h.Sum(nil)
}
