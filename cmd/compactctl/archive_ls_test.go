package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// second returns the error of a call.
func second[T any](_ T, err error) error { return err }

// A scrub that completes an interrupted one says so, although it finds nothing more.
func TestACompletedScrubIsNamed(t *testing.T) {
	var out bytes.Buffer
	r := &compact.ScrubReport{Scrubbed: record.Scrubbed{Resumed: true}}
	if err := (&app{out: &out}).printScrub("bob", r); err != nil || out.String() != "completed an interrupted scrub of bob; the session has none of the secrets any more\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

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
	if err := unfinished(e, second(e.Scrub(t.Context(), record.ScrubOptions{}))); !strings.Contains(err.Error(), "compactctl archive erase s --yes completes an interrupted erase") || status(err) != exitArchive {
		t.Errorf("a scrub: %v, status %d", err, status(err))
	}
	r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{})
	if err != nil || !strings.Contains(strings.Join(r.Notes, "\n"), "ann began to erase this session at ") {
		t.Errorf("%q, %v", r.Notes, err)
	}
}
