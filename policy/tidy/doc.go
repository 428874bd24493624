// Package tidy reduces tool results when they arrive, before they are first sent,
// so that no cached prefix of a prompt changes.
//
// A reducer is a pure function of a result, of the call that it answers, and of the text
// before the call. Some reducers remove nothing that a reader needs (colors, progress,
// runs of equal lines, the paths of search results). The others keep the parts that a
// reader of that kind of result needs, and describe in the first line the parts that
// they left out. They keep every line that holds an error, except in code, documents,
// pages, patches, searches, and files of settings and markup. They prefer lines that hold
// what the call or the task looks for. A text in a string of a JSON document is reduced
// like a result of its kind; the document stays JSON. If a call asks for a range of lines,
// its result stays whole. A result also stays whole if an earlier, reduced result is requested again: the
// same file is read once more, or the same command runs again at once or prints as much
// as before.
//
// The output consists of ranges of the result and of literals from this package,
// so that a ledger can store it. It is never longer than the result, and reducing
// it again changes nothing.
package tidy
