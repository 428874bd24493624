// Package tidy reduces tool results when they arrive, before they are first sent,
// so that no cached prefix of a prompt changes.
//
// A reducer is a pure function of a result, of the call that it answers, and of
// the text before the call. Some lose nothing that a reader needs (colors,
// progress, runs of equal lines, the paths of search results). The others keep
// what a reader of that kind of result needs, and state in the first line what
// they left out. They keep every line that holds an error, except in code,
// documents, pages, patches and searches. A result whose call asked for a range
// of lines stays whole. So does one that is asked for again after it was reduced: a
// file that is read once more, a command that runs again at once or prints as much
// as before.
//
// The output consists of ranges of the result and of literals from this package,
// so that a ledger can store it. It is never longer than the result, and reducing
// it again changes nothing.
package tidy
