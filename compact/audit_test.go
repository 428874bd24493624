package compact

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/tracetest"
)

// stuckLogs is an archive whose logs accept no line until the context ends.
type stuckLogs struct {
	storage.Archive
}

func (s *stuckLogs) Append(ctx context.Context, k storage.Key, seq int64, data storage.Blob) error {
	if !strings.HasSuffix(k.String(), "events.jsonl") {
		return s.Archive.Append(ctx, k, seq, data)
	}
	<-ctx.Done()
	return ctx.Err()
}

// logging makes a manager whose audit logs may hold little, in a bubble.
func logging(t *testing.T, a storage.Archive, perSession int) (*CompactManager, *tracetest.Recorder) {
	t.Helper()
	seen := &tracetest.Recorder{}
	m, err := New(t.Context(), Config{Model: "gpt-4", Archive: a, Exporters: []trace.Exporter{seen}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = m.Close(ctx) // some archives of these tests also fail here
	})
	m.backlog.perSession = perSession
	return m, seen
}

// talk makes calls of a session, and returns the warnings.
func talk(t *testing.T, m *CompactManager, session string, calls int) (warnings []string) {
	t.Helper()
	for range calls {
		res, err := m.Preflight(t.Context(), session, reads(1))
		if err != nil {
			t.Fatal(err)
		}
		warnings = append(warnings, res.Warnings...)
	}
	return warnings
}

// linesOf returns the lines of the audit log.
func linesOf(t *testing.T, a storage.Archive, session string) (lines []string) {
	t.Helper()
	s, err := record.OpenSession(t.Context(), a, session)
	if err != nil {
		t.Fatal(err)
	}
	for line, err := range s.EventLines(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	return lines
}

func TestWaitingLinesAreBoundedAndDropsAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bound = 16 << 10
		a := &broken{Archive: memory.New(), word: "events"}
		m, seen := logging(t, a, bound)
		warnings := talk(t, m, "s", 125)
		log := m.sessions["s"].audit
		if log.bytes > bound || int64(log.bytes) != m.backlog.total.Load() || len(log.lines) == 0 {
			t.Errorf("%d bytes in %d lines wait, %d are counted; at most %d are wanted", log.bytes, len(log.lines), m.backlog.total.Load(), bound)
		}
		if len(warnings) == 0 || !strings.Contains(warnings[0], "audit log") {
			t.Errorf("the results warn of %q", warnings)
		}
		dropped := log.dropped
		if dropped == 0 {
			t.Fatal("nothing was dropped: the test proves nothing")
		}
		a.repair()
		if err := m.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		lines := linesOf(t, a, "s")
		said := fmt.Sprintf("the %d oldest waiting lines were dropped", dropped)
		if len(lines) < 2 || !strings.Contains(lines[0], "AuditLinesDropped") || !strings.Contains(lines[0], said) {
			t.Errorf("the log begins with %.300q, want %q", lines, said)
		}
		if n := m.backlog.total.Load(); n != 0 || log.bytes != 0 || log.dropped != 0 {
			t.Errorf("%d bytes are counted after all was written, %d, %d dropped; want 0, 0 and 0", n, log.bytes, log.dropped)
		}
		if err := m.Flush(t.Context()); err != nil || len(linesOf(t, a, "s")) != len(lines) {
			t.Errorf("the dropped lines are reported again: %v", err)
		}
		talk(t, m, "s", 1)
		if err := m.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if all := linesOf(t, a, "s"); len(all) != len(lines)+3 || strings.Contains(all[len(all)-1], "as_before") {
			t.Errorf("the next call has %q, want its own estimate and decision: the earlier ones may have been dropped", all[len(lines):])
		}
		events := 0
		for _, e := range seen.Events() {
			if strings.Contains(e.Data.String(), "AuditLinesDropped") && e.Session.String() == "s" {
				events++
			}
		}
		if events != 1 {
			t.Errorf("the exporters got %d events of the loss, want one", events)
		}
	})
}

