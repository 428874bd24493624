package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
)

// answering returns an archive whose server is a function.
func answering(t *testing.T, answer http.HandlerFunc) *Archive {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test-secret")
	t.Setenv("AWS_REGION", "us-east-1")
	srv := httptest.NewServer(answer)
	t.Cleanup(srv.Close)
	a, err := New(Config{Bucket: "bucket", Endpoint: srv.URL, PathStyle: true})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>no</Message></Error>`, code)
}

// Versions come in pages. The versions on the last page are removed, too.
func TestVersionsOfEveryPageAreRemoved(t *testing.T) {
	var gone []string
	a := answering(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		switch {
		case r.Method == http.MethodDelete:
			gone = append(gone, q.Get("versionId"))
			w.WriteHeader(http.StatusNoContent)
		case q.Has("versions"):
			id, more := "one", true
			if q.Get("key-marker") == "s/f" && q.Get("version-id-marker") == "one" {
				id, more = "two", false
			}
			w.Header().Set("Content-Type", "application/xml")
			fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><ListVersionsResult><IsTruncated>%v</IsTruncated>`+
				`<NextKeyMarker>s/f</NextKeyMarker><NextVersionIdMarker>one</NextVersionIdMarker>`+
				`<Version><Key>s/f</Key><VersionId>%s</VersionId></Version></ListVersionsResult>`, more, id)
		}
	})
	if err := a.removeObjects(t.Context(), "s/f", func(string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if want := []string{"one", "two"}; !slices.Equal(gone, want) {
		t.Errorf("removed %q, want %q", gone, want)
	}
}

// The delete markers of a page follow its versions. The last segment of a log is
// removed last, even in this case.
func TestLastSegmentIsHiddenByDeleteMarkers(t *testing.T) {
	var gone []string
	a := answering(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		switch {
		case r.Method == http.MethodDelete:
			gone = append(gone, q.Get("versionId"))
			w.WriteHeader(http.StatusNoContent)
		case r.Method == http.MethodPost: // so that the archive deletes objects one by one
			fail(w, http.StatusNotImplemented, "NotImplemented")
		case q.Has("versions"):
			w.Header().Set("Content-Type", "application/xml")
			fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><ListVersionsResult><IsTruncated>false</IsTruncated>`+
				`<Version><Key>%[1]s</Key><VersionId>first</VersionId></Version><Version><Key>%[2]s</Key><VersionId>last</VersionId></Version>`+
				`<DeleteMarker><Key>%[1]s</Key><VersionId>marker</VersionId></DeleteMarker></ListVersionsResult>`, segmentName("s/log", 0), segmentName("s/log", 4))
		}
	})
	if err := a.removeObjects(t.Context(), "s/log", func(string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if want := []string{"first", "marker", "last"}; !slices.Equal(gone, want) {
		t.Errorf("removed %q, want %q", gone, want)
	}
}

// A request for many deletions can succeed in part. The versions that its answer does not
// confirm are deleted one by one, even if another version of the same object is gone.
func TestUnconfirmedVersionsAreDeletedOneByOne(t *testing.T) {
	var gone []string
	a := answering(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		switch q := r.URL.Query(); {
		case r.Method == http.MethodPost:
			fmt.Fprint(w, `<DeleteResult><Deleted><Key>s/f</Key><VersionId>one</VersionId></Deleted><Error><Key>s/f</Key><VersionId>two</VersionId><Code>InternalError</Code></Error></DeleteResult>`)
		case r.Method == http.MethodDelete:
			gone = append(gone, r.URL.Path+" "+q.Get("versionId"))
			w.WriteHeader(http.StatusNoContent)
		}
	})
	if err := a.removeVersions(t.Context(), []version{{name: "s/f", id: "one"}, {name: "s/f", id: "two"}, {name: "s/g", id: "one"}}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"/bucket/s/f two", "/bucket/s/g one"}; !slices.Equal(gone, want) {
		t.Errorf("deleted one by one: %q, want %q", gone, want)
	}
}

// A name that another process writes at the same moment is retried, because the
// winner is not known yet.
func TestConflictIsRetried(t *testing.T) {
	for conflict, want := range map[string]int{"ConditionalRequestConflict": 2, "OperationAborted": 2, "ExistingObjectIsDirectory": 2, "BucketAlreadyExists": 1} {
		asked := 0
		a := answering(t, func(w http.ResponseWriter, r *http.Request) {
			if asked++; asked == 1 {
				fail(w, http.StatusConflict, conflict)
				return
			}
			fail(w, http.StatusForbidden, "AccessDenied")
		})
		err := a.call(t.Context(), 0, func(ctx context.Context, client *s3.Client) error {
			_, err := client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &a.cfg.Bucket, Key: &a.cfg.Bucket})
			return err
		})
		if asked != want || err == nil {
			t.Errorf("%s: asked %d times, want %d; %v", conflict, asked, want, err)
		}
	}
}

// A lost answer to the end of an upload leaves no upload: the object itself then
// shows its writer.
func TestMissingUploadChecksTheObject(t *testing.T) {
	heads := 0
	a := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			heads++
			w.WriteHeader(http.StatusNotFound)
			return
		}
		fail(w, http.StatusNotFound, "NoSuchUpload")
	})
	number, tag := int32(1), "tag"
	err := a.endParts(t.Context(), "s/f", "upload", []types.CompletedPart{{PartNumber: &number, ETag: &tag}}, terms{})
	if heads == 0 || code(err) == "NoSuchUpload" {
		t.Errorf("the object was asked %d times, %v", heads, err)
	}
}

// A server need not state the length of its answer.
func TestAnAnswerWithoutALengthIsReadToItsEnd(t *testing.T) {
	want := strings.Repeat("0123456789", 1000)
	short, asked := false, 0
	a := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if asked++; short && asked > 1 {
			fail(w, http.StatusForbidden, "AccessDenied")
			return
		}
		w.Header().Set("ETag", `"e"`)
		if span := r.Header.Get("Range"); span != "" {
			w.Header().Set("Content-Range", "bytes 10-9999/10000")
			w.WriteHeader(http.StatusPartialContent)
		}
		body := want
		if r.Header.Get("Range") != "" {
			body = want[10:]
		}
		_, _ = io.WriteString(w, body[:50])
		_ = http.NewResponseController(w).Flush() // from here on it is sent in chunks
		if short {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, body[50:])
	})
	for _, span := range [][2]int64{{0, -1}, {10, -1}, {10, 9990}} {
		r, err := a.openObject(t.Context(), "s/f", span[0], span[1])
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err != nil || string(got) != want[span[0]:] {
			t.Errorf("%v: %d bytes of %d, %v", span, len(got), len(want)-int(span[0]), err)
		}
		_ = r.Close()
	}
	short, asked = true, 0
	r, err := a.openObject(t.Context(), "s/f", 10, -1)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err == nil {
		t.Errorf("an answer that breaks off counts as complete: %d bytes", len(got))
	}
	_ = r.Close()
}

// A server without versioning lists every object as version "null". Versitygw then refuses a
// HEAD of this id, and does not know Object Lock either.
func TestLocksOfAServerThatRefusesTheNullVersion(t *testing.T) {
	for until, locks := range map[string]bool{"": false, "2200-01-02T15:04:05Z": true} {
		a := answering(t, func(w http.ResponseWriter, r *http.Request) {
			switch q := r.URL.Query(); {
			case q.Has("object-lock"):
				fail(w, http.StatusNotImplemented, "NotImplemented")
			case q.Has("versions"):
				w.Header().Set("Content-Type", "application/xml")
				fmt.Fprint(w, `<ListVersionsResult><Version><Key>s/f</Key><VersionId>null</VersionId></Version></ListVersionsResult>`)
			case q.Has("versionId"):
				w.WriteHeader(http.StatusBadRequest)
			case until != "":
				w.Header().Set("X-Amz-Object-Lock-Mode", "COMPLIANCE")
				w.Header().Set("X-Amz-Object-Lock-Retain-Until-Date", until)
			}
		})
		k, err := storage.ParseKey("s/f")
		if err != nil {
			t.Fatal(err)
		}
		if err := a.KeptAny(t.Context(), []storage.Key{k}); errors.Is(err, storage.ErrLocked) != locks || !locks && err != nil {
			t.Errorf("kept until %q: %v", until, err)
		}
	}
}

// The longest lock of all versions counts, whatever their order. A legal hold has no end.
func TestLongestLockOfAllVersionsIsReported(t *testing.T) {
	for _, c := range []struct{ first, second, want string }{
		{"2100", "2200", "2200"}, {"2200", "2100", "2200"}, {"2200", "hold", "hold"}, {"hold", "2200", "hold"}, {"2200", "", "2200"}, {"", "hold", "hold"},
	} {
		a := answering(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Has("versions") {
				w.Header().Set("Content-Type", "application/xml")
				fmt.Fprint(w, `<ListVersionsResult><Version><Key>s/f</Key><VersionId>first</VersionId></Version><Version><Key>s/f</Key><VersionId>second</VersionId></Version></ListVersionsResult>`)
				return
			}
			switch lock := map[string]string{"first": c.first, "second": c.second}[r.URL.Query().Get("versionId")]; lock {
			case "":
			case "hold":
				w.Header().Set("X-Amz-Object-Lock-Legal-Hold", "ON")
			default:
				w.Header().Set("X-Amz-Object-Lock-Mode", "COMPLIANCE")
				w.Header().Set("X-Amz-Object-Lock-Retain-Until-Date", lock+"-01-02T15:04:05Z")
			}
		})
		k, err := storage.ParseKey("s/f")
		if err != nil {
			t.Fatal(err)
		}
		locked, got := new(storage.LockedError), "none"
		if err := a.Kept(t.Context(), k); errors.As(err, &locked) {
			got = locked.Until.Format("2006")
			if locked.Until.IsZero() {
				got = "hold"
			}
		}
		if got != c.want {
			t.Errorf("locks %q and %q: reported is %q, want %q", c.first, c.second, got, c.want)
		}
	}
}

// An erase removes the versions of a deleted file too, so that their locks are checked
// before. The file is not among the keys, because a listing does not show it.
func TestLocksOfDeletedFilesAreChecked(t *testing.T) {
	a := answering(t, func(w http.ResponseWriter, r *http.Request) {
		switch q := r.URL.Query(); {
		case q.Has("object-lock"):
			fail(w, http.StatusForbidden, "AccessDenied")
		case q.Has("versions"):
			w.Header().Set("Content-Type", "application/xml")
			fmt.Fprintf(w, `<ListVersionsResult><Version><Key>%.1s/f</Key><VersionId>one</VersionId><IsLatest>true</IsLatest></Version>`, q.Get("prefix"))
			if q.Get("prefix") == "s/" {
				fmt.Fprint(w, `<Version><Key>s/g</Key><VersionId>kept</VersionId><IsLatest>false</IsLatest></Version>`,
					`<DeleteMarker><Key>s/g</Key><VersionId>marker</VersionId><IsLatest>true</IsLatest></DeleteMarker>`)
			}
			fmt.Fprint(w, `</ListVersionsResult>`)
		case q.Get("versionId") == "kept":
			w.Header().Set("X-Amz-Object-Lock-Mode", "COMPLIANCE")
			w.Header().Set("X-Amz-Object-Lock-Retain-Until-Date", "2200-01-02T15:04:05Z")
		}
	})
	key := func(name string) storage.Key {
		k, err := storage.ParseKey(name)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	for _, keys := range [][]storage.Key{{key("s/f")}, {key("r/f"), key("s/f")}} {
		locked := new(storage.LockedError)
		if err := a.KeptAny(t.Context(), keys); !errors.As(err, &locked) || locked.Until.Year() != 2200 {
			t.Errorf("%q: got %v", keys, err)
		}
	}
	if err := a.KeptAny(t.Context(), []storage.Key{key("r/f")}); err != nil {
		t.Errorf("a folder without deleted files: %v", err)
	}
}

// A server that stored other bytes than it was sent has not stored the object.
func TestServerThatStoredOtherBytesIsReported(t *testing.T) {
	b := storage.Redacted(redact.Lit("precious"))
	sum, err := hashOf(b.Reader())
	if err != nil {
		t.Fatal(err)
	}
	for answer, ok := range map[string]bool{"": true, sum: true, strings.Repeat("A", 43) + "=": false} {
		a := answering(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"e"`)
			if answer != "" {
				w.Header().Set("X-Amz-Checksum-Sha256", answer)
			}
		})
		if _, err := a.putWhole(t.Context(), "s/f", b, terms{}); (err == nil) != ok {
			t.Errorf("the server names the checksum %q: %v", answer, err)
		}
	}
}

