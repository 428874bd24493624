package record

import (
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/internal/unchecked"
)

// blobOf returns a Blob of data that this package wrote itself, or that it
// copies from another archive.
func blobOf(parts ...string) storage.Blob {
	b, _ := unchecked.Blob(parts...).(storage.Blob) // never fails
	return b
}

// keyOf returns the key with a text, which must be valid; it is not checked.
func keyOf(text string) storage.Key {
	k, _ := unchecked.Key(text).(storage.Key) // never fails
	return k
}

// child returns the key of a name below a folder, which may be the root. The
// name must be valid; it is not checked.
func child(dir storage.Key, name string) storage.Key {
	if dir.IsZero() {
		return keyOf(name)
	}
	return keyOf(dir.String() + "/" + name)
}
