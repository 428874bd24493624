package replay

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// lived sends a session through a manager, a call every 30 seconds, and archives
// its end.
func lived(t *testing.T, preset string, s *Session) (*memory.Archive, *record.Session) {
	t.Helper()
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return livedWith(t, preset, s, func() time.Time { return clock }, func(_ int, call func()) {
		call()
		clock = clock.Add(30 * time.Second)
	})
}

// livedWith is lived with a clock. each gets the number of messages of a call, and makes it.
func livedWith(t *testing.T, preset string, s *Session, now func() time.Time, each func(at int, call func())) (*memory.Archive, *record.Session) {
	t.Helper()
	c, err := compact.Preset(preset)
	if err != nil {
		t.Fatal(err)
	}
	a := memory.New()
	c.Model, c.MaxContextTokens, c.Archive, c.Now = "gpt-4o", 8000, a, now
	m, err := compact.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range s.Calls() {
		each(at, func() {
			if _, err := m.Preflight(t.Context(), "s", s.Messages[:at:at]); err != nil {
				t.Fatal(err)
			}
		})
	}
	if err := errors.Join(m.Archive(t.Context(), "s", s.Messages), m.Close(context.WithoutCancel(t.Context()))); err != nil {
		t.Fatal(err)
	}
	stored, err := record.OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	return a, stored
}

func TestRecordedCallsArePricedAsRecorded(t *testing.T) {
	s := session("s", 60)
	s.Messages[2].Parts[0].Text = "The key is AKIA" + "Q7ZK3MPLW2XRT6NB" + "." // the archive has this message in another form
	a, stored := lived(t, "graduated", s)
	was, err := FromArchive(t.Context(), a, stored, "s")
	if err != nil {
		t.Fatal(err)
	}
	if was.Window != 8000 || len(was.Session.Messages) != len(s.Messages) || !was.Timed() {
		t.Fatalf("window %d, %d messages, timed %v", was.Window, len(was.Session.Messages), was.Timed())
	}
	o := Options{Windows: []int{8000, 8000}, Gap: 30 * time.Second, Policies: []Policy{preset(t, "graduated")}}
	live := run(t, o, s).Rows[0]
	o.Recorded, o.Policies = true, []Policy{was.Current()}
	rep := run(t, o, was.Session)
	for _, again := range rep.Rows {
		if live.Compactions == 0 || again.Compactions != live.Compactions || again.Changed != live.Changed || again.Calls != live.Calls {
			t.Errorf("done: %d compactions, %d changed prefixes, %d calls; live: %d, %d, %d",
				again.Compactions, again.Changed, again.Calls, live.Compactions, live.Changed, live.Calls)
		}
		if off := float64(again.Sent)/float64(live.Sent) - 1; off > 0.005 || off < -0.005 { // redaction alone
			t.Errorf("%d tokens were sent, live %d", again.Sent, live.Sent)
		}
		if again.Held != live.Held || again.Needed != live.Needed || again.Recalled != live.Recalled || again.Told != live.Told {
			t.Errorf("kept: %+v, live %+v", again.Kept, live.Kept)
		}
	}
	for i, p := range rep.Rows[0].Points {
		if p.Compacted != live.Points[i].Compacted || p.Compacted && (p.Change == nil || p.Change.counts() != live.Points[i].Change.counts()) {
			t.Errorf("call %d: compacted %v, live %v", i+1, p.Compacted, live.Points[i].Compacted)
		}
	}
}

// If a call is repeated, for example after a failure of the provider, the time of the
// repetition is not taken as the time of its last message.
func TestRepeatedCallKeepsItsFirstTime(t *testing.T) {
	s := session("s", 12)
	want := make([]time.Time, len(s.Messages))
	clock, calls := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), 0
	a, stored := livedWith(t, "graduated", s, func() time.Time { return clock }, func(at int, call func()) {
		want[at-1] = clock
		for range 1 + calls%2 {
			call()
			clock = clock.Add(time.Minute)
		}
		calls++
	})
	got, err := FromArchive(t.Context(), a, stored, "s")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(got.Session.Times, want, time.Time.Equal) {
		t.Errorf("the times are %v, want %v", got.Session.Times, want)
	}
}

func TestCurrentReportsOnlyItsOwnSession(t *testing.T) {
	a, stored := lived(t, "graduated", session("s", 30))
	was, err := FromArchive(t.Context(), a, stored, "s")
	if err != nil {
		t.Fatal(err)
	}
	rep := run(t, Options{Policies: []Policy{was.Current()}, Windows: []int{8000}}, session("other", 5))
	if rep.Sessions != 0 || !strings.Contains(rep.Err().Error(), "needs an archived session") {
		t.Errorf("%d sessions, %v", rep.Sessions, rep.Err())
	}
}

func TestIncompleteArchivedHistoryIsReported(t *testing.T) {
	a, stored := lived(t, "masking", session("s", 60))
	if _, err := FromArchive(t.Context(), a, stored, "s"); !errors.Is(err, ErrNotWhole) {
		t.Errorf("a preset that works on every call: %v", err)
	}
	a = memory.New()
	stored, err := record.OpenSession(t.Context(), a, "none")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := FromArchive(t.Context(), a, stored, "none"); !errors.Is(err, ErrNotWhole) {
		t.Errorf("an empty session: %v", err)
	}
}

func TestKeptViewIsNotAHistory(t *testing.T) {
	s := session("s", 60)
	c, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	a := memory.New()
	c.Model, c.MaxContextTokens, c.Archive = "gpt-4o", 8000, a
	m, err := compact.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(context.WithoutCancel(t.Context())) }()
	var kept []message.Message
	for i := range s.Messages {
		kept = append(kept, s.Messages[i])
		if i+1 < len(s.Messages) && s.Messages[i+1].Role == message.RoleAssistant {
			res, err := m.Preflight(t.Context(), "s", kept)
			if err != nil {
				t.Fatal(err)
			}
			kept = res.Messages
		}
	}
	stored, err := record.OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := FromArchive(t.Context(), a, stored, "s"); !errors.Is(err, ErrNotWhole) || !strings.Contains(err.Error(), "differs from the previous transcript") {
		t.Errorf("the error is %v", err)
	}
}
