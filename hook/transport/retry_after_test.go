package transport

import (
	"net/http"
	"testing"
	"time"
)

// Providers state the wait before a retry in three forms.
func TestRetryAfterIsReadInEveryForm(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		ms, after, date string
		want            time.Duration
	}{
		{"", "2", "", 2 * time.Second},
		{"", "0.5", "", 500 * time.Millisecond},
		{"250", "1", "", 250 * time.Millisecond},
		{"250", "", "", 250 * time.Millisecond},
		{"soon", "2", "", 2 * time.Second},
		{"", "Fri, 02 Jan 2026 03:04:15 GMT", "", 10 * time.Second},
		{"", "Fri, 02 Jan 2026 03:04:15 GMT", "Fri, 02 Jan 2026 03:04:12 GMT", 3 * time.Second}, // of the provider's clock
		{"", "Fri, 02 Jan 2026 03:04:00 GMT", "", 0},
		{"", "-5", "", 0},
		{"NaN", "1e300", "", 0},
		{"", "soon", "", 0},
		{"", "", "", 0},
	} {
		h := http.Header{}
		for name, value := range map[string]string{"Retry-After-Ms": c.ms, "Retry-After": c.after, "Date": c.date} {
			if value != "" {
				h.Set(name, value)
			}
		}
		if got := retryAfter(h, now); got != c.want {
			t.Errorf("%+v: %s, want %s", c, got, c.want)
		}
	}
}
