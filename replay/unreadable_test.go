package replay

import (
	"context"
	"errors"
	"io"
	"iter"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// locked is an archive in which one read fails: the read after left others.
type locked struct {
	*memory.Archive
	left   int
	failed bool
}

func (a *locked) fails() bool {
	a.left--
	a.failed = a.failed || a.left == -1
	return a.left == -1
}

func (a *locked) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if a.fails() {
		return nil, errLocked
	}
	return a.Archive.Open(ctx, k, off, n)
}

func (a *locked) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	if a.fails() {
		return func(yield func(storage.Info, error) bool) { yield(storage.Info{}, errLocked) }
	}
	return a.Archive.List(ctx, prefix)
}

// A reader of an archive reports a read that fails, or reads again: it never returns a part
// of the figures as if it were all of them.
func TestNoReaderOfAnArchiveHidesAFailedRead(t *testing.T) {
	c, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	a := memory.New()
	c.Model, c.MaxContextTokens, c.Archive = "gpt-4o", 6000, a
	m, err := compact.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	s := session("s", 30)
	for _, at := range s.Calls() {
		if _, err := m.Preflight(t.Context(), "s", s.Messages[:at:at]); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(m.Archive(t.Context(), "s", s.Messages), m.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	opened := func(a storage.Archive, read func(s *record.Session) (any, error)) (any, error) {
		s, err := record.OpenSession(t.Context(), a, "s")
		if err != nil {
			return nil, err
		}
		return read(s)
	}
	for name, read := range map[string]func(a storage.Archive) (any, error){
		"account": func(a storage.Archive) (any, error) {
			return opened(a, func(s *record.Session) (any, error) { return ReadAccount(t.Context(), "s", s, price.Card{}) })
		},
		"bill": func(a storage.Archive) (any, error) {
			return opened(a, func(s *record.Session) (any, error) { return ReadBill(t.Context(), s, price.Card{}) })
		},
		"stats": func(a storage.Archive) (any, error) { return ReadStats(t.Context(), a, Filter{}, price.Card{}) },
		"replay": func(a storage.Archive) (any, error) {
			return opened(a, func(s *record.Session) (any, error) {
				r, err := FromArchive(t.Context(), a, s, "s")
				if err != nil {
					return nil, err
				}
				return []any{r.Session, r.Window, r.steps, r.fps, r.refs}, nil
			})
		},
	} {
		whole, err := read(a)
		if err != nil {
			t.Fatal(err)
		}
		reads, reported := 0, 0
		for ; ; reads++ {
			one := &locked{Archive: a, left: reads}
			got, err := read(one)
			if !one.failed {
				break
			}
			if err != nil {
				reported++
			} else if !reflect.DeepEqual(got, whole) {
				t.Errorf("%s: a read fails after %d others, and nothing is reported", name, reads)
			}
		}
		if reads < 2 || reported < 2 {
			t.Errorf("%s: %d reads, %d failures are reported", name, reads, reported)
		}
	}
}

// A search does not begin if its context has ended, or if a policy fails.
func TestASearchReportsAPolicyThatFails(t *testing.T) {
	tu := tunerOf(t, []*Session{session("a-1", 5)}, TuneOptions{Window: 8000, Workers: 1})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newTuner(ctx, []*Session{session("a-1", 5)}, &TuneOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("the context has ended: %v", err)
	}
	if _, err := tu.replay(ctx, &tu.runs[0], Raw(), 0, nil); !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "a-1: ") {
		t.Errorf("the policy fails: %v", err)
	}
	tu.o.Keep = 0.9
	for held, enough := range map[int]bool{900: true, 899: false} {
		if got := tu.score([]tuneRow{{cost: 1, raw: 2, needed: 1000, held: held}}); (got == 0.5) != enough {
			t.Errorf("%d of 1000 held: a score of %v", held, got)
		}
	}
}

// The table of times has the figures of the sorted times: mean, median, the 99th of 100, and
// the longest. References have no time of their own.
func TestTimesOfPoliciesArePrinted(t *testing.T) {
	var times []time.Duration
	for i := range 100 {
		times = append(times, time.Duration(i+1)*time.Millisecond)
	}
	r := &Report{Totals: []Total{{Policy: "p", Window: 8000, Elapsed: times}, {Policy: "raw", Reference: true, Window: 8000, Elapsed: times}, {Policy: "none", Window: 8000}}}
	var b strings.Builder
	if err := r.WriteTimes(&b); err != nil {
		t.Fatal(err)
	}
	want := "time that each policy itself takes per call, in milliseconds on this machine policy window mean median 99 of 100 longest p 8,000 50.50 51.00 100.00 100.0"
	if got := strings.Join(strings.Fields(b.String()), " "); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// A stage that acted twice in one compaction counts once.
func TestAStageOfACompactionCountsOnce(t *testing.T) {
	a := &Account{Steps: []AccountStep{{Stages: []string{"mask", "drop", "mask"}}, {Stages: []string{"mask"}}}}
	if s := a.stats(Filter{}); s.Compactions != 2 || s.Stages["mask"] != 2 || s.Stages["drop"] != 1 {
		t.Errorf("%+v", s)
	}
}

// A new summary covers more than the one before it: with too few turns to cover, a large
// prompt is sent as it is.
func TestAStandInSummaryIsNotRepeated(t *testing.T) {
	s := session("a", 8)
	r, err := Summarize(0.5).Begin(t.Context(), s, Env{Window: 3000, Count: estimator(t)})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false} {
		if v, err := r.View(t.Context(), s.Messages); err != nil || v.Compacted != want {
			t.Errorf("call %d: compacted %v, %v", i+1, v.Compacted, err)
		}
	}
}

// A word is plain with letters alone and at most its first one a capital.
func TestPlainWords(t *testing.T) {
	for word, want := range map[string]bool{"word": true, "Word": true, "of": true, "word,": true, "word).": true, "Über": true, "a": false, "WORD": false, "wOrd": false, "x1": false, "a_b": false, "": false, "...": false} {
		if isPlain(word) != want {
			t.Errorf("%q: %v", word, !want)
		}
	}
}

// A number in front of a line is a line number only in the answer to a pattern.
func TestNumbersInFrontOfLinesBelongToThemInAWholeText(t *testing.T) {
	history := []message.Message{message.ToolResult("a", "12:pkg/one.go\nmore")}
	if got, err := recallsOf(t, &shelf{}, history).best(t.Context(), history, []string{"12:pkg/one.go"}); got != 1 || err != nil {
		t.Errorf("%d identifiers come back, %v", got, err)
	}
}
