package ariadne

import (
	"fmt"
	"io"
	"time"
)

// quiet is the minimum time between two lines.
const quiet = 10 * time.Second

// reporter writes lines about lost events, with a minimum time between two
// lines.
type reporter struct {
	w    io.Writer
	last time.Time
	held tally // failures since the last line
}

func (r *reporter) report(t tally) {
	r.held.lose(t.lost, t.err)
	r.held.wait = t.wait
	if now := time.Now(); r.last.IsZero() || now.Sub(r.last) >= quiet {
		r.last = now
		r.flush()
	}
}

// close writes the failures that were held back.
func (r *reporter) close() { r.flush() }

func (r *reporter) flush() {
	switch t := r.held; {
	case t.err == nil: // nothing to say
	case t.lost == 0 && t.wait > 0:
		r.line("%d events wait: %.300s", t.wait, t.err)
	default:
		r.line("%d events not delivered: %.300s", t.lost, t.err)
	}
	r.held = tally{}
}

func (r *reporter) line(format string, n int, cause error) {
	// A failing log must not disturb the caller.
	_, _ = fmt.Fprintf(r.w, "[Ariadne] "+format+"\n", n, cause.Error())
}
