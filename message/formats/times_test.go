package formats

import (
	"testing"
	"time"
)

func TestTimesReturnsTheTimeOfEachMessage(t *testing.T) {
	at := func(s string) time.Time {
		v, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for name, tc := range map[string]struct {
		data string
		want []time.Time
	}{
		"claude-code, an answer on two lines": {
			`{"type":"user","timestamp":"2026-01-02T03:04:05.678Z","message":{"role":"user","content":"hello"}}
{"type":"assistant","timestamp":"2026-01-02T03:04:09Z","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"a"}]}}
{"type":"assistant","timestamp":"2026-01-02T03:04:19Z","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"b"}]}}
`,
			[]time.Time{at("2026-01-02T03:04:05.678Z"), at("2026-01-02T03:04:09Z")},
		},
		"pi, in the message, in milliseconds": {
			`{"type":"message","message":{"role":"user","timestamp":1767323045678,"content":"hello"}}
{"type":"message","message":{"role":"assistant","timestamp":1767323049000,"content":[{"type":"text","text":"a"}]}}
`,
			[]time.Time{at("2026-01-02T03:04:05.678Z"), at("2026-01-02T03:04:09Z")},
		},
		"chat, in seconds, once": {
			`{"role":"user","content":"hello","created_at":1767323045}
{"role":"assistant","content":"a"}
`,
			[]time.Time{at("2026-01-02T03:04:05Z"), {}},
		},
		"chat, in meta, without a zone": {
			`{"role":"user","content":"hello","meta":{"time":"2026-01-02T03:04:05.678"}}
{"role":"assistant","content":"a","ts":"soon"}
`,
			[]time.Time{at("2026-01-02T03:04:05.678Z"), {}},
		},
		"chat, an object without a time, then a time": {
			`{"role":"user","content":"hello","timestamp":{"zone":"UTC"},"created":"soon","ts":{"created":1767323045,"completed":1767323049}}
`,
			[]time.Time{at("2026-01-02T03:04:05Z")},
		},
		"a body": {
			`{"model":"gpt-4o","messages":[{"role":"user","content":"hello","timestamp":"2026-01-02 03:04:05"},{"role":"assistant","content":"a"}]}`,
			[]time.Time{at("2026-01-02T03:04:05Z"), {}},
		},
	} {
		f, err := Read("auto", []byte(tc.data))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := f.Times()
		if len(got) != len(tc.want) {
			t.Errorf("%s: %d times, want %d", name, len(got), len(tc.want))
			continue
		}
		for i := range got {
			if !got[i].Equal(tc.want[i]) {
				t.Errorf("%s: message %d is of %v, want %v", name, i, got[i], tc.want[i])
			}
		}
	}
}

func TestNumbersOfTheSizeOfTimesAreTimes(t *testing.T) {
	want := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, s := range []string{"1767323045", "1767323045000", "1767323045000000", "1767323045000000000", "1767323045.0"} {
		if got := sinceEpoch(s); !got.Equal(want) {
			t.Errorf("%s is %v, want %v", s, got, want)
		}
	}
	for _, s := range []string{"0", "12", "-1767323045", "x", "NaN", "1e300"} {
		if got := sinceEpoch(s); !got.IsZero() {
			t.Errorf("%s is %v, want no time", s, got)
		}
	}
}
