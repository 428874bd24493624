package record_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// naming commits a step whose ledger names its summary.
func naming(t *testing.T, s *record.Session, n int, named string) {
	t.Helper()
	ctx := t.Context()
	must(t, second(s.Transcript(ctx, n, lines(fmt.Sprint("t", n), 3))))
	must(t, second(s.Summary(ctx, n, text(`{"v":1,"step":%d,"text":"we saw \"summary_in\":\"x\" and %d"}`, n, n))))
	must(t, second(s.Commit(ctx, n, text(`{"v":2,"cut":{"summary_in":"%s"},"step":%d}`, named, n))))
}

func TestLedgerIncludesTheSummaryInAFile(t *testing.T) {
	archives(t, func(t *testing.T, a storage.Archive) {
		const steps = 39 // more steps than one read covers
		s := session(t, a, "s")
		for n := 1; n <= steps; n++ {
			naming(t, s, n, fmt.Sprintf("summary-%03d.json", n))
		}
		n := 0
		for l, err := range session(t, a, "s").Ledgers(t.Context(), 1) {
			must(t, err)
			n++
			want := fmt.Sprintf(`{"v":2,"cut":{"summary":{"v":1,"step":%d,"text":"we saw \"summary_in\":\"x\" and %d"}},"step":%d}`, n, n, n)
			if l.Step != n || string(l.Data) != want || l.Changed != nil {
				t.Fatalf("step %d: %s, %v; want %s", l.Step, l.Data, l.Changed, want)
			}
		}
		if n != steps {
			t.Errorf("%d of %d ledgers were read", n, steps)
		}
	})
}

func TestALedgerWithAChangedSummaryIsNotReturned(t *testing.T) {
	for name, c := range map[string]struct {
		named, file string
		do          func(t *testing.T, a *memory.Archive)
	}{
		"a bit is flipped":     {"summary-002.json", "summary-002.json", func(t *testing.T, a *memory.Archive) { replace(t, a, `{"v":1,"step":2,"text":"forged"}`) }},
		"it is removed":        {"summary-002.json", "summary-002.json", func(t *testing.T, a *memory.Archive) { must(t, a.Remove(t.Context(), keyOf(t, "s/summary-002.json"))) }},
		"it is a later step's": {"summary-007.json", "summary-007.json", nil},
		"it is no summary":     {"transcript-pre-compact-001.jsonl", "ledger-002.json", nil},
		"it is elsewhere":      {"../x/summary-001.json", "ledger-002.json", nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := memory.New()
			s := session(t, a, "s")
			naming(t, s, 1, "summary-001.json")
			naming(t, s, 2, c.named)
			naming(t, s, 3, "summary-003.json")
			if c.do != nil {
				c.do(t, a)
			}
			good, changed := ledgers(t, a)
			if fmt.Sprint(good) != "[1 3]" || len(changed) != 1 || changed[0].File != c.file {
				t.Errorf("steps %v can be used; %v", good, changed)
			}
		})
	}
}

func TestLedgerIncludesAScrubbedSummary(t *testing.T) {
	const leaked = "hunter2hunter2"
	a := memory.New()
	s := session(t, a, "s")
	must(t, second(s.Transcript(t.Context(), 1, lines("t", 3))))
	must(t, second(s.Summary(t.Context(), 1, text(`{"text":"the password is %s"}`, leaked))))
	must(t, second(s.Commit(t.Context(), 1, text(`{"summary_in":"summary-001.json"}`))))
	must(t, second(s.Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked)})))
	for l, err := range session(t, a, "s").Ledgers(t.Context(), 1) {
		must(t, err)
		if l.Changed != nil || !strings.Contains(string(l.Data), "the password is **") || strings.Contains(string(l.Data), leaked) {
			t.Errorf("%s %v, want none", l.Data, l.Changed)
		}
	}
	if r, err := s.Verify(t.Context(), record.VerifyOptions{}); err != nil || !r.OK() {
		t.Error(r.Problems, err)
	}
}

func replace(t *testing.T, a *memory.Archive, with string) {
	t.Helper()
	k := keyOf(t, "s/summary-002.json")
	must(t, errors.Join(a.Remove(t.Context(), k), a.Create(t.Context(), k, storage.Redacted(text("%s", with)))))
}

func keyOf(t *testing.T, s string) storage.Key {
	t.Helper()
	k, err := storage.ParseKey(s)
	must(t, err)
	return k
}

// panics is an archive that panics when a ledger is read.
type panics struct{ *memory.Archive }

func (p *panics) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if strings.HasPrefix(k.Base(), "ledger-004") {
		panic("out of order")
	}
	return p.Archive.Open(ctx, k, off, n)
}

// A panic while several ledgers are read reaches the caller, who can recover from it.
func TestPanicOfALedgerReachesItsCaller(t *testing.T) {
	a := &panics{memory.New()}
	s := session(t, a.Archive, "s")
	for n := 1; n <= 12; n++ {
		step(t, s, n)
	}
	defer func() {
		if p := recover(); p != "out of order" {
			t.Errorf("recovered %v, want %v", p, "out of order")
		}
	}()
	for range session(t, a, "s").Ledgers(t.Context(), 1) {
	}
	t.Error("nothing panicked")
}

// distant is an archive whose answers take a second of the fake clock.
type distant struct{ storage.Archive }

func (d distant) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	time.Sleep(time.Second)
	return d.Archive.Open(ctx, k, off, n)
}

// A ledger and the summary that it names take two round trips. Thirty-two steps take no
// more.
func TestLedgersTakeFewRoundTrips(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := memory.New()
		s := session(t, a, "s")
		for n := 1; n <= 50; n++ {
			naming(t, s, n, fmt.Sprintf("summary-%03d.json", n))
		}
		far := session(t, distant{a}, "s")
		began := time.Now()
		for l, err := range far.Ledgers(t.Context(), 1) {
			must(t, err)
			if l.Changed != nil {
				t.Fatal(l.Changed)
			}
		}
		if took := time.Since(began); took > 5*time.Second { // the fifth finds that there is no further step
			t.Errorf("fifty steps took %d round trips", took/time.Second)
		}
	})
}
