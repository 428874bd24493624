package trace

import "time"

// Backlog is the data that a manager's archive has accepted and not sent to its place
// yet, such as the content of a spool in front of a bucket that does not answer.
type Backlog struct {
	Dir        string    // the folder in which the data waits
	Operations int       // files to create, appends and removals that wait
	Sessions   int       // sessions to which they belong
	Conflicts  int       // sessions that are not sent until a person decides
	Failing    time.Time // time of the first of the attempts that have failed since the last success; zero: none has
}

// BacklogWatcher is an [Exporter] that reports the backlog of the manager's archive.
type BacklogWatcher interface {
	// WatchBacklog is called once, before the pipeline starts. read may be called at any
	// time, from any goroutine; it reads the disk. ok is false for an archive that sends
	// everything at once.
	WatchBacklog(read func() (b Backlog, ok bool))
}