// All sessions together have a bound, too.
func TestLinesOfAllSessionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := logging(t, &broken{Archive: memory.New(), word: "events"}, 1<<20)
		m.backlog.all = 64 << 10
		for i := range 50 {
			talk(t, m, fmt.Sprint(i), 10)
		}
		if n := m.backlog.total.Load(); n > m.backlog.all || n == 0 {
			t.Errorf("%d bytes wait, at most %d are wanted", n, m.backlog.all)
		}
	})
}

// stacks is a buffer for the stacks of all goroutines, which are read hundreds of
// times.
var stacks struct {
	sync.Mutex
	text []byte
}

// bubbled counts the goroutines of the current synctest bubble, because the number
// of goroutines of the runtime and of earlier tests varies.
func bubbled(t *testing.T) int {
	t.Helper()
	stacks.Lock()
	defer stacks.Unlock()
	if stacks.text == nil {
		stacks.text = make([]byte, 4<<20)
	}
	all := string(stacks.text[:runtime.Stack(stacks.text, true)])
	own := regexp.MustCompile(`synctest bubble \d+`).FindString(all) // the stack of the caller comes first
	if own == "" {
		t.Fatal("the test does not run in a synctest bubble")
	}
	return len(regexp.MustCompile(`(?m)^goroutine \d+ \[.*\b`+own+`\]:$`).FindAllString(all, -1))
}

func TestWritersInTheBackgroundAreFew(t *testing.T) {
	for name, a := range map[string]storage.Archive{"refuses": &broken{Archive: memory.New(), word: "events"}, "hangs": &stuckLogs{memory.New()}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, _ := logging(t, a, 1<<20)
				m.backlog.flushAt = 1000
				synctest.Wait()
				before, most := bubbled(t), 0
				for range 20 {
					for i := range 20 {
						talk(t, m, fmt.Sprint(i), 1)
						synctest.Wait()
						most = max(most, bubbled(t)-before)
					}
					time.Sleep(5 * time.Second)
				}
				// A finished writer releases its place just before it ends. Without a limit there
				// would be 20 writers, one for each session.
				if most >= 2*flushers {
					t.Errorf("%d goroutines more, at most %d are wanted", most, flushers)
				}
				if name == "hangs" && most == 0 {
					t.Error("nothing was written in the background: the test proves nothing")
				}
				synctest.Wait()
				if b, ok := a.(*broken); ok {
					if b.asked < 20 || b.asked > 20*8 {
						t.Errorf("the archive was asked %d times in 100 seconds for 20 sessions", b.asked)
					}
				}
			})
		})
	}
}

func TestSessionHasOneWriterInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := logging(t, &stuckLogs{memory.New()}, 1<<20)
		m.backlog.flushAt = 1000
		synctest.Wait()
		before := bubbled(t)
		talk(t, m, "s", 20)
		synctest.Wait()
		if n := bubbled(t) - before; n != 1 {
			t.Errorf("%d goroutines more, want 1", n)
		}
	})
}

// The events of a step are durable before its ledger, even if other lines wait.
func TestEventsOfAStepAreWrittenBeforeIt(t *testing.T) {
	ctx := t.Context()
	a := &broken{Archive: memory.New(), word: "events"}
	m, err := New(ctx, Config{Model: "gpt-4", MaxContextTokens: 8_000, Archive: a})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close(ctx)
	m.backlog.perSession = 1 // a line above this limit must not wait, but the archive refuses it
	if res, err := m.Preflight(ctx, "s", reads(60)); err == nil || res.Triggered {
		t.Fatalf("compacted %v without a log, %v; want false and an error", res.Triggered, err)
	}
	if head, err := m.sessions["s"].log.Head(ctx); err != nil || head != 0 {
		t.Errorf("step %d is committed, %v; want 0 and no error", head, err)
	}
	a.repair()
	res, err := m.Preflight(ctx, "s", reads(60))
	if err != nil || !res.Triggered {
		t.Fatalf("compacted %v, %v; want true and no error", res.Triggered, err)
	}
	lines := strings.Join(linesOf(t, a, "s"), "\n")
	for _, name := range []string{trace.NameArchival, trace.NameTriggerDecision, trace.NameBeforeModelCall} {
		if !strings.Contains(lines, `"name":"`+name+`"`) {
			t.Errorf("the log has no %s", name)
		}
	}
}

