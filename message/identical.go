package message

import "bytes"

// Identical reports whether two messages are the same in every byte that is
// sent, ids and unknown fields included. Equal content with other ids has the
// same [Message.Fingerprint], but is not identical.
func Identical(a, b Message) bool {
	if Same(a, b) {
		return true
	}
	if a.Protected != b.Protected || (a.wire == nil) != (b.wire == nil) {
		return false
	}
	if a.wire != nil {
		return bytes.Equal(a.wire.raw, b.wire.raw)
	}
	if a.Role != b.Role || a.Name != b.Name || len(a.Parts) != len(b.Parts) {
		return false
	}
	for i := range a.Parts {
		x, y := &a.Parts[i], &b.Parts[i]
		if x.Kind != y.Kind || x.Text != y.Text || x.CallID != y.CallID || x.Name != y.Name || x.Sealed != y.Sealed || !bytes.Equal(x.Args, y.Args) {
			return false
		}
		if x.Media != y.Media && (x.Media == nil || y.Media == nil || *x.Media != *y.Media) {
			return false
		}
	}
	return true
}
