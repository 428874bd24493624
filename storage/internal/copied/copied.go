// Package copied lets the packages below storage copy what an archive holds
// already, which was redacted when it was stored, and nobody else make a Blob of
// bytes.
package copied

// Blob returns a storage.Blob of data. Package storage sets it.
var Blob func(data string) any
