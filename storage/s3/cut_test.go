package s3

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/agentcompact/compact/storage/record"
)

// A listing that breaks off in the middle has the status 200. It is retried.
func TestInterruptedListingIsRetried(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test-secret")
	t.Setenv("AWS_REGION", "us-east-1")
	asked := 0
	const body = `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">` +
		`<Name>bucket</Name><Prefix>s/</Prefix><KeyCount>1</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>` +
		`<Contents><Key>s/ledger-001.json</Key><Size>7</Size></Contents></ListBucketResult>`
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.Header().Set("Content-Type", "application/xml")
		if asked == 1 {
			fmt.Fprint(w, body[:len(body)-40])
			return
		}
		fmt.Fprint(w, body)
	}))
	defer srv.Close()
	a, err := New(Config{Bucket: "bucket", Endpoint: srv.URL, PathStyle: true})
	if err != nil {
		t.Fatal(err)
	}
	prefix, err := record.Prefix("s")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for info, err := range a.List(context.Background(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, info.Key.String())
	}
	if asked != 2 || len(found) != 1 || found[0] != "s/ledger-001.json" {
		t.Errorf("asked %d times, found %q, want 2", asked, found)
	}
}
