package storage

import "github.com/agentcompact/compact/storage/internal/unchecked"

// blobOf returns a Blob of data that this package wrote itself, or copies from
// another archive.
func blobOf(parts ...string) Blob {
	b, _ := unchecked.Blob(parts...).(Blob) // never fails
	return b
}

// keyOf returns the key with a text, which must be valid; it is not checked.
func keyOf(text string) Key {
	k, _ := unchecked.Key(text).(Key) // never fails
	return k
}

// child returns the key of a name below a folder, which may be the root. The
// name must be valid; it is not checked.
func child(dir Key, name string) Key {
	if dir.IsZero() {
		return keyOf(name)
	}
	return keyOf(dir.String() + "/" + name)
}
