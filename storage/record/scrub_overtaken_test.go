package record_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// overtaken is an archive in which another process acts once, between the removal of a
// file and the write that replaces it, or before the removal.
type overtaken struct {
	*memory.Archive
	op, name string
	do       func()
}

func (a *overtaken) act(op string, k storage.Key) {
	if do := a.do; do != nil && op == a.op && k.Base() == a.name {
		a.do = nil
		do()
	}
}

func (a *overtaken) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	a.act("create", k)
	return a.Archive.Create(ctx, k, b)
}

func (a *overtaken) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if seq == 0 {
		a.act("append", k)
	}
	return a.Archive.Append(ctx, k, seq, b)
}

func (a *overtaken) Remove(ctx context.Context, k storage.Key) error {
	a.act("remove", k)
	return a.Archive.Remove(ctx, k)
}

// places are operations of a scrub that puts its files in place.
var places = []overtaken{
	{op: "remove", name: "ledger-001.json"}, {op: "create", name: "ledger-001.json"}, {op: "create", name: "transcript-pre-compact-002.jsonl"},
	{op: "remove", name: "events.jsonl"}, {op: "append", name: "events.jsonl"},
}

// A scrub whose turn is over is completed by another scrub or by an agent. It reports the
// files that it rewrote, like a scrub that was not overtaken.
func TestAScrubThatIsOvertakenSucceeds(t *testing.T) {
	others := map[string]func(s *record.Session) error{
		"a scrub": func(s *record.Session) error {
			return second(s.Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked)}))
		},
		"an agent":   func(s *record.Session) error { return second(s.Summary(t.Context(), 90, redact.Lit(`{"late":1}`))) },
		"a new line": func(s *record.Session) error { return s.Events(t.Context(), lines("late", 1)) },
	}
	for name, other := range others {
		for i, at := range places {
			if i > 1 && name != "a scrub" {
				continue // the same code puts the files in place
			}
			shared := memory.New()
			leaky(t, shared)
			a := &overtaken{shared, at.op, at.name, nil}
			s := session(t, a, "s")
			done := false
			a.do = func() { done = true; must(t, other(session(t, shared, "s"))) }
			r, err := s.Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked), Lease: time.Millisecond})
			if err != nil || len(r.Files) == 0 || !done {
				t.Errorf("%s before %s %s: %v, %d files, overtaken %v", name, at.op, at.name, err, len(r.Files), done)
			}
			if now := wholeText(t, shared); strings.Contains(now, leaked) || strings.Contains(now, "/scrub.") {
				t.Errorf("%s before %s %s: the leaked text still exists, or a file waits", name, at.op, at.name)
			}
			proven(t, shared)
		}
	}
}

// A scrub whose session is erased in the meantime says so, and leaves no file in the erased
// session.
func TestAScrubThatIsOvertakenByAnErase(t *testing.T) {
	for _, at := range places {
		shared := memory.New()
		leaky(t, shared)
		a := &overtaken{shared, at.op, at.name, nil}
		s := session(t, a, "s")
		a.do = func() { must(t, second(session(t, shared, "s").Erase(t.Context(), text("asked")))) }
		_, err := s.Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked), Lease: time.Millisecond})
		if !errors.Is(err, record.ErrErased) {
			t.Errorf("before %s %s: %v, want ErrErased", at.op, at.name, err)
		}
		for info, err := range shared.List(t.Context(), s.Key()) {
			t.Errorf("before %s %s: %s is left in an erased session (%v)", at.op, at.name, info.Key, err)
		}
	}
}

// An erase can have begun and removed nothing when the scrub has put its files in place: such an
// erase may not know the files.
func TestAScrubThatIsOvertakenByABegunErase(t *testing.T) {
	shared := memory.New()
	leaky(t, shared)
	a := &overtaken{shared, "append", "events.jsonl", nil}
	s := session(t, a, "s")
	a.do = func() {
		dead := session(t, &between{Archive: shared, dead: true}, "s")
		if _, err := dead.Erase(t.Context(), text("asked")); !errors.Is(err, errDead) {
			t.Errorf("the erase ends with %v, want errDead", err)
		}
	}
	if _, err := s.Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked), Lease: time.Millisecond}); !errors.Is(err, record.ErrErased) {
		t.Errorf("the scrub ends with %v, want ErrErased", err)
	}
	must(t, second(session(t, shared, "s").Erase(t.Context(), text("again"))))
	if left := inFolder(t, shared, "s"); len(left) > 0 {
		t.Errorf("%q are left in an erased session", left)
	}
}
