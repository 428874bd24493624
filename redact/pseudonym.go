package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// MinPseudonymKey is the minimum length of the key of pseudonyms, in bytes.
const MinPseudonymKey = 16

// ErrShortKey is returned by [New] for a key of pseudonyms below
// [MinPseudonymKey].
var ErrShortKey = errors.New("redact: the key for pseudonyms is shorter than 16 bytes")

// placeholder returns the placeholder for a secret.
func (r *Redactor) placeholder(f span) string {
	switch {
	case len(r.opts.Pseudonyms) == 0:
		return Placeholder
	case f.stand != "":
		return f.stand
	}
	return placeholderOpen + ":" + f.rule.kind + ":" + tag(r.opts.Pseudonyms, f.secret) + ">"
}

// tag returns four hex digits that are the same for the same secret and key.
func tag(key []byte, secret string) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(secret))
	return hex.EncodeToString(h.Sum(nil)[:2])
}
