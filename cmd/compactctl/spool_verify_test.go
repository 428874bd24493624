package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/spool"
)

// Verify checks both parts of a spool, with and without names of sessions. One of the
// names differs from its folder's name.
func TestVerifyTakesTheDiskAndTheBucketOfASpool(t *testing.T) {
	s, err := spool.Open(t.TempDir(), memory.New(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	for _, name := range []string{"job/7", "plain"} {
		session, err := record.OpenSession(t.Context(), s, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := session.Final(t.Context(), []redact.Text{redact.Lit(`{"role":"user","content":"hi"}`)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	a := newApp(strings.NewReader(""), io.Discard, io.Discard)
	for _, c := range []struct{ names, want []string }{
		{nil, []string{"job/7", "plain", "job/7 (on the disk)", "plain (on the disk)"}},
		{[]string{"job/7"}, []string{"job/7", "job/7 (on the disk)"}},
		{[]string{"plain"}, []string{"plain", "plain (on the disk)"}},
	} {
		all, err := a.verifyAll(t.Context(), s, c.names, &verifying{})
		if err != nil {
			t.Fatalf("%q: %v", c.names, err)
		}
		var got []string
		for _, v := range all {
			if !v.OK {
				t.Errorf("%q: %s: %v", c.names, v.Session, v.Problems)
			}
			if !strings.HasPrefix(v.Session, "(") {
				got = append(got, v.Session)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: verified %q, want %q", c.names, got, c.want)
		}
	}
}
