package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
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

// meanwhile is an archive that calls do when a session is read.
type meanwhile struct {
	*memory.Archive
	session string
	do      func()
}

func (m *meanwhile) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if do := m.do; do != nil && k.Dir() == m.session {
		m.do = nil
		do()
	}
	return m.Archive.Open(ctx, k, off, n)
}

// While the sessions are verified, one of them is erased: that is not a problem of the
// archive, and the others are verified. A session that vanishes in another way is one.
func TestVerifyGoesOnIfASessionIsErased(t *testing.T) {
	for _, erased := range []bool{true, false} {
		m := &meanwhile{Archive: memory.New(), session: "one"}
		var two *record.Session
		for _, name := range []string{"one", "three", "two"} {
			session, err := record.OpenSession(t.Context(), m, name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := session.Final(t.Context(), []redact.Text{redact.Lit(`{"role":"user","content":"hi"}`)}); err != nil {
				t.Fatal(err)
			}
			two = session
		}
		m.do = func() {
			if erased {
				if _, err := two.Erase(t.Context(), redact.Lit("request 12")); err != nil {
					t.Error(err)
				}
				return
			}
			for info, err := range m.List(t.Context(), two.Key()) {
				if err != nil || m.Remove(t.Context(), info.Key) != nil {
					t.Error(err)
				}
			}
		}
		all, err := newApp(strings.NewReader(""), io.Discard, io.Discard).verify(t.Context(), m, nil, &verifying{})
		var names []string
		for _, v := range all {
			names = append(names, v.Session)
		}
		if (err == nil) != erased || erased && !slices.Equal(names[:2], []string{"one", "three"}) {
			t.Errorf("erased %t: verified %q, %v", erased, names, err)
		}
	}
}