// Object Lock is in force only if the bucket enables it, and the server reports the requested
// mode and time, keeps versions, and refuses to delete the object. An error of the server says
// nothing about the lock.
func TestObjectLockIsInForceOnlyIfEverythingIsEnforced(t *testing.T) {
	at := time.Date(2200, 1, 2, 15, 4, 5, 0, time.UTC)
	const enabled = "<ObjectLockEnabled>Enabled</ObjectLockEnabled>"
	type server struct {
		bucket               int
		config               string
		mode, until, version string
		deletes              int
	}
	for name, c := range map[string]struct {
		change func(s *server)
		want   string // "" = in force, "no" = not in force, "unknown" = another error
	}{
		"as requested":               {func(*server) {}, ""},
		"kept longer":                {func(s *server) { s.until = at.AddDate(1, 0, 0).Format(time.RFC3339) }, ""},
		"deletion is not allowed":    {func(s *server) { s.deletes = 400 }, ""},
		"a weaker mode":              {func(s *server) { s.mode = "GOVERNANCE" }, "no"},
		"kept shorter":               {func(s *server) { s.until = at.Add(-time.Hour).Format(time.RFC3339) }, "no"},
		"no lock":                    {func(s *server) { s.mode, s.until = "", "" }, "no"},
		"no versions":                {func(s *server) { s.version = "" }, "no"},
		"deleted":                    {func(s *server) { s.deletes = 204 }, "no"},
		"not enabled for the bucket": {func(s *server) { s.config = "" }, "no"},
		"no locks at all":            {func(s *server) { s.bucket = 501 }, "no"},
		"no settings of the bucket":  {func(s *server) { s.bucket = 404 }, "no"},
		"settings are not readable":  {func(s *server) { s.bucket = 403 }, "unknown"},
		"deletion fails":             {func(s *server) { s.deletes = 503 }, "unknown"},
	} {
		s := server{bucket: 200, config: enabled, mode: "COMPLIANCE", until: at.Format(time.RFC3339), version: "v1", deletes: 403}
		c.change(&s)
		a := answering(t, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Query().Has("object-lock") && s.bucket != 200:
				fail(w, s.bucket, "Refused")
			case r.URL.Query().Has("object-lock"):
				w.Header().Set("Content-Type", "application/xml")
				fmt.Fprintf(w, "<ObjectLockConfiguration>%s</ObjectLockConfiguration>", s.config)
			case r.Method == http.MethodDelete && s.deletes < 300:
				w.WriteHeader(s.deletes)
			case r.Method == http.MethodDelete:
				fail(w, s.deletes, "Refused")
			default:
				for name, value := range map[string]string{"X-Amz-Object-Lock-Mode": s.mode, "X-Amz-Object-Lock-Retain-Until-Date": s.until, "X-Amz-Version-Id": s.version} {
					if value != "" {
						w.Header().Set(name, value)
					}
				}
			}
		})
		got, err := "", a.tryUnlock(t.Context(), "s/f", terms{lock: types.ObjectLockModeCompliance, until: at})
		switch {
		case errors.Is(err, ErrNotEnforced):
			got = "no"
		case err != nil:
			got = "unknown"
		}
		if got != c.want {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// If Object Lock keeps an object, the error states until when. Any other refusal, and a refusal
// whose lock can't be read, is returned unchanged. A delete marker has no lock.
func TestRefusedRemovalNamesTheLock(t *testing.T) {
	for name, c := range map[string]struct {
		until  string
		head   int
		marker bool
		locked bool
	}{
		"locked":             {"2200-01-02T15:04:05Z", 200, false, true},
		"no lock":            {"", 200, false, false},
		"the lock is over":   {"2001-01-02T15:04:05Z", 200, false, false},
		"not readable":       {"2200-01-02T15:04:05Z", 403, false, false},
		"a marker":           {"2200-01-02T15:04:05Z", 405, true, false},
		"the object is gone": {"", 404, false, false},
	} {
		a := answering(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodDelete {
				fail(w, http.StatusForbidden, "AccessDenied")
				return
			}
			if c.until != "" {
				w.Header().Set("X-Amz-Object-Lock-Retain-Until-Date", c.until)
			}
			w.WriteHeader(c.head)
		})
		v := version{name: "s/f", id: "v1", marker: c.marker}
		err := a.removeVersion(t.Context(), v)
		if locked := new(storage.LockedError); errors.As(err, &locked) != c.locked || c.locked && locked.Until.Year() != 2200 || code(err) != "AccessDenied" {
			t.Errorf("%s: %v", name, err)
		}
		if _, keeps, err := a.lockedUntil(t.Context(), v); keeps != c.locked || (err != nil) != (name == "not readable") {
			t.Errorf("%s: kept %v, %v, want %v", name, keeps, err, c.locked)
		}
	}
}

