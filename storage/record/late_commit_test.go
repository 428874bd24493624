package record_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// stalled is an archive with a late ledger, and with a manifest that can be made to
// refuse lines.
type stalled struct {
	slowCreate
	dead, blind bool
	reads       int // of the manifest
}

func (a *stalled) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if a.dead && k.Base() == "manifest.jsonl" {
		return errDead
	}
	return a.Archive.Append(ctx, k, seq, b)
}

// lateStep commits step 3 of a session. The create of its ledger waits until do
// returns.
func lateStep(t *testing.T, a *stalled, do func()) error {
	t.Helper()
	s := leaky(t, a)
	must(t, second(s.Transcript(t.Context(), 3, []redact.Text{text(`{"role":"user","content":"hello"}`)})))
	a.name, a.do = "ledger-003", do
	_, err := s.Commit(t.Context(), 3, text(`{"v":1,"said":%q}`, leaked))
	if a.do != nil {
		t.Fatal("nothing happened meanwhile")
	}
	return err
}

// A scrub ignores a ledger that is created later than a minute after its announcement.
// The commit must return an error then.
func TestACommitSeesAScrubThatOvertookIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &stalled{slowCreate: slowCreate{Archive: memory.New()}}
		err := lateStep(t, a, func() {
			time.Sleep(2 * time.Minute)
			must(t, second(session(t, a.Archive, "s").Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked)})))
		})
		if !errors.Is(err, record.ErrScrubbed) {
			t.Errorf("the commit ends with %v, and its session was scrubbed, want ErrScrubbed", err)
		}
		if n, err := session(t, a, "s").Head(t.Context()); n != 3 || err != nil {
			t.Errorf("the head is %d (%v), and the ledger is there; want 3 and no error", n, err)
		}
	})
}

// TestACommitSeesAScrubThatWasCutShort: no process has continued the scrub yet, and the
// commit does not wait for it.
func TestACommitSeesAScrubThatWasCutShort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &stalled{slowCreate: slowCreate{Archive: memory.New()}}
		err := lateStep(t, a, func() {
			time.Sleep(2 * time.Minute)
			other := &stuck{Archive: a.Archive}
			s := session(t, other, "s")
			other.dead = true
			if _, err := s.Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked)}); !errors.Is(err, errDead) {
				t.Fatal(err)
			}
		})
		if !errors.Is(err, record.ErrScrubbed) {
			t.Errorf("the commit ends with %v, and its session is being scrubbed, want ErrScrubbed", err)
		}
	})
}

// The manifest accepts no line, so the commit can't be confirmed. A read of the
// manifest still shows that the session was erased.
func TestALateCommitSeesAnEraseWithoutAManifest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &stalled{slowCreate: slowCreate{Archive: memory.New()}}
		err := lateStep(t, a, func() {
			time.Sleep(2 * time.Minute)
			must(t, second(session(t, a.Archive, "s").Erase(t.Context(), text("asked for"))))
			a.dead = true
		})
		if !errors.Is(err, record.ErrErased) {
			t.Errorf("the commit ends with %v, and its session was erased, want ErrErased", err)
		}
		if left := inFolder(t, a, "s"); len(left) > 0 {
			t.Errorf("the erased session still has %q", left)
		}
	})
}

// A session that was erased and begun again is a different session. The late commit
// must add no line to the new manifest and remove no file of the new session.
func TestLateCommitDoesNotJoinTheNextSessionOfThatName(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &stalled{slowCreate: slowCreate{Archive: memory.New()}}
		var before, manifest string
		err := lateStep(t, a, func() {
			time.Sleep(2 * time.Minute)
			must(t, second(session(t, a.Archive, "s").Erase(t.Context(), text("asked for"))))
			anew := session(t, a.Archive, "s")
			for n := range 40 { // longer than the erased one
				must(t, second(anew.Final(t.Context(), lines("anew", n+1))))
			}
			before, manifest = strings.Join(inFolder(t, a, "s"), " "), content(t, anew, "manifest.jsonl")
		})
		if !errors.Is(err, record.ErrErased) {
			t.Errorf("the commit ends with %v, and its session was erased, want ErrErased", err)
		}
		if content(t, session(t, a, "s"), "manifest.jsonl") != manifest {
			t.Error("the next session's manifest has a line of the one before")
		}
		if now := strings.Join(inFolder(t, a, "s"), " "); now != before {
			t.Errorf("the next session has %s, and had %s", now, before)
		}
	})
}

func (a *stalled) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if k.Base() == "manifest.jsonl" {
		a.reads++
		if a.blind {
			return nil, errDead
		}
	}
	return a.Archive.Open(ctx, k, off, n)
}

// If the manifest can't be read, the state of the session is unknown.
func TestLateCommitWithAnUnreadableManifestDoesNotCount(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]time.Duration{"late": 2 * time.Minute, "soon": time.Second} {
		synctest.Test(t, func(t *testing.T) {
			a := &stalled{slowCreate: slowCreate{Archive: memory.New()}}
			err := lateStep(t, a, func() {
				time.Sleep(wait)
				a.dead, a.blind = true, true
			})
			if late := name == "late"; errors.Is(err, errDead) != late || (err == nil) == late {
				t.Errorf("%s: the commit ends with %v", name, err)
			}
		})
	}
}

