// Package copied lets the packages below storage make a Blob of bytes that an
// archive already holds, and that were redacted when they were stored. No other
// package can do that.
package copied

// Blob returns a storage.Blob of data. Package storage sets it.
var Blob func(data string) any
