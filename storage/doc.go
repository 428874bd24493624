// Package storage keeps what leaves an agent's context, so that it can be
// read back, counted on and proved later.
//
// # The contract
//
// [Archive] is what a place to store things must do: create a key once,
// append to a key at a known offset, read a range, list. Everything else is
// built on these four in this package, so an adapter (a folder, a bucket, a
// user's own) is small and package storagetest tells whether it is right.
// Two more abilities are optional interfaces: [Remover] and [Locator].
//
// # Secrets
//
// An archive takes a [Blob], and a Blob is made of [redact.Text] or by this
// package itself. Handing it a plain string does not compile.
//
// # Layout
//
// [Session] knows how a session is laid out: which file is written when,
// under which name, and in what order. The commit of a step is the exclusive
// creation of its ledger, the last file of the step; of two processes one
// wins and the other is told [ErrExists]. What a lost race or a crash leaves
// behind is never overwritten and never taken for something it is not.
//
// # Proof
//
// Each file is announced in the session's manifest, with its size and hash,
// before it is created, and each line of the manifest and of the logs holds
// the hash of the line before. [Verify] reads all of it back and names what
// was removed, added, reordered, truncated or changed. It cannot see that the
// end of the manifest was cut off together with all that the end spoke of,
// unless it is told a head ([Session.ManifestHead]) that was kept elsewhere.
package storage