// TestOnlyALateCommitReadsTheManifest: a commit in time makes no additional request.
func TestOnlyALateCommitReadsTheManifest(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]int{time.Second: 0, 2 * time.Minute: 1} {
		synctest.Test(t, func(t *testing.T) {
			a := &stalled{slowCreate: slowCreate{Archive: memory.New()}}
			must(t, lateStep(t, a, func() {
				time.Sleep(wait)
				a.reads = 0
			}))
			if a.reads != want {
				t.Errorf("after %v the manifest is read %d times, want %d", wait, a.reads, want)
			}
		})
	}
}

// afterCreate is an archive that calls the function do right after the create of a ledger.
type afterCreate struct {
	*memory.Archive
	do func()
}

func (a *afterCreate) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	err := a.Archive.Create(ctx, k, b)
	if do := a.do; do != nil && strings.HasPrefix(k.Base(), "ledger-") {
		a.do = nil
		do()
	}
	return err
}

// TestACommitReportsAScrubThatFollowsAtOnce: nothing was slow, and the line that
// confirms the commit finds the scrub, whether or not it has ended.
func TestACommitReportsAScrubThatFollowsAtOnce(t *testing.T) {
	t.Parallel()
	for name, dead := range map[string]bool{"ended": false, "cut short": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := &afterCreate{Archive: memory.New()}
				leaky(t, a.Archive)
				other, s := &stuck{Archive: a.Archive}, session(t, a, "s")
				must(t, second(s.Transcript(t.Context(), 3, lines("t", 1))))
				a.do = func() {
					scrubber := session(t, other, "s")
					other.dead = dead
					_, err := scrubber.Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked)})
					if errors.Is(err, errDead) != dead || err != nil != dead {
						t.Fatal(err)
					}
				}
				if _, err := s.Commit(t.Context(), 3, text(`{"v":1}`)); !errors.Is(err, record.ErrScrubbed) {
					t.Errorf("the commit ends with %v, want ErrScrubbed", err)
				}
			})
		})
	}
}

// The process that erases a session may have listed its files already. A writer removes
// the files that it stored since its last line of the manifest.
func TestWriterOfASessionThatIsBeingErasedRemovesItsFiles(t *testing.T) {
	a := memory.New()
	s := session(t, a, "s")
	_, err := s.Transcript(t.Context(), 1, lines("a message", 2))
	must(t, err)
	must(t, session(t, a, "s").BeginErase(t.Context()))
	if _, err := s.Commit(t.Context(), 1, text(`{"v":1}`)); !errors.Is(err, record.ErrErased) {
		t.Errorf("got %v, want ErrErased", err)
	}
	for info, err := range a.List(t.Context(), mustKey(t, "s")) {
		if must(t, err); info.Key.Base() != "manifest.jsonl" {
			t.Errorf("left: %s", info.Key)
		}
	}
}

// unseeing is an archive that appends without a look, like S3: an append to a log that was
// removed meanwhile succeeds, and its lines are in no log. Settle finds that.
type unseeing struct {
	*memory.Archive
	do   func() // before the first append to the audit log without a check
	lost bool
}

func (a *unseeing) AppendUnseen(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if do := a.do; k.Base() == "events.jsonl" && do != nil {
		a.do = nil
		do()
	}
	err := a.Append(ctx, k, seq, b)
	if a.lost = k.Base() == "events.jsonl" && errors.Is(err, storage.ErrSeq); a.lost {
		return nil
	}
	return err
}

func (a *unseeing) Settle(_ context.Context, k storage.Key) error {
	if k.Base() == "events.jsonl" && a.lost {
		a.lost = false
		return &storage.Error{Op: "append", Key: k, Err: storage.ErrSeq}
	}
	return nil
}

// A step appends to the audit log without a check. Its process is suspended for so long
// that a scrub replaces the log: the lines are appended once more, to the new log.
func TestLinesOfAStepAreNotLostToAScrub(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &unseeing{Archive: memory.New()}
		s := leaky(t, a)
		must(t, second(s.Transcript(t.Context(), 3, []redact.Text{text(`{"role":"user","content":"hello"}`)})))
		a.do = func() {
			time.Sleep(2 * time.Minute)
			must(t, second(session(t, a.Archive, "s").Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked)})))
		}
		_, err := s.CommitStep(t.Context(), record.Step{
			Number: 3,
			Ledger: func([]record.Written) ([]redact.Text, error) { return []redact.Text{text(`{"v":1}`)}, nil },
			Beside: func(ctx context.Context, _ []record.Written) error {
				return s.Events(ctx, []redact.Text{text(`{"name":"late"}`)})
			},
		})
		if a.do != nil || !errors.Is(err, record.ErrScrubbed) {
			t.Errorf("the commit ends with %v, want ErrScrubbed", err)
		}
		var all []string
		for l, err := range session(t, a.Archive, "s").EventLines(t.Context()) {
			must(t, err)
			all = append(all, string(l))
		}
		if len(all) == 0 || all[len(all)-1] != `{"name":"late"}` {
			t.Errorf("the audit log holds %q", all)
		}
		r, err := record.Verify(t.Context(), a.Archive, "s", record.VerifyOptions{})
		must(t, err)
		if !r.OK() {
			t.Errorf("verify finds %v, want no problems", r.Problems)
		}
	})
}
