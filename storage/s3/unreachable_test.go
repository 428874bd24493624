package s3_test

import (
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/s3"
)

// at returns an archive at an endpoint that need not be S3.
func at(t testing.TB, endpoint string, timeout time.Duration) *s3.Archive {
	t.Helper()
	a, err := s3.New(s3.Config{Bucket: "bucket", Endpoint: endpoint, PathStyle: true, Timeout: timeout})
	must(t, err)
	return a
}

// withKeys sets invalid credentials.
func withKeys(t *testing.T) {
	t.Helper()
	withoutKeys(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test-secret")
}

// attempts returns the error of each kind of call.
func attempts(t *testing.T, a *s3.Archive) map[string]error {
	t.Helper()
	out := map[string]error{
		"Create": a.Create(t.Context(), key(t, "s/f"), raw("x")),
		"Append": a.Append(t.Context(), key(t, "s/l"), 0, raw("x")),
		"Open":   second(read(t.Context(), a, key(t, "s/f"), 0, -1)),
		"Kept":   a.Kept(t.Context(), key(t, "s/f")),
	}
	for _, err := range a.List(t.Context(), storage.Key{}) {
		out["List"] = err
	}
	return out
}

func TestUnreachableServerIsNamedWithAdvice(t *testing.T) {
	withKeys(t)
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	for what, err := range attempts(t, at(t, dead.URL, 400*time.Millisecond)) {
		var told *s3.UnreachableError
		if !errors.Is(err, s3.ErrUnreachable) || !errors.As(err, &told) || told.Server != dead.URL {
			t.Errorf("%s: %v, want ErrUnreachable of %s", what, err, dead.URL)
		}
		const then = "check storage.endpoint, storage.region and the network"
		if err != nil && (!strings.Contains(err.Error(), dead.URL+" cannot be reached") || !strings.Contains(err.Error(), then)) {
			t.Errorf("%s: %v, want the endpoint and %q", what, err, then)
		}
	}
}

func TestFailingServerIsDistinguishedFromADeadOne(t *testing.T) {
	busy := &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: http.StatusServiceUnavailable}}, Err: errors.New("busy")}
	err := &s3.UnreachableError{Server: "https://s3.test", Attempts: 3, Waited: time.Second, Err: busy}
	if got := err.Error(); !strings.Contains(got, "https://s3.test cannot be reached: gave up after 3 attempts in 1s") || !strings.Contains(got, "see its log") || strings.Contains(got, "storage.endpoint") {
		t.Errorf("the text of the error is %q", got)
	}
}

func TestUntrustedCertificateIsReportedAtOnce(t *testing.T) {
	withKeys(t)
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	for what, err := range attempts(t, at(t, srv.URL, time.Minute)) {
		if !errors.Is(err, s3.ErrUntrusted) || errors.Is(err, s3.ErrUnreachable) || !strings.Contains(err.Error(), "AWS_CA_BUNDLE") {
			t.Errorf("%s: %v, want ErrUntrusted, and not after many attempts", what, err)
		}
	}
}

// TestRefusedCredentialsSayNothingAboutAFile: an instance without a role
// answers 404, which is about the role and not about an object.
func TestRefusedCredentialsSayNothingAboutAFile(t *testing.T) {
	for what, status := range map[string]int{"no role": http.StatusNotFound, "hidden": http.StatusForbidden} {
		t.Run(what, func(t *testing.T) {
			withoutKeys(t)
			instance := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
			defer instance.Close()
			t.Setenv("AWS_EC2_METADATA_DISABLED", "false")
			t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", instance.URL)
			for what, err := range attempts(t, at(t, instance.URL, time.Minute)) {
				if !errors.Is(err, s3.ErrNoCredentials) || errors.Is(err, storage.ErrNotExist) {
					t.Errorf("%s: %v, want ErrNoCredentials", what, err)
				}
				if err != nil && what == "Open" && strings.Contains(err.Error(), "ListObjects") {
					t.Errorf("the file counts as absent, and a log was looked for: %v", err)
				}
			}
		})
	}
}
