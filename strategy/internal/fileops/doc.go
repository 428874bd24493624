// Package fileops reads from a command or a patch what it does to files: which ones it
// reads, edits, creates, renames and deletes, which functions it touches, and which
// headings or lines it adds.
//
// The forms that agents use are recognized. Everything else is skipped, because a wrong
// statement about a file is worse than none.
package fileops
