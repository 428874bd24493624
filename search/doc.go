// Package search finds words in the text of an archive: the text of its messages
// and summaries, redacted as stored.
//
// # The index
//
// An [Index] is one SQLite database with a full-text table (FTS5), in the folder
// _index of an archive on disk, and in the user's cache folder for any other. It
// holds only text of the archive, so a damaged, missing or outdated index is
// rebuilt. Several processes may use one at the same time.
//
// # Searched text
//
// Every [Index.Search] first updates the index with the sessions that changed. So
// it finds all text that was committed before it began, and no text that was erased
// before. A file that was altered after it was stored is not searched, and
// [Found.Unread] names its session.
//
// # Erased text
//
// An index is a second copy of the text. [Index.Forget] overwrites the rows of the
// removed sessions, and removes their words from the full-text table immediately (not at
// its next merge). Traces can stay in the file until the next [Index.Update],
// [Index.Search] or [Index.Close], which rewrites the file. There is no write-ahead log,
// and the rollback journal is deleted with its transaction.
package search
