package record

import "errors"

// The sentinel errors of sessions. Like the errors of the archive below, they are
// wrapped in a [*storage.Error]; compare with errors.Is.
var (
	// ErrStep means that a step cannot be committed because the step before is not
	// committed, or because neither a transcript nor originals were archived for it.
	ErrStep = errors.New("step cannot be committed")
	// ErrLine means that a line of a log or a transcript is not a valid line.
	ErrLine = errors.New("not a line of JSON")
	// ErrErased means that the session was erased, or is being erased.
	ErrErased = errors.New("erased")
	// ErrScrubbed means that the session was scrubbed after it was opened, so this Session
	// may have outdated information about its files. Open it again.
	ErrScrubbed = errors.New("scrubbed since it was opened")
	// ErrUnplaced means that a scrub of the session was interrupted, or is in progress.
	// [Session.EndScrub] completes it.
	ErrUnplaced = errors.New("a scrub of it was interrupted or is in progress")
	// ErrHeld means that the session is under a legal hold and cannot be removed.
	ErrHeld = errors.New("under a legal hold")
	// ErrForeign means that a folder has none of the files of a session, so it is not
	// removed.
	ErrForeign = errors.New("the folder has no file of a session")
)
