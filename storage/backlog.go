package storage

import "time"

// Backlog describes the data that an archive has accepted but not yet sent to its
// destination, such as the content of a spool in front of a bucket that does not answer.
type Backlog struct {
	Dir        string    // the folder in which the data waits
	Operations int       // files to create, appends and removals that wait
	Sessions   int       // sessions to which they belong
	Conflicts  int       // sessions that are not sent until a person decides, see package spool
	Failing    time.Time // time of the first failed attempt since the last success; zero: no attempt has failed since
	Err        error     // why the last attempt failed, or why the folder cannot be read
}

// Buffered is an Archive that sends its data to another place in the background.
type Buffered interface {
	// Backlog returns the current backlog. It reads the disk, and does not wait for the
	// other place.
	Backlog() Backlog
	// Notify sets the function that is called when data could not be sent for a minute,
	// after each further hour of failures, and once when data is sent again (Failing is then
	// zero). The calls come one after the other, from a goroutine of the archive, and f must
	// not block. Notify replaces an earlier function; nil means none.
	Notify(f func(Backlog))
}

// Layered is an Archive in front of another one, for example an encrypting one.
type Layered interface {
	// Inner returns the archive behind this one, or nil if there is none at present.
	Inner() Archive
}

// BufferOf returns the outermost part of an archive that is [Buffered].
func BufferOf(a Archive) (b Buffered, ok bool) {
	for a != nil {
		if b, ok := a.(Buffered); ok {
			return b, true
		}
		l, ok := a.(Layered)
		if !ok {
			return nil, false
		}
		a = l.Inner()
	}
	return nil, false
}
