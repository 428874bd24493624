// Package storage keeps what leaves an agent's context, so that it can be
// read back, counted on and proved later.
//
// # The contract
//
// [Archive] is what a place to store things must do: create a key once,
// append to a key at a known offset, read a range, list. Everything else is
// built on these four in this package, so an adapter (a folder, a bucket, a
// user's own) is small and package storagetest tells whether it is right.
// [Begin] and [Wrap] are what each method begins and ends with. Four more
// abilities are optional interfaces: [Remover], [Sweeper], [Keeper] and [Locator].
// Package storage/crypt encrypts any archive.
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
// # Turn index
//
// turns-NNN.idx says where in the transcripts each turn, message and part lies,
// so that any of them is read back by one page and one range; package turnindex
// has its form. It holds fingerprints and positions, no text, and can be built
// again from the transcripts.
//
// # Manifest and logs
//
// The manifest and the logs are JSON objects, one a line. Each begins with
// "seq", the number of the line, and "prev", the SHA-256 of the line before
// (of the first line: of "compact archive v2", a line feed and the key; version 1
// had v1 there). A line
// {"torn":{"bytes","sha256"}} speaks of that many bytes before it, which are no
// line because a crash cut them off.
//
// A line of the manifest has "op" and "at", and by its op
//
//	put      name, bytes, sha256        the file is about to be created
//	commit   the same, step, with       the ledger of the step is about to be created, after the files of "with", of which
//	                                    some may be announced by the lines before this one and be about to be created, too
//	done     name, bytes, sha256        the file is there and durable
//	mark     name, bytes, lines, sha256 the log has so many lines in so many bytes; sha256 is that of its last line
//	hold     reason                     a legal hold begins
//	release  reason                     and ends
//	scrub    scrub, scrubbed, lease     files wait, written anew: what the lines before call by "was" is "sha256" now
//	place    scrub, by, lease           somebody lets them take their places, and for so many milliseconds nobody else does
//	placed   scrub                      all of them have
//	void                                a scrub that nobody has said does not come to be
//	erase                               the session is being removed
//
// The first line has "life", too: random letters that tell this session from another one
// that was erased under its name, and as many dashes as chance will have, so that the
// lines of both seldom end at the same places.
//
// A file is announced before it is created, and said to be done after. So a
// file that was not announced is nobody's, one that was announced and belongs
// to no committed step is abandoned, and one that is done and not there was
// removed: none of the three can be taken for another.
//
// # Proof
//
// [Verify] reads all of it back and names what was removed, added, reordered,
// truncated or changed. It cannot see that the end of the manifest was cut off
// together with all that the end spoke of, unless it is told a head
// ([Session.ManifestHead], [ReadHeads]) that was kept elsewhere. Against somebody who can
// write everything anew, heads included, only a place that forbids it helps.
package storage
