package setting

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// Got returns the end of an error that shows the given value. If the reason and the
// value look like a common mistake, such as 85 for a share of 85 %, it says how the value
// is written.
func Got(reason string, v any) string {
	shown := Show(v)
	if hint := hint(reason, v); hint != "" {
		shown += "; " + hint
	}
	return " (got " + shown + ")"
}

var (
	percent   = regexp.MustCompile(`^(\d{1,3}(?:\.\d+)?) ?%$`)
	thousands = regexp.MustCompile(`^(\d{1,6})([kKmM])$`)
	days      = regexp.MustCompile(`^\d+ ?d(ays?)?$`)
)

func hint(reason string, v any) string {
	s, isText := text(v)
	switch {
	case strings.HasPrefix(reason, "must be 0.0-1.0"):
		if n, ok := number(v); ok && n == float64(int(n)) && 2 <= n && n <= 100 {
			return fmt.Sprintf("%g %% is %g", n, n/100)
		}
	case !isText:
	case reason == Wanted(reflect.TypeFor[float64]()):
		if m := percent.FindStringSubmatch(s); m != nil {
			n, _ := strconv.ParseFloat(m[1], 64)
			return fmt.Sprintf("%g %% is %g", n, n/100)
		}
	case reason == Wanted(reflect.TypeFor[int]()):
		if m := thousands.FindStringSubmatch(s); m != nil {
			return "write " + m[1] + map[string]string{"k": "000", "m": "000000"}[strings.ToLower(m[2])]
		}
	case strings.HasPrefix(reason, "must be a duration") && days.MatchString(s):
		return "a day is 24h"
	}
	return ""
}

// number returns the value of any type of number.
func number(v any) (float64, bool) {
	switch r := reflect.ValueOf(v); {
	case r.IsValid() && r.CanFloat():
		return r.Float(), true
	case r.IsValid() && r.CanInt():
		return float64(r.Int()), true
	}
	return 0, false
}
