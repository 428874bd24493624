// Package search finds words in what an archive holds: the text of its messages and
// summaries, redacted as it was stored.
//
// # The index
//
// An [Index] is one SQLite database with a full-text table (FTS5), in the folder
// _index of an archive on disk, and in the user's cache folder for any other. It
// holds nothing that can't be made again from the archive: an index that is damaged,
// of another version, or gone is made anew. Several processes may use one at once.
//
// # What is searched
//
// Every [Index.Search] first looks which sessions changed since they were put into
// the index, and puts those in again; so what was committed before the search began
// is found, and what was erased is not. Files that are not what was stored are not
// searched, and [Found.Unread] says so.
//
// # What is erased
//
// An index is a second copy of the text. What [Index.Forget] takes out is gone from
// the file when it returns or the index is closed: rows are overwritten, words leave
// the full-text table at once and not when it is next merged, and the file is
// written anew. There is no write-ahead log, and the rollback journal of a
// transaction goes with it.
package search
