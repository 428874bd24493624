// Package ledger holds the stored forms of a session's archive that both its writer,
// package compact, and its readers know: the steps in ledgers, the edits between steps,
// the lines of transcripts, and the rows of turn indexes.
package ledger
