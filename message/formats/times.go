package formats

import (
	"strconv"
	"strings"
	"time"

	"github.com/agentcompact/compact/internal/jsonscan"
)

// Times returns the time at which each message was recorded, or the zero time if the file has none.
// A message on several lines has the time of the first line. Formats store the time under many
// names, next to the message or in the object around it.
func (f *File) Times() []time.Time {
	msgs := f.Messages()
	out := make([]time.Time, len(msgs))
	for i := range msgs {
		switch raw := msgs[i].Raw(); {
		case f.log == nil && len(raw) > 0:
			out[i] = timeIn(wholeObject(raw))
		case f.log != nil && len(f.log.place[i].units) > 0:
			u := f.log.units[f.log.place[i].units[0]]
			out[i] = timeIn(wholeObject(f.log.file.of(u.at)))
		}
	}
	return out
}

var (
	timeKeys = []string{"timestamp", "created_at", "createdAt", "created", "time", "ts", "date"}
	wrappers = []string{"message", "info", "payload", "data", "meta", "metadata"}
)

// timeIn returns the time stamp of an object, or of an object inside it.
func timeIn(o object) time.Time {
	if t := timeAt(o); !t.IsZero() {
		return t
	}
	for _, key := range wrappers {
		if !o.is(key, '{') {
			continue
		}
		if t := timeAt(o.in(key)); !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

func timeAt(o object) time.Time {
	for _, key := range timeKeys {
		switch {
		case o.is(key, '{'): // {"created": …, "completed": …}
			if t := timeAt(o.in(key)); !t.IsZero() {
				return t
			}
		case o.is(key, '"'):
			if t := parseTime(o.text(key)); !t.IsZero() {
				return t
			}
		case o.has(key):
			if t := sinceEpoch(string(o.by[key].Of(o.data))); !t.IsZero() {
				return t
			}
		}
	}
	return time.Time{}
}

// timeForms are tried in order; a time without a zone is UTC.
var timeForms = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999"}

func parseTime(s string) time.Time {
	s = strings.TrimSpace(s)
	for _, form := range timeForms {
		if t, err := time.Parse(form, s); err == nil {
			return t
		}
	}
	return sinceEpoch(s)
}

// sinceEpoch reads a number of seconds, or of milli-, micro- or nanoseconds. The size
// determines the unit, for times from 1973 to 5138.
func sinceEpoch(s string) time.Time {
	const least, most = 1e8, 1e11 // seconds
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return time.Time{}
	}
	for range 4 {
		if n >= least && n < most {
			return time.UnixMicro(int64(n * 1e6)).UTC()
		}
		n /= 1000
	}
	return time.Time{}
}

func wholeObject(raw []byte) object { return objectAt(raw, jsonscan.Span{End: len(raw)}) }
