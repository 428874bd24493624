// Package record keeps the record of sessions on a [storage.Archive]. With it, a program can read
// the text that left an agent's context, and prove that the text is unchanged.
//
// A program opens a session with [OpenSession] and lists sessions with [Sessions].
// [Verify] checks them, [Copy] and [Session.Export] copy them, and [Prune] and
// [Session.Erase] remove them. An error is a [storage.Error] that wraps a sentinel
// error of package storage or of this package.
//
// # Layout
//
// [Session] implements the layout of a session: the names of its files, and the order in which they
// are written. A step is committed by the exclusive creation of its ledger, which is its last file:
// if two processes try, one succeeds, and the other gets [storage.ErrExists]. Files that a lost
// race or a crash left are never overwritten and never used.
//
// # Turn index
//
// turns-NNN.idx maps each turn, message and part to its place in the
// transcripts, so that reading one takes one page of the index and one range of a
// transcript. Package turnindex defines the format. The index holds fingerprints and positions, but
// no text, and can be rebuilt from the transcripts.
//
// # Manifest and logs
//
// The manifest and the logs hold one JSON object in each line. Each object begins with "seq", the
// number of the line, and "prev", the SHA-256 of the previous line. In the first line "prev" is the
// SHA-256 of "compact archive v2", a line feed and the key (in version 1, of "compact archive v1"
// instead). A line {"torn":{"bytes","sha256"}} accounts for that many bytes before it: an
// incomplete line that a crash left.
//
// A line of the manifest has "op" and "at". Its other members depend on the op:
//
//	put      name, bytes, sha256        the file is about to be created
//	commit   the same, step, with       the ledger of the step is about to be created, after the files of "with"; some of
//	                                    these may be announced just before this line, and not be created yet
//	done     name, bytes, sha256        the file exists and is durable
//	mark     name, bytes, lines, sha256 the log has that many lines and bytes; sha256 is that of its last line
//	hold     reason                     a legal hold begins
//	release  reason                     the legal hold ends
//	scrub    scrub, scrubbed, lease     rewritten files wait to be placed; "sha256" replaces the hash "was" of earlier lines
//	place    scrub, by, lease           the process "by" puts the rewritten files in place; others wait for "lease" milliseconds
//	placed   scrub                      all rewritten files are in place
//	void                                a scrub that was begun, but has no line here, is void
//	erase    by, lease                  the process "by" removes the session; others wait for "lease" milliseconds after
//	                                    the last such line
//
// The first line also has "life": random letters and a random number of dashes. The letters
// distinguish this session from an erased session of the same name. The dashes vary the length, so
// that lines of the two rarely end at the same offset.
//
// A line put or commit announces a file before it is created, and a line done
// confirms the file afterwards. So a file without an announcement is foreign, an
// announced file of no committed step is abandoned, and a missing file that was
// confirmed has been removed. The three cases cannot be confused.
//
// # Proof
//
// [Verify] reads everything back and names each file or line that was removed, added, reordered,
// truncated or changed. It cannot detect that the end of the manifest was cut off together with the
// files named there, unless the caller provides a head that was stored elsewhere
// ([Session.ManifestHead], [ReadHeads]). Only a backend with write protection helps against an
// attacker who can rewrite everything, heads included.
//
// # Words in the comments
//
//   - head: the hash of the last line of a manifest at some time ([Session.Head] returns a step)
//   - life: one session of a name, from its first line to its erasure
//   - loose: said of a file that was created after the last line of the manifest
//   - turn: the right of one process to remove files of a session for some time
//   - fence: the last line of a log during a scrub; it stops appends
package record
