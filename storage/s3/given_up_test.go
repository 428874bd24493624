package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/internal/unchecked"
)

// Parts of an unfinished upload cost money until they are removed. So they are
// removed even if the caller's context has ended.
func TestPartsOfAnUploadThatIsGivenUpAreRemoved(t *testing.T) {
	ctx, giveUp := context.WithCancel(t.Context())
	removed := make(chan string, 1)
	a := answering(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		switch q := r.URL.Query(); {
		case r.Method == http.MethodPost && q.Has("uploads"):
			w.Header().Set("Content-Type", "application/xml")
			fmt.Fprint(w, `<?xml version="1.0" encoding="UTF-8"?><InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>`)
		case r.Method == http.MethodPut:
			giveUp()
			fail(w, http.StatusServiceUnavailable, "SlowDown")
		case r.Method == http.MethodDelete:
			removed <- q.Get("uploadId")
			w.WriteHeader(http.StatusNoContent)
		}
	})
	large, _ := unchecked.Blob(strings.Repeat("x", partSize+1)).(storage.Blob)
	if err := a.putParts(ctx, "s/large", large, terms{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that of the context", err)
	}
	select {
	case id := <-removed:
		if id != "u1" {
			t.Errorf("the parts of %q are removed, want %q", id, "u1")
		}
	default:
		t.Error("the parts were not removed")
	}
}

// Data that is read after a break belongs to the same object as the data before it:
// each further request names the version of the first answer.
func TestABrokenReadNamesTheVersionThatItBegan(t *testing.T) {
	const whole = "0123456789"
	var named []string
	a := answering(t, func(w http.ResponseWriter, r *http.Request) {
		named = append(named, r.Header.Get("If-Match"))
		from := 0
		if span := r.Header.Get("Range"); span != "" {
			_, _ = fmt.Sscanf(span, "bytes=%d-", &from)
		}
		w.Header().Set("ETag", `"first"`)
		w.Header().Set("Content-Length", fmt.Sprint(len(whole)-from))
		if from > 0 {
			w.WriteHeader(http.StatusPartialContent)
		}
		fmt.Fprint(w, whole[from:from+5])
	})
	r, err := a.openObject(t.Context(), "s/f", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil || string(got) != whole {
		t.Errorf("read %q, %v", got, err)
	}
	if len(named) != 2 || named[0] != "" || named[1] != `"first"` {
		t.Errorf("the requests want the versions %q", named)
	}
}

// The time of the last write to a log is the time of its newest segment. Prune uses
// that time.
func TestLogHasTheAgeOfItsNewestSegment(t *testing.T) {
	at := func(day int) time.Time { return time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC) }
	object := func(name string, day int) string {
		return fmt.Sprintf(`<Contents><Key>%s</Key><Size>10</Size><LastModified>%s</LastModified></Contents>`, name, at(day).Format(time.RFC3339))
	}
	a := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		fmt.Fprint(w, `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult>`,
			object(segmentName("s/log", 0), 1), object(rollupName("s/log", 0, 20), 9), object(segmentName("s/log", 10), 5), object(segmentName("s/log", 20), 3),
			object("s/other", 2), `</ListBucketResult>`)
	})
	want := map[string]storage.Info{"s/log": {Size: 30, Modified: at(5)}, "s/other": {Size: 10, Modified: at(2)}}
	for info, err := range a.List(t.Context(), storage.Key{}) {
		if err != nil {
			t.Fatal(err)
		}
		if w := want[info.Key.String()]; info.Size != w.Size || !info.Modified.Equal(w.Modified) {
			t.Errorf("%s has %d bytes of %s, want %d of %s", info.Key, info.Size, info.Modified, w.Size, w.Modified)
		}
		delete(want, info.Key.String())
	}
	if len(want) > 0 {
		t.Errorf("not listed: %v", want)
	}
}
