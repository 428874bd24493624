package serve

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
)

// Limits of the live page. A curve above its limit loses every other point, so it
// still reaches back to the beginning. With all limits reached, the page takes
// about 15 MB of memory.
const (
	liveSessions    = 200
	livePoints      = 300 // of a curve
	liveCompactions = 50  // of a session
	liveFailures    = 50
	liveText        = 300 // characters of a failure
)

// live holds the content of the page. All its texts are redacted. It is safe for
// concurrent use.
type live struct {
	redact func(string) string

	mu       sync.Mutex
	changes  int // number of additions so far
	began    time.Time
	seen     int // number of sessions so far, including those that were removed from the page
	sessions map[string]*liveSession
	total    liveSum
	line     []liveSum // total over time
	failures []failure // the last ones, in order
	failed   int       // number of all failures
}

// liveSum is the sum over calls.
type liveSum struct {
	At            time.Time
	Calls         int
	Compactions   int
	History, Sent int // tokens
	With, Without float64
	Unpriced      int // calls that neither sum of money includes
	Unbilled      int // calls for which the provider billed nothing; no sum of tokens or money includes them
}

func (s *liveSum) add(at time.Time, res *compact.Result) {
	s.At, s.Calls, s.History, s.Sent = at, s.Calls+1, s.History+res.TokensIn, s.Sent+res.After.Total
	if res.Triggered {
		s.Compactions++
	}
	if b := res.Bill; b == nil || b.Relative {
		s.Unpriced++
	} else {
		s.With, s.Without = s.With+b.EstimatedUSD+b.SummaryUSD, s.Without+b.WholeUSD
	}
}

// take takes the prompt of a call out of the sums. A summary is paid for in any case.
func (s *liveSum) take(res *compact.Result) {
	s.Unbilled, s.History, s.Sent = s.Unbilled+1, s.History-res.TokensIn, s.Sent-res.After.Total
	if b := res.Bill; b != nil && !b.Relative {
		s.With, s.Without = s.With-b.EstimatedUSD, s.Without-b.WholeUSD
	}
}

// liveSession is one session.
type liveSession struct {
	liveSum
	No     int // number of the session, in order of arrival
	Name   string
	Model  string
	Window int
	View   int // tokens of the last call

	points      []livePoint
	compactions []liveCompaction // the last ones
}

// livePoint is a point of a curve: one call.
type livePoint struct {
	Call, In, Sent int
	Compacted      bool
}

// liveCompaction is a call that compacted.
type liveCompaction struct {
	At            time.Time
	Call          int
	Agent         string
	Before, After int
	Stage, Reason string
}

// failure is an error of the handler or of an upstream.
type failure struct {
	At   time.Time
	What string
	Text string
}

func newLive(redact func(string) string, now time.Time) *live {
	return &live{redact: redact, began: now, sessions: map[string]*liveSession{}}
}

// result adds a call.
func (l *live) result(at time.Time, res *compact.Result) {
	name, model, agent, reason := l.redact(res.Session), l.redact(res.Model), l.redact(res.Agent), l.redact(res.Reason)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes++
	l.total.add(at, res)
	l.line = thinned(append(l.line, l.total), func(liveSum) bool { return false })
	s := l.session(res.Session, name)
	s.add(at, res)
	s.Model, s.Window, s.View = model, res.MaxTokens, res.After.Total
	s.points = thinned(append(s.points, livePoint{s.Calls, res.TokensIn, res.After.Total, res.Triggered}), func(p livePoint) bool { return p.Compacted })
	if res.Triggered {
		s.compactions = last(append(s.compactions, liveCompaction{at, s.Calls, agent, res.Before.Total, res.After.Total, string(res.CallStage), reason}), liveCompactions)
	}
}

// unbilled takes a call for which the provider billed nothing out of the sums. The curves
// of the sums must not fall, so no earlier point stays above the new sums.
func (l *live) unbilled(res *compact.Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes++
	l.total.take(res)
	for i := range l.line {
		p, t := &l.line[i], &l.total
		p.History, p.Sent, p.With, p.Without = min(p.History, t.History), min(p.Sent, t.Sent), min(p.With, t.With), min(p.Without, t.Without)
	}
	if s := l.sessions[res.Session]; s != nil {
		s.take(res)
	}
}

// session returns a session. A new session replaces the session that was idle for
// longest.
func (l *live) session(id, name string) *liveSession {
	if s := l.sessions[id]; s != nil {
		return s
	}
	if len(l.sessions) >= liveSessions {
		oldest := ""
		for id, s := range l.sessions {
			if o := l.sessions[oldest]; o == nil || s.At.Before(o.At) || s.At.Equal(o.At) && s.No < o.No {
				oldest = id
			}
		}
		delete(l.sessions, oldest)
	}
	l.seen++
	s := &liveSession{No: l.seen, Name: name}
	l.sessions[id] = s
	return s
}

// wrong adds an error of the transport.
func (l *live) wrong(at time.Time, err error) {
	var e *transport.Error
	if errors.As(err, &e) && !errors.Is(err, transport.ErrPassed) && !errors.Is(err, context.Canceled) {
		l.fail(at, e.Op, err.Error())
	}
}

// fail adds a failure.
func (l *live) fail(at time.Time, what, text string) {
	text = l.redact(text)
	if r := []rune(text); len(r) > liveText {
		text = string(r[:liveText]) + "…"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes++
	l.failed++
	l.failures = last(append(l.failures, failure{at, what, text}), liveFailures)
}

// thinned removes every other point of a curve above the limit. Both ends stay, and
// so do the points for which keep returns true, unless they are too many.
func thinned[T any](points []T, keep func(T) bool) []T {
	if len(points) <= livePoints {
		return points
	}
	if countOf(points, keep) > livePoints/2 {
		keep = func(T) bool { return false }
	}
	out := points[:0]
	for i, p := range points {
		if i%2 == 0 || i == len(points)-1 || keep(p) {
			out = append(out, p)
		}
	}
	return out
}

func countOf[T any](list []T, is func(T) bool) (n int) {
	for _, v := range list {
		if is(v) {
			n++
		}
	}
	return n
}

// last returns the last n elements of a list.
func last[T any](list []T, n int) []T {
	if len(list) > n {
		list = slices.Delete(list, 0, len(list)-n)
	}
	return list
}
