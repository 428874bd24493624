package replay

import (
	"fmt"
	"time"
)

// gapsOf returns the recorded time before each call. A call is sent when the
// last message of its prompt arrives; if that message has no time, the time of
// the answer is used. The error names the first call for which both times are
// missing.
func gapsOf(s *Session) ([]time.Duration, error) {
	var gaps []time.Duration
	var last time.Time
	for _, at := range s.Calls() {
		sent := s.timeOf(at - 1)
		if sent.IsZero() {
			sent = s.timeOf(at)
		}
		if sent.IsZero() {
			return nil, fmt.Errorf("%s: message %d has no time stamp, so the recorded gaps are unknown: set their length with --gap 20s", s.Name, at+1)
		}
		gap := time.Duration(0)
		if !last.IsZero() {
			gap = max(sent.Sub(last), 0)
		}
		gaps, last = append(gaps, gap), sent
	}
	return gaps, nil
}

func (s *Session) timeOf(i int) time.Time {
	if i >= len(s.Times) {
		return time.Time{}
	}
	return s.Times[i]
}

// gaps returns the time before each call of a session.
func (o *Options) gaps(s *Session) ([]time.Duration, error) {
	if o.Recorded {
		return gapsOf(s)
	}
	gaps := make([]time.Duration, len(s.Calls()))
	for i := range gaps {
		gaps[i] = o.Gap
	}
	return gaps, nil
}
