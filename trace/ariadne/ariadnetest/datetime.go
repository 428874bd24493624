package ariadnetest

import (
	"regexp"
	"strings"
	"time"
)

// datetime is the format that the server accepts: UTC, marked by a capital Z;
// seconds and a fraction of any length are optional.
var datetime = regexp.MustCompile(`^(\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d)(:[0-5]\d(\.\d+)?)?Z$`)

// parseDatetime returns the time in milliseconds, which is JavaScript's
// precision.
func parseDatetime(s string) (time.Time, bool) {
	if len(s) == len(jsTime) && s[19] == '.' && s[23] == 'Z' { // the usual form
		if t, err := time.Parse(jsTime, s); err == nil {
			return t, true
		}
	}
	m := datetime.FindStringSubmatch(s)
	if m == nil {
		return time.Time{}, false
	}
	seconds := m[3]
	if seconds == "" {
		seconds = ":00"
	}
	whole, fraction, _ := strings.Cut(seconds, ".")
	fraction = (fraction + "000")[:3]
	t, err := time.Parse("2006-01-02T15:04:05.000", m[1]+whole+"."+fraction) // Parse also checks the day of the month
	return t, err == nil
}
