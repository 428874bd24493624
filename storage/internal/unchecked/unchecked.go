// Package unchecked lets the packages below storage make a Blob and a Key without
// a check. The bytes of the Blob were redacted before they were first stored, or
// are files of the record itself, such as manifests and indexes. The text of the
// Key is known to be valid. No other package can make either.
package unchecked

// Package storage sets both. The results are a storage.Blob and a storage.Key, in
// variables of type any.
var (
	// Blob returns the concatenation of the parts.
	Blob func(parts ...string) any
	// Key returns the key with this text. The text must be a valid key.
	Key func(text string) any
)
