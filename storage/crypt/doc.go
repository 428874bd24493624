// Package crypt encrypts an archive: it wraps an inner archive, encrypts every file
// with age (age-encryption.org) before it writes the file there, and decrypts the data
// that it reads. The inner archive may be a folder, a bucket, a spool in front of a
// bucket, or any other archive.
//
// # Layout
//
//	SESSION/FILE.age              a file
//	SESSION/LOG/START.age         a piece of a file that is appended to, from byte START on (20 digits)
//
// Each object is a separate age file: the tool age, or any program that reads its
// format, decrypts it. A log is the sequence of its pieces, as in a bucket. So no
// stored object is ever modified, an append that a crash interrupted leaves nothing,
// and of two appends at the same place one wins.
//
// # What is hidden
//
// The content is hidden and authenticated: a changed or truncated piece is detected.
// The names of folders and files (for example the id of a session) are not hidden, nor
// are the number of files, their lengths and their times. All headers have the same
// length ([headerSize]): an additional stanza pads them, and names the recipients by a
// short hash. So the length of a file is known without reading it.
//
// # Who can read
//
// All data is encrypted for the recipients in [Keys]. A process with the identity of
// one recipient can read it. A process without an identity can still write, and can
// read its own data while it runs: it adds a key of its own that never leaves its
// memory. If it reads data of other processes, it gets [storage.ErrNoIdentity].
package crypt