// Flush writes the lines of sessions that are not in memory, too, before their writer tries
// again.
func TestFlushWritesTheLinesOfForgottenSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &broken{Archive: memory.New(), word: "events"}
		m, _ := logging(t, a, 1<<20)
		talk(t, m, "first", 1)
		crowd(t, m)
		synctest.Wait()
		a.repair()
		if m.sessions["first"] != nil || len(m.backlog.left()) == 0 {
			t.Fatal("no log of a forgotten session waits")
		}
		if err := m.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := len(m.backlog.left()); left > 0 || len(linesOf(t, a, "first")) == 0 {
			t.Errorf("%d logs still wait, and that of the first session has %d lines", left, len(linesOf(t, a, "first")))
		}
	})
}

// A session leaves the memory although it has waiting lines. They are written when the archive
// works again, and a reopened session finds them.
func TestLinesOfAForgottenSessionWaitOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &broken{Archive: memory.New(), word: "events"}
		m, _ := logging(t, a, 1<<20)
		talk(t, m, "first", 1)
		crowd(t, m)
		synctest.Wait()
		if n := len(m.sessions); n > m.keep || m.sessions["first"] != nil || len(m.backlog.left()) == 0 {
			t.Fatalf("%d sessions in memory, %d logs wait", n, len(m.backlog.left()))
		}
		time.Sleep(time.Second)
		talk(t, m, "first", 1)
		if m.backlog.orphans["first"] != nil {
			t.Error("the session was reopened without its log")
		}
		a.repair()
		time.Sleep(longestRest + flushTimeout)
		synctest.Wait()
		if left := m.backlog.left(); len(left) > 0 {
			t.Errorf("%d logs still wait, want none", len(left))
		}
		if err := m.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, session := range []string{"first", "other-0", "other-9"} {
			calls := strings.Count(strings.Join(linesOf(t, a, session), "\n"), `"name":"`+trace.NameBeforeModelCall+`"`)
			if want := map[bool]int{true: 2, false: 1}[session == "first"]; calls != want {
				t.Errorf("the log of %s has %d calls, want %d", session, calls, want)
			}
		}
	})
}

