// Package record is the record of sessions on a [storage.Archive]: the text that
// leaves an agent's context can be read back, and its integrity can be proved.
//
// A program opens a session with [OpenSession], lists what there is with
// [Sessions], proves it with [Verify], and takes it elsewhere or away with
// [Copy], [Session.Export], [Prune] and [Session.Erase]. Errors are those of
// package storage, in a [storage.Error], and the sentinels of this package.
//
// # Layout
//
// [Session] implements the layout of a session: the names of its files, and the
// order in which they are written. The exclusive creation of its ledger, the
// last file of the step, commits a step; of two processes one succeeds and the
// other gets [storage.ErrExists]. Files left by a lost race or a crash are never
// overwritten and never used.
//
// # Turn index
//
// turns-NNN.idx maps each turn, message and part to its place in the
// transcripts, so that one page and one range suffice to read it; package
// turnindex defines the format. It holds fingerprints and positions, no text,
// and can be rebuilt from the transcripts.
//
// # Manifest and logs
//
// The manifest and the logs are JSON objects, one a line. Each begins with "seq",
// the number of the line, and "prev", the SHA-256 of the line before (of the
// first line: of "compact archive v2", a line feed and the key; version 1 had v1
// there). A line {"torn":{"bytes","sha256"}} covers that many bytes before it, an
// incomplete line that a crash left.
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
// The first line also has "life": random letters that tell this session from an erased
// session of the same name, and a random number of dashes, so that the lines of both
// seldom end at the same offsets.
//
// A file is announced before it is created, and marked as done afterwards. So a
// file without an announcement is foreign, an announced file of no committed
// step is abandoned, and a missing file that was done has been removed; the
// three cases cannot be confused.
//
// # Proof
//
// [Verify] reads everything back and names each file or line that was removed, added,
// reordered, truncated or changed. It cannot detect that the end of the manifest was cut
// off together with the files named there, unless it is given a head
// ([Session.ManifestHead], [ReadHeads]) that was kept elsewhere. Against an attacker who
// can rewrite everything, heads included, only a backend with write protection helps.
package record
