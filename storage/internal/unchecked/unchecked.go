// Package unchecked lets the packages below storage make a Blob of bytes that
// were redacted when they were first stored, or that the layout of a session
// consists of, and a Key of a text that is known to be one. No other package can
// do that.
package unchecked

// Package storage sets both. The results are a storage.Blob and a storage.Key.
var (
	// Blob returns the concatenation of the parts.
	Blob func(parts ...string) any
	// Key returns the key with a text, which has to be a valid one.
	Key func(text string) any
)