// While the journal can't be written, it holds as much as it may, and the rest is
// written later.
func TestJournalThatWaitsIsBoundedAndLosesNothing(t *testing.T) {
	ctx := t.Context()
	a := &broken{Archive: memory.New(), word: "journal"}
	m, err := New(ctx, Config{Model: "gpt-4", Archive: a, Storage: StorageConfig{Transcripts: "all"}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close(ctx)
	m.backlog.perSession = 20 << 10
	talk(t, m, "s", 1)
	_ = m.Flush(ctx) // so that the failure is known
	history := func() (h []message.Message) {
		for i := range 60 {
			h = append(h, message.User(fmt.Sprint(i, strings.Repeat(" word", 200))))
		}
		return h
	}()
	for range 3 {
		if _, err := m.Preflight(ctx, "s", history); err != nil {
			t.Fatal(err)
		}
	}
	log := m.sessions["s"].audit
	if log.bytes > 20<<10 || len(log.journal) == 0 {
		t.Errorf("%d bytes wait, %d of these bytes are messages", log.bytes, len(log.journal))
	}
	a.repair()
	for range 2 {
		if err := m.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Preflight(ctx, "s", history); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range m.sessions["s"].log.JournalLines(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if want := 60 + len(reads(1)); n != want {
		t.Errorf("%d lines in the journal, want %d: each message once", n, want)
	}
}

func TestOrderOfLinesIsKeptWhenAWriteFails(t *testing.T) {
	ctx := t.Context()
	a := &broken{Archive: memory.New(), word: "events"}
	m, _ := logging(t, a, 1<<20)
	s, err := m.session(ctx, "s")
	if err != nil {
		t.Fatal(err)
	}
	defer m.release(s)
	s.audit.add(redact.Lit(`{"n":1}`))
	a.meanwhile = func() { s.audit.add(redact.Lit(`{"n":3}`)) }
	if err := s.audit.write(ctx, redact.Lit(`{"n":2}`)); err == nil {
		t.Fatal("the write should fail")
	}
	a.meanwhile = nil
	a.repair()
	if err := s.audit.write(ctx, redact.Lit(`{"n":4}`)); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(linesOf(t, a, "s"), " "); got != `{"n":1} {"n":2} {"n":3} {"n":4}` {
		t.Errorf("the log has %s, want %s", got, `{"n":1} {"n":2} {"n":3} {"n":4}`)
	}
}

// Lines that are dropped during a write are reported by the next write, and each
// loss is reported once.
func TestLinesDroppedDuringAWriteAreReportedByTheNext(t *testing.T) {
	ctx := t.Context()
	a := &broken{Archive: memory.New()}
	m, _ := logging(t, a, 1<<10)
	s, err := m.session(ctx, "s")
	if err != nil {
		t.Fatal(err)
	}
	defer m.release(s)
	line := redact.Lit(`{"n":1,"of":"a line that is so long that few of them have room in what may wait for a session"}`)
	overflow := func() (dropped int) {
		for range 50 {
			dropped += s.audit.add(line)
		}
		return dropped
	}
	want := []int{overflow()}
	a.meanwhile = func() {
		if len(want) == 1 {
			want = append(want, overflow())
		}
	}
	for range 3 {
		if err := s.audit.write(ctx, line); err != nil {
			t.Fatal(err)
		}
	}
	var said []int
	for _, l := range linesOf(t, a, "s") {
		if _, rest, ok := strings.Cut(l, "so long that the "); ok {
			var n int
			if _, err := fmt.Sscanf(rest, "%d oldest", &n); err != nil {
				t.Fatal(err)
			}
			said = append(said, n)
		}
	}
	if !slices.Equal(said, want) || want[0] == want[1] {
		t.Errorf("said that %d were dropped, want %d", said, want)
	}
}

// The audit log of a killed process has all calls except the calls of the last minute,
// and a reader in another process computes their bill.
func TestLinesWaitForAMinuteAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := memory.New()
		m, _ := logging(t, a, maxWaiting)
		const every, calls = 7 * time.Second, 105
		for n := range calls {
			talk(t, m, "s", 1)
			synctest.Wait()
			told := len(slices.DeleteFunc(linesOf(t, a, "s"), func(l string) bool { return !strings.Contains(l, `"before_model_call"`) }))
			if lost := n + 1 - told; time.Duration(lost-1)*every >= flushAfter {
				t.Fatalf("killed after %d calls, the process had reported %d", n+1, told)
			}
			time.Sleep(every)
		}
		if n := len(m.sessions["s"].audit.lines); n == 0 {
			t.Error("the lines of each call are written at once")
		}
	})
}

// Lines that a commit could not write are due a minute later, like the lines of a
// call.
func TestLinesOfAFailedWriteWaitForAMinuteAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &broken{Archive: memory.New(), word: "events"}
		m, _ := logging(t, a, 1<<20)
		s, err := m.session(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		defer m.release(s)
		if err := s.audit.write(t.Context(), redact.Lit(`{"n":1}`)); err == nil {
			t.Fatal("the write should fail")
		}
		a.repair()
		if s.audit.isDue() {
			t.Error("the failed line is due at once")
		}
		time.Sleep(flushAfter - time.Second)
		synctest.Wait()
		if n := len(linesOf(t, a, "s")); n != 0 {
			t.Errorf("%d lines are written before they are due, want 0", n)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if n := len(linesOf(t, a, "s")); n != 1 {
			t.Errorf("%d lines are written after a minute, want 1", n)
		}
	})
}
