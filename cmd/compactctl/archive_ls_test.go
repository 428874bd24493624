package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// refusing is an archive that refuses to remove a file.
type refusing struct{ storage.Archive }

func (refusing) Remove(context.Context, storage.Key) error { return errors.New("refused") }

// A session whose erase was interrupted is listed as such, and verify says who began it.
func TestAnInterruptedEraseIsNamed(t *testing.T) {
	a := memory.New()
	s, err := record.OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Final(t.Context(), []redact.Text{redact.Lit(`{"role":"user","content":"a"}`)}); err != nil {
		t.Fatal(err)
	}
	row := func() *listed {
		l := &listed{Session: "s", Folder: "s"}
		if err := l.readManifest(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		return l
	}
	if row().Erasing {
		t.Error("no erase has begun")
	}
	e, err := record.OpenSession(t.Context(), refusing{a}, "s")
	if err != nil {
		t.Fatal(err)
	}
	e.ActAs(redact.Lit("ann"))
	if _, err := e.Erase(t.Context(), redact.Lit("asked for")); err == nil {
		t.Fatal("the archive refuses to remove files")
	}
	var out bytes.Buffer
	if err := (&app{out: &out}).list([]listed{*row()}); err != nil || !strings.Contains(out.String(), "erase begun; archive erase completes it") {
		t.Errorf("%q, %v", out.String(), err)
	}
	r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{})
	if err != nil || !strings.Contains(strings.Join(r.Notes, "\n"), "ann began to erase this session at ") {
		t.Errorf("%q, %v", r.Notes, err)
	}
}
