package s3

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/agentcompact/compact/storage"
)

// The server's clock ends a lock. A machine whose clock is ahead would begin an erase that the
// server refuses in the middle.
func TestALockEndsByTheClockOfTheServer(t *testing.T) {
	until := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC) // long ago by the clock of this machine
	server := until.Add(-3 * time.Hour)
	a := answering(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", server.Format(http.TimeFormat))
		if r.Method == http.MethodHead {
			w.Header().Set("X-Amz-Object-Lock-Mode", "COMPLIANCE")
			w.Header().Set("X-Amz-Object-Lock-Retain-Until-Date", until.Format(time.RFC3339))
			return
		}
		w.Header().Set("Content-Type", "application/xml")
		fmt.Fprint(w, `<?xml version="1.0" encoding="UTF-8"?><ListVersionsResult><Version><Key>s/f</Key><VersionId>1</VersionId><IsLatest>true</IsLatest></Version></ListVersionsResult>`)
	})
	k, err := storage.ParseKey("s/f")
	if err != nil {
		t.Fatal(err)
	}
	var locked *storage.LockedError
	if err := a.Kept(t.Context(), k); !errors.As(err, &locked) || !locked.Until.Equal(until) {
		t.Errorf("three hours before the end of a lock: %v", err)
	}
	server = until.Add(time.Second)
	if err := a.Kept(t.Context(), k); err != nil {
		t.Errorf("after the end of the lock: %v", err)
	}
}

// Locks end by the server's clock, so they begin by it as well. A machine whose clock is slow
// would lock objects for a shorter time than configured, or ask for a lock in the past, which
// the server refuses. A machine whose clock is fast would lock them for longer, and would remove
// the object of another process's Try.
func TestLocksBeginByTheClockOfTheServer(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"a slow machine": 3 * time.Hour, "a fast machine": -3 * time.Hour} {
		server, until := time.Now().Add(ahead), ""
		a := answering(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Date", server.UTC().Format(http.TimeFormat))
			switch {
			case r.Method == http.MethodPut:
				until = r.Header.Get("X-Amz-Object-Lock-Retain-Until-Date")
				fail(w, http.StatusForbidden, "AccessDenied")
			case r.URL.Query().Has("list-type"):
				fmt.Fprintf(w, `<ListBucketResult><Contents><Key>.try/other</Key><LastModified>%s</LastModified></Contents></ListBucketResult>`, server.Add(-10*time.Minute).UTC().Format(time.RFC3339))
			default:
				t.Errorf("%s: %s %s, but the object of the other Try is new", name, r.Method, r.URL)
				fail(w, http.StatusForbidden, "AccessDenied")
			}
		})
		a.cfg.Lock = Lock{Mode: Compliance, Days: 10}
		wantUntil := func(what string, want time.Time) {
			t.Helper()
			at, err := time.Parse(time.RFC3339, until)
			if err != nil || at.Sub(want).Abs() > time.Minute {
				t.Errorf("%s: %s is locked until %q, want about %s", name, what, until, want.UTC().Format(time.RFC3339))
			}
		}
		if err := a.Try(t.Context()); code(err) != "AccessDenied" {
			t.Fatal(err)
		}
		wantUntil("the object of Try", server.Add(tryLock))
		a.tried.Store(true)
		k, err := storage.ParseKey("s/f")
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Create(t.Context(), k, tryText); code(err) != "AccessDenied" {
			t.Fatal(err)
		}
		wantUntil("a file", server.AddDate(0, 0, 10))
	}
}

// A difference of less than a minute is no wrong clock: the answer was on its way.
func TestSlightSkewIsNone(t *testing.T) {
	a := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(30*time.Second).UTC().Format(http.TimeFormat))
		fail(w, http.StatusForbidden, "AccessDenied")
	})
	if err := a.Try(t.Context()); code(err) != "AccessDenied" {
		t.Fatal(err)
	}
	if skew := a.skew.Load(); skew != 0 {
		t.Errorf("the server is %s ahead", time.Duration(skew))
	}
}
