package setting

import (
	"reflect"
	"testing"
	"time"
)

func TestGotSaysHowAValueIsWritten(t *testing.T) {
	share, whole, float, span := "must be 0.0-1.0", Wanted(reflect.TypeFor[int]()), Wanted(reflect.TypeFor[float64]()), Wanted(reflect.TypeFor[time.Duration]())
	for _, c := range []struct {
		reason string
		v      any
		want   string
	}{
		{share, 85.0, " (got 85; 85 % is 0.85)"},
		{share, 85, " (got 85; 85 % is 0.85)"},
		{share, 1.7, " (got 1.7)"},
		{share, 850.0, " (got 850)"},
		{"must be >= 1", 85, " (got 85)"},
		{float, "85%", ` (got "85%"; 85 % is 0.85)`},
		{float, "much", ` (got "much")`},
		{whole, "128k", ` (got "128k"; write 128000)`},
		{whole, "1M", ` (got "1M"; write 1000000)`},
		{whole, "six", ` (got "six")`},
		{span, "7d", ` (got "7d"; a day is 24h)`},
		{span, Raw("30"), " (got 30)"},
		{"must be a text", nil, " (got <nil>)"},
	} {
		if got := Got(c.reason, c.v); got != c.want {
			t.Errorf("%s, %v: %q, want %q", c.reason, c.v, got, c.want)
		}
	}
}
