// Package prose reads and shortens text that people and agents write: its sentences,
// clauses, headings and blocks of code, and the words in it. It cuts a text to a length, so
// that no name is cut in half.
//
// The package knows nothing of sessions, commands or rules.
package prose
