// Package fileops finds the operations of a command or a patch on files: the files that
// it reads, edits, creates, renames and deletes, the functions that it touches, and the
// headings or lines that it adds.
//
// The forms that agents use are recognized. Everything else is skipped, because a wrong
// statement about a file is worse than none.
package fileops
