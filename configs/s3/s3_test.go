package s3

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage/s3"
)

// Each setting reaches the options of the bucket, and each option gets a value.
func TestSettingsReachTheBucket(t *testing.T) {
	var c compact.StorageConfig
	c.Bucket, c.Prefix, c.Region, c.Endpoint, c.PathStyle, c.KMSKeyID, c.Timeout = "b", "/p/q/", "r", "https://h", true, "k", 9*time.Second
	c.ObjectLock.Mode, c.ObjectLock.Days = "governance", 5
	want := s3.Config{
		Bucket: "b", Prefix: "p/q", Region: "r", Endpoint: "https://h", PathStyle: true, KMSKeyID: "k", Lock: s3.Lock{Mode: s3.Governance, Days: 5}, Timeout: 9 * time.Second,
	}
	if diff := cmp.Diff(want, config(c)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for i, v := 0, reflect.ValueOf(config(c)); i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Errorf("no setting reaches %s", v.Type().Field(i).Name)
		}
	}
}

// refusal is an answer of S3.
type refusal struct{ error }

func (refusal) ErrorCode() string    { return "AccessDenied" }
func (refusal) ErrorMessage() string { return "no" }

// An answer is told in the server's words, unless the error says that the server does not
// enforce a setting: an answer beside it, to the removal of the probe, says less.
func TestTextOfAnAnswer(t *testing.T) {
	answer := refusal{errors.New("operation error S3: PutObject")}
	if got, ok := text(answer); got != "AccessDenied: no" || !ok {
		t.Errorf("%q, %t", got, ok)
	}
	for _, err := range []error{errors.Join(&s3.NotEnforcedError{What: "Object Lock", Reason: "an object was removed"}, answer), errors.New("x")} {
		if got, ok := text(err); ok {
			t.Errorf("%v is told as %q", err, got)
		}
	}
}
