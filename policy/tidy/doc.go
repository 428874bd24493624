// Package tidy reduces tool results when they arrive, before they were ever
// sent, so that no cached prefix of a prompt changes.
//
// A reducer is a pure function of a result, of the call that it answers and of
// what was said before it: one file each. Some are lossless to a reader (colors,
// progress, runs of equal lines, the paths of search results); the others leave
// of a large result what a reader of its kind needs, say in its first line what
// they left out, and keep every line that holds an error. What a call itself
// asked for by lines stays whole.
//
// What comes out is made of ranges of the result and of words of our own, so
// that a ledger can keep it. It is never longer than the result, and reducing it
// again changes nothing.
package tidy
