// Package storage is the place where an archive is kept: what a folder, a bucket
// or a backend of your own has to do, and no more. What is kept there, the record
// of sessions, is package storage/record.
//
// # The contract
//
// [Archive] is the interface of a backend: create a key once, append to a key at
// a known offset, read a range, list. Package storage/record builds everything
// else on these four, so an adapter is small, and package storagetest tests it.
// Each method begins with [Begin] and ends with [Wrap], and returns the errors of
// this package. Package storage/crypt encrypts any archive, and package
// storage/spool goes on without one that is away.
//
// An adapter implements more interfaces where it can do more. [Remover] and
// [Sweeper] make an erase possible, [Keeper] knows of locks, [Locator] says where
// a key is. [Tidier] and [IndexHolder] are for what lies beside the keys.
// [BulkCreator], [BulkRemover], [BulkKeeper], [Deferrer], [KindOpener] and
// [Glancer] save requests. [Repeater] is for copies of parts of logs.
//
// # Secrets
//
// An archive stores a [Blob], and only [redact.Text] makes one outside of the
// packages below storage. Storing a plain string does not compile.
package storage
