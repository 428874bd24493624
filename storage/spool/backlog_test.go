package spool

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// A short failure is not reported. A long failure is reported after a minute and then each hour,
// and its end is reported once.
func TestALongFailureIsReportedAfterAMinuteAndEachHour(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var a alarm
	for _, c := range []struct {
		after  time.Duration
		failed bool
		due    bool
	}{
		{0, false, false},
		{0, true, false},
		{time.Minute - 1, true, false},
		{time.Minute, true, true},
		{2 * time.Minute, true, false},
		{61*time.Minute - 1, true, false},
		{61 * time.Minute, true, true},
		{62 * time.Minute, false, true},
		{63 * time.Minute, false, false},
		{64 * time.Minute, true, true}, // it failed again long ago
	} {
		failing := time.Time{}
		if c.failed {
			failing = began
		}
		if due := a.due(began.Add(c.after), failing); due != c.due {
			t.Errorf("after %s, failed %v: report %v, want %v", c.after, c.failed, due, c.due)
		}
	}
}

// A failure lasts from the first failed attempt for the session that has waited longest until
// that session is sent. Its reason is the newest one. While another process sends a session, the
// failure of the session does not end, and this process does not try at once.
func TestAFailureLastsUntilTheSessionIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Spool{turns: map[string]turn{}}
		p := &passState{s: s}
		began := time.Now()
		p.noted("a", errors.New("first"))
		time.Sleep(time.Minute)
		p.noted("b", errors.New("second"))
		time.Sleep(time.Minute)
		p.noted("a", errBusy)
		if since, err := s.failing(); !since.Equal(began) || err == nil || err.Error() != "second" {
			t.Errorf("failing since %s, %v, want an error", since.Sub(began), err)
		}
		if due := s.due([]string{"a"}); len(due) > 0 {
			t.Errorf("a session that another process sends is due at once: %v", due)
		}
		p.noted("a", errors.New("third"))
		if since, err := s.failing(); !since.Equal(began) || err.Error() != "third" {
			t.Errorf("failing since %s, %v", since.Sub(began), err)
		}
		p.noted("a", nil)
		if since, _ := s.failing(); since.Sub(began) != time.Minute {
			t.Errorf("failing since %s after one session was sent, want %s", since.Sub(began), time.Minute)
		}
		p.noted("b", nil)
		if since, err := s.failing(); !since.IsZero() || err != nil {
			t.Errorf("failing since %s, %v after all were sent", since, err)
		}
		p.noted("c", errBusy)
		if since, _ := s.failing(); !since.IsZero() {
			t.Error("a session that another process sends counts as failed")
		}
	})
}

// The report has the state of the disk.
func TestAReportHasTheBacklog(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, memory.New(), &Options{Passive: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.local.Close()
	s.turns["s"] = turn{failures: 3, since: time.Now().Add(-time.Hour), err: errors.New("refused")}
	write := func(session, name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(s.state(session, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.state(session, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	queue := "c s/a\nc s/b\n"
	write("s", queueFile, queue)
	write("done", queueFile, queue)
	write("done", sentFile, string(sentLine(int64(len(queue)))))
	write("half", queueFile, queue)
	write("half", sentFile, string(sentLine(6)))
	write("fought", conflictFile, "two machines")
	var a alarm
	s.report(&a) // nobody listens
	var got []storage.Backlog
	s.Notify(func(b storage.Backlog) { got = append(got, b) })
	s.report(&a)
	s.report(&a)
	if len(got) != 1 || got[0].Operations != 3 || got[0].Sessions != 2 || got[0].Conflicts != 1 || got[0].Dir != dir || time.Since(got[0].Failing) < time.Hour || got[0].Err == nil {
		t.Errorf("reports: %+v", got)
	}
	s.sent("s")
	s.report(&a)
	if len(got) != 2 || !got[1].Failing.IsZero() || got[1].Err != nil {
		t.Errorf("reports: %+v", got)
	}
}
