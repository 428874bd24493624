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
