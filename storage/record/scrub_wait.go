package record

import (
	"context"
	"errors"
	"time"

	"github.com/agentcompact/compact/storage"
)

// commonly is the time for which a scrub waits for an announced file. A process that takes
// longer to create the file checks the manifest afterwards ([doubtful]).
const commonly = time.Minute

// maxSkew is the maximum difference between the clocks of processes that write to a session
// at the same time.
const maxSkew = 24 * time.Hour

// announcedAt is the announcement of a file, and the number of lines up to it.
type announcedAt struct {
	at   time.Time
	line int
}

// dropAbandoned removes announcements that are more than maxSkew older than a later line
// of the manifest: nobody creates these files any more. The clock of this process is not
// used, because it can be a year ahead.
func (p *scrubPlan) dropAbandoned(times []time.Time) {
	for name, a := range p.puts {
		for _, later := range times[a.line:] {
			if later.Sub(a.at) > maxSkew+commonly {
				delete(p.puts, name)
				break
			}
		}
	}
}

// fileWait waits for announced files that do not exist. It holds the time at which this
// process first missed each of them: the time in an announcement is that of another
// clock.
type fileWait struct {
	s      *Session
	missed map[string]time.Time
	waited time.Duration
}

// awaits reports whether another process may be about to create a file.
func (w *fileWait) awaits(p *scrubPlan) bool {
	now, waits := time.Now(), false
	for name := range p.puts {
		since, ok := w.missed[name]
		if !ok {
			since = now
			w.missed[name] = now
		}
		waits = waits || now.Sub(since) < commonly
	}
	return waits
}

// longest is the longest pause between two looks for announced files.
const longest = 5 * time.Second

// wait waits for the files of a plan: until they exist, or were missing for long enough.
// It returns [ErrInUse] if other processes announce new files all the time, or ctx ends.
func (w *fileWait) wait(ctx context.Context, p *scrubPlan) error {
	began := time.Now()
	defer func() { w.waited += time.Since(began) }()
	for pause := often; w.awaits(p); pause = min(2*pause, longest) {
		err := sleep(ctx, pause)
		if err != nil || w.waited+time.Since(began) > 2*commonly {
			return &storage.Error{Op: "scrub", Key: w.s.dir, Err: errors.Join(ErrInUse, err)}
		}
		for info, err := range w.s.Files(ctx) {
			if err != nil {
				return err
			}
			delete(p.puts, info.Key.Base())
		}
	}
	return nil
}
