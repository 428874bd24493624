// Package storage defines the interfaces and errors of an archive's backend, such
// as a folder or a bucket. Package storage/record defines the data in it: the
// record of sessions.
//
// # The contract
//
// [Archive] is the interface of a backend: create a key once, append to a key at a
// known offset, read a range, list. Package storage/record needs only these four
// operations, so an adapter is small, and package storagetest tests it. Each
// method except List begins with [Begin], and wraps its errors with [Wrap].
// Package storage/crypt encrypts any archive. Package storage/spool puts a disk in
// front of a remote archive, so that agents continue while it is unreachable.
//
// An adapter can implement more interfaces. [Remover] and [Sweeper] make an erase
// possible. [Keeper] reports locks, and [Locator] the location of a key. [Tidier]
// removes temporary files, and [IndexHolder] the search index. [BulkCreator],
// [BulkRemover], [EndRemover], [RemovalLister], [BulkKeeper], [FreeKeeper], [Deferrer], [KindOpener],
// [EndOpener] and [Glancer] save requests. [Repeater] compares copies of parts of logs with the logs.
//
// # Secrets
//
// An archive stores a [Blob]. Outside of the packages below storage, a Blob can
// only be made from [redact.Text], so code that stores a plain string does not
// compile.
package storage
