package main

import (
	"context"
	"errors"
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

// A session that was asked for by name must not vanish from the answer because it is erased in
// the meantime.
func TestVerifyOfANamedSessionThatIsErasedFails(t *testing.T) {
	m := &meanwhile{Archive: memory.New(), session: "one"}
	for _, name := range []string{"one", "two"} {
		session, err := record.OpenSession(t.Context(), m, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := session.Final(t.Context(), []redact.Text{redact.Lit(`{"role":"user","content":"hi"}`)}); err != nil {
			t.Fatal(err)
		}
		m.do = func() {
			if _, err := session.Erase(t.Context(), redact.Lit("request 12")); err != nil {
				t.Error(err)
			}
		}
	}
	all, err := newApp(strings.NewReader(""), io.Discard, io.Discard).verify(t.Context(), m, []string{"two", "one"}, &verifying{}) // it is erased when the other one is opened
	if err == nil {
		t.Errorf("%+v", all)
	}
}

// An erase in the source is repeated in the copy only if a signed head records it, once there is
// a public key of the heads.
func TestCopyRepeatsOnlyASignedErase(t *testing.T) {
	for public, want := range map[string]int{"": 0, "QkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkI=": 1} {
		t.Setenv("COMPACT_HEADS_PUBLIC", public)
		src, dst := memory.New(), memory.New()
		session, err := record.OpenSession(t.Context(), src, "one")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := session.Final(t.Context(), []redact.Text{redact.Lit(`{"role":"user","content":"hi"}`)}); err != nil {
			t.Fatal(err)
		}
		if _, err := record.Copy(t.Context(), dst, src, record.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := session.Erase(t.Context(), redact.Lit("request 12")); err != nil {
			t.Fatal(err)
		}
		err = newApp(strings.NewReader(""), io.Discard, io.Discard).copied(t.Context(), dst, src, record.CopyOptions{})
		left := 0
		for _, err := range record.Sessions(t.Context(), dst) {
			if err != nil {
				t.Fatal(err)
			}
			left++
		}
		if left != want || errors.Is(err, storage.ErrExists) != (want == 1) {
			t.Errorf("with the public key %q %d sessions are left, %v", public, left, err)
		}
	}
}
