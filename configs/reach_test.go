package configs

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage/crypt"
	"github.com/agentcompact/compact/storage/s3"
	"github.com/agentcompact/compact/trace/otel"
)

// recipient returns the recipient of a new identity.
func recipient(t *testing.T) string {
	t.Helper()
	_, recipient, err := crypt.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return recipient
}

// Each setting of a component reaches the options of the component, and each option gets a
// value, except those that come from elsewhere.
func TestSettingsReachTheirComponents(t *testing.T) {
	trace := compact.TraceConfig{OTLPService: "agent", OTLPTimeout: 3 * time.Second, OTLPMetricsInterval: 7 * time.Second, Content: true}
	var c compact.StorageConfig
	c.Bucket, c.Prefix, c.Region, c.Endpoint, c.PathStyle, c.KMSKeyID, c.Timeout = "b", "/p/q/", "r", "https://h", true, "k", 9*time.Second
	c.ObjectLock.Mode, c.ObjectLock.Days = "governance", 5
	c.SpoolKeep = 11 * time.Second
	if r, a := spoolOptions(c, false), spoolOptions(c, true); r.Keep != c.SpoolKeep || !r.Passive || r.Blind || r.Over != nil || a.Keep != c.SpoolKeep || a.Passive || !a.Blind || a.Over != nil {
		t.Errorf("the spool of readers has %+v, that of agents %+v", r, a)
	}
	sealed := c
	sealed.Encrypt.Recipients = []string{recipient(t)}
	if r, a := spoolOptions(sealed, false), spoolOptions(sealed, true); r.Over == nil || a.Over == nil {
		t.Error("a spool in front of an encrypted bucket is not encrypted")
	}
	for name, of := range map[string]struct {
		got, want any
		elsewhere []string
	}{
		"spans":   {*otlpOptions(trace), otel.OTLPOptions{ServiceName: "agent", Timeout: 3 * time.Second, Content: true}, []string{"Headers"}},
		"metrics": {*metricsOptions(trace), otel.MetricsOptions{ServiceName: "agent", Timeout: 3 * time.Second, Interval: 7 * time.Second}, []string{"Headers"}},
		"bucket": {s3Config(c), s3.Config{
			Bucket: "b", Prefix: "p/q", Region: "r", Endpoint: "https://h", PathStyle: true, KMSKeyID: "k", Lock: s3.Lock{Mode: s3.Governance, Days: 5}, Timeout: 9 * time.Second,
		}, nil},
	} {
		if !reflect.DeepEqual(of.got, of.want) {
			t.Errorf("%s: %+v, want %+v", name, of.got, of.want)
		}
		for i, v := 0, reflect.ValueOf(of.got); i < v.NumField(); i++ {
			if field := v.Type().Field(i).Name; v.Field(i).IsZero() && !slices.Contains(of.elsewhere, field) {
				t.Errorf("%s: no setting reaches %s", name, field)
			}
		}
	}
}
