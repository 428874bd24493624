package s3

import (
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