// Try locks its own object for minutes and not for the configured days.
func TestTryLeavesNoLongLock(t *testing.T) {
	var until string
	a := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			until = r.Header.Get("X-Amz-Object-Lock-Retain-Until-Date")
		}
		fail(w, http.StatusForbidden, "AccessDenied")
	})
	a.cfg.Lock = Lock{Mode: Compliance, Days: 3650}
	if err := a.Try(t.Context()); code(err) != "AccessDenied" {
		t.Fatal(err)
	}
	if at, err := time.Parse(time.RFC3339, until); err != nil || at.After(time.Now().Add(time.Hour)) {
		t.Errorf("its object is kept until %q, %v", until, err)
	}
}

// A bucket with a default retention locks the object of Try. AWS refuses to delete it with
// 403, MinIO with 400: neither means that the archive can't be used.
func TestTryLeavesAnObjectThatTheBucketLocks(t *testing.T) {
	for _, tc := range []struct {
		refused     int
		locked, bad bool
	}{{http.StatusForbidden, true, false}, {http.StatusBadRequest, true, false}, {http.StatusForbidden, false, false}, {http.StatusBadRequest, false, true}} {
		a := answering(t, func(w http.ResponseWriter, r *http.Request) {
			switch r.Method {
			case http.MethodDelete, http.MethodPost:
				fail(w, tc.refused, "InvalidRequest")
			case http.MethodHead:
				if tc.locked {
					w.Header().Set("x-amz-object-lock-mode", "GOVERNANCE")
					w.Header().Set("x-amz-object-lock-retain-until-date", time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
				}
			default:
				_, _ = io.WriteString(w, `<ListVersionsResult><Version><Key>.try/1</Key><VersionId>1</VersionId></Version></ListVersionsResult>`)
			}
		})
		if err := a.endTry(t.Context(), ".try/1"); err != nil != tc.bad {
			t.Errorf("%+v: %v", tc, err)
		}
	}
}

// The known end of a log must not be used after the log was rewritten, even if the new segments
// have the same sizes: a roll-up of it would repeat the old bytes.
func TestRunOfARewrittenLogIsForgotten(t *testing.T) {
	known := &run{before: 1, end: 12, segments: []segment{{start: 4, size: 4, etag: "b"}, {start: 8, size: 4, etag: "c"}}}
	for name, c := range map[string]struct {
		listing []segment
		same    bool
	}{
		"the same":          {[]segment{{start: 0, size: 4, etag: "a"}, {start: 4, size: 4, etag: "b"}, {start: 8, size: 4, etag: "c"}}, true},
		"one more":          {[]segment{{start: 0, size: 4, etag: "a"}, {start: 4, size: 4, etag: "b"}, {start: 8, size: 4, etag: "c"}, {start: 12, size: 4, etag: "d"}}, true},
		"rewritten":         {[]segment{{start: 0, size: 4, etag: "a"}, {start: 4, size: 4, etag: "x"}, {start: 8, size: 4, etag: "c"}}, false},
		"other boundaries":  {[]segment{{start: 0, size: 5, etag: "a"}, {start: 5, size: 3, etag: "b"}, {start: 8, size: 4, etag: "c"}}, false},
		"longer at the end": {[]segment{{start: 0, size: 4, etag: "a"}, {start: 4, size: 4, etag: "b"}, {start: 8, size: 5, etag: "c"}}, false},
		"cut":               {[]segment{{start: 0, size: 4, etag: "a"}, {start: 4, size: 4, etag: "b"}}, false},
	} {
		if got := known.is(c.listing); got != c.same {
			t.Errorf("%s: it counts as the known log: %v", name, got)
		}
	}
}

// sleptContext is a context whose deadline has passed by the wall clock, as after the
// machine was suspended. Its timer has not fired.
type sleptContext struct{ context.Context }

func (sleptContext) Deadline() (time.Time, bool) { return time.Now().Add(-time.Minute).Round(0), true }

func (sleptContext) Done() <-chan struct{} { return nil }

// After the machine was suspended, another process may have finished a removal, and a new
// session may have the names.
func TestNothingIsRemovedAfterASuspension(t *testing.T) {
	asked := 0
	a := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodHead { // for the lock of the object
			asked++
		}
		w.WriteHeader(http.StatusNoContent)
	})
	for _, all := range [][]version{{{name: "s/f"}}, {{name: "s/f"}, {name: "s/g"}}} {
		if err := a.removeVersions(sleptContext{t.Context()}, all); !errors.Is(err, errSlept) {
			t.Errorf("%d files: %v, want errSlept", len(all), err)
		}
	}
	if asked > 0 {
		t.Errorf("%d requests were sent, want none", asked)
	}
}

// A listing of versions that never ends is an error.
func TestAListingWithoutAnEndIsAnError(t *testing.T) {
	asked := 0
	a := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked > 9 {
			fail(w, http.StatusForbidden, "AccessDenied")
			return
		}
		w.Header().Set("Content-Type", "application/xml")
		fmt.Fprint(w, `<ListVersionsResult><IsTruncated>true</IsTruncated><Version><Key>s/f</Key><VersionId>one</VersionId></Version></ListVersionsResult>`)
	})
	if _, err := a.versions(t.Context(), "s/", func(string) bool { return true }); !errors.Is(err, errEndless) || asked != 1 {
		t.Errorf("after %d requests: %v, want 1 and errEndless", asked, err)
	}
}
