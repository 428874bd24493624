package transport

import (
	"net/http"
	"strconv"
	"time"
)

// maxWait is the longest wait that is read from an answer; a longer one counts as none.
const maxWait = 7 * 24 * time.Hour

// retryAfter returns the time that a provider asks a client to wait, in milliseconds (OpenAI
// and Azure), in seconds, or until a date; 0 = it asks for none. A date is compared with the
// clock of the provider if the answer has its time.
func retryAfter(h http.Header, now time.Time) time.Duration {
	ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64)
	if wait := within(ms / 1000); err == nil && wait > 0 {
		return wait
	}
	after := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(after, 64); err == nil {
		return within(s)
	}
	at, err := http.ParseTime(after)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return within(at.Sub(now).Seconds())
}

// within returns a number of seconds as a wait; 0 if the number is not positive or exceeds maxWait.
func within(seconds float64) time.Duration {
	if !(seconds > 0 && seconds <= maxWait.Seconds()) { // also false for NaN
		return 0
	}
	return time.Duration(seconds * float64(time.Second))
}
