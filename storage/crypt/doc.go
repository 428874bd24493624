// Package crypt encrypts an archive: what it hands on to the archive below it is
// encrypted with age (age-encryption.org), object by object, and what it reads is
// decrypted. The archive below may be any, such as a folder, a bucket or a spool in
// front of one.
//
// # What is where
//
//	SESSION/FILE.age              a file
//	SESSION/LOG/START.age         a piece of a file that is appended to, from byte START on (20 digits)
//
// Each is an age file of its own: the tool age, or anything that reads its format,
// decrypts it. A log is its pieces one after the other, as it is in a bucket, so that
// nothing that was stored is ever written to again, an append that a crash cut off
// is not there at all, and of two at the same place one wins.
//
// # What it hides
//
// The content, and that it was not changed: each piece is authenticated, to its end.
// Not hidden are the names of folders and files (a session's id is one), how long
// they are, when they were written, and how many there are. Headers have the same
// length in all ([headerSize]), filled up with a stanza of no meaning that names the
// recipients by a short hash; so the length of a file is known without reading it.
//
// # Who can read
//
// Everything is encrypted for all [Keys] recipients. Who has the identity of one of
// them can read. A process without one can write all the same, and read what it has
// written itself, for as long as it lives: it adds a key of its own that never leaves
// its memory. What others have written is [storage.ErrNoIdentity] to it.
package crypt
