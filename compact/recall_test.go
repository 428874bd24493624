package compact_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/testkey"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// reader is an archive that records the reads.
type reader struct {
	storage.Archive
	mu    sync.Mutex
	reads []string // file, offset and length
}

func (c *reader) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	c.mu.Lock()
	c.reads = append(c.reads, fmt.Sprintf("%s %d %d", k.Base(), off, n))
	c.mu.Unlock()
	return c.Archive.Open(ctx, k, off, n)
}

func (c *reader) during(f func()) []string {
	c.mu.Lock()
	c.reads = nil
	c.mu.Unlock()
	f()
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.reads)
}

// grown takes a session through many compactions: the history grows by rounds until
// there are a given number of steps. With keep the SDK continues with the view.
func grown(t *testing.T, r *rig, steps int, keep bool) (history []message.Message, originals map[string]message.Message) {
	t.Helper()
	originals = map[string]message.Message{}
	history = loop(0, 0)
	for i, last := 0, 0; last < steps; i++ {
		if i > 200*steps {
			t.Fatalf("only %d steps after %d rounds", last, i)
		}
		more := round(i, 150+i%7)
		for _, m := range more {
			originals[testkey.Sealed(m.Fingerprint()).String()] = m
		}
		history = append(history, more...)
		res := r.preflight(history)
		if keep {
			history = res.Messages
		}
		if res.Step > 0 {
			last = res.Step
		}
	}
	return history, originals
}

func TestEveryEvictedMessageIsRecalledByOnePageAndOneRange(t *testing.T) {
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprintf("keep view %v", keep), func(t *testing.T) {
			a := &reader{Archive: memory.New()}
			r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a})
			_, originals := grown(t, r, 13, keep)
			other := newRig(t, compact.Config{Archive: a}) // has nothing of the session in memory
			evicted := evictions(t, a)
			if len(evicted) < 100 {
				t.Fatalf("only %d messages were taken out, want at least 100", len(evicted))
			}
			recall := func(ref string) (text string) {
				text, err := other.Recall(context.Background(), "s", ref)
				if err != nil {
					t.Fatalf("%s: %v", ref, err)
				}
				return text
			}
			for _, fp := range evicted { // reads the headers
				recall(fp)
			}
			asked, one := 0, 0
			for _, fp := range evicted {
				m, ok := originals[fp]
				if !ok {
					continue // placeholders and summaries that an SDK with a kept view sent again
				}
				for _, p := range m.Parts {
					var text string
					reads := a.during(func() { text = recall(testkey.Ref(p)) })
					want := p.Text
					if p.Kind == message.KindToolCall {
						want = p.Name + " " + string(p.Args)
					}
					if text != want {
						t.Fatalf("recalled %.60q, want %.60q", text, want)
					}
					if asked++; len(reads) == 2 && strings.HasPrefix(reads[0], "turns-") && strings.HasSuffix(reads[0], " 4096") && strings.HasPrefix(reads[1], "transcript-") {
						one++
					}
				}
			}
			t.Logf("%d of %d parts by one page and one range", one, asked)
			if asked < 50 || one*100 < 99*asked {
				t.Errorf("%d of %d parts were recalled by one page and one range", one, asked)
			}
		})
	}
}

// evictions returns the fingerprints of the messages that the session's steps
// removed.
func evictions(t *testing.T, a storage.Archive) (fps []string) {
	t.Helper()
	s, err := record.OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	for l, err := range s.Ledgers(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		refs, err := recall.Refs(l)
		if err != nil {
			t.Fatal(err)
		}
		for _, ref := range refs {
			fps = append(fps, ref.ID)
		}
	}
	return fps
}

func TestEvictionsOfEveryPresetVerify(t *testing.T) {
	for _, preset := range compact.Presets() {
		t.Run(preset, func(t *testing.T) {
			c, err := compact.Preset(preset)
			if err != nil {
				t.Fatal(err)
			}
			a := memory.New()
			c.Model, c.MaxContextTokens, c.Archive = "gpt-4", 12_000, a
			r := newRig(t, c)
			history := loop(2, 300)
			var last *compact.Result
			for i := range 60 {
				history = append(history, round(2+i, 300)...)
				res, err := r.Preflight(t.Context(), "s", history)
				if err != nil {
					t.Fatal(err)
				}
				if res.Step > 0 {
					last = res
				}
			}
			if last == nil {
				t.Fatal("nothing was compacted")
			}
			if err := r.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			report, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{Refs: recall.Refs})
			if err != nil || !report.OK() {
				t.Fatalf("%v, %v; want no error and no problems", err, report.Problems)
			}
			seen := map[string]bool{}
			for _, fp := range evictions(t, a) {
				seen[fp] = true
			}
			out := 0
			for _, d := range last.Decisions {
				if d.Decision == policy.Kept {
					continue
				}
				out++
				m := history[d.Index]
				if !seen[testkey.Sealed(m.Fingerprint()).String()] {
					t.Errorf("message %d was %s, and no ledger has its place", d.Index, d.Decision)
				}
				for _, p := range m.Parts {
					got, err := r.Recall(t.Context(), "s", testkey.Ref(p))
					if err != nil || p.Kind != message.KindToolCall && got != p.Text {
						t.Errorf("message %d (%s): recalled %.40q, %v", d.Index, d.Decision, got, err)
					}
				}
			}
			if out == 0 {
				t.Error("nothing was taken out")
			}
			t.Logf("%d steps, %d messages out of the last view", report.Steps, out)
		})
	}
}

func TestTurnsKeepTheirNumbers(t *testing.T) {
	for _, keep := range []bool{false, true} {
		r := newRig(t, compact.Config{MaxContextTokens: 8_000})
		grown(t, r, 6, keep)
		other := newRig(t, compact.Config{Archive: r.archive})
		for turn := 1; turn <= 40; turn++ {
			// Round i of the loop is turn i+1, because the request belongs to the first turn.
			want := fmt.Sprintf("file_%d.go: %s", turn-1, text(150+(turn-1)%7))
			got, err := other.Recall(t.Context(), "s", fmt.Sprintf("turn:%d:observation", turn))
			if err != nil || got != want {
				t.Fatalf("keep %v, turn %d: %.60q, %v; want %.60q", keep, turn, got, err, want)
			}
		}
		whole, err := other.Recall(t.Context(), "s", "turn:3")
		want := "[action]\nread_file {\"path\":\"pkg/file_2.go\"}\n[observation]\nfile_2.go: " + text(152)
		if err != nil || whole != want {
			t.Errorf("keep %v: the whole turn is %.120q, %v; want %.120q", keep, whole, err, want)
		}
	}
}

// The parts of a turn are in the order request, reasoning, action, observation, each with
// one heading, also if the user or the model sent several messages of a kind.
func TestTheMessagesOfATurnAreRecalledByTheirKind(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000})
	history := slices.Insert(loop(100, 200), 2, message.User("Begin with the first file."))
	r.preflight(history)
	want := "[request]\nMake all tests of module_a pass.\nBegin with the first file.\n[action]\nread_file {"
	if got, err := r.Recall(t.Context(), "s", "turn:1"); err != nil || !strings.Contains(got, want) {
		t.Errorf("%.300q, %v, want %q", got, err, want)
	}
}

func TestWholeTurnIsRecalledByOnePageAndOneRange(t *testing.T) {
	a := &reader{Archive: memory.New()}
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a})
	grown(t, r, 5, false)
	for range 2 {
		reads := a.during(func() {
			if _, err := r.Recall(t.Context(), "s", "turn:7"); err != nil {
				t.Error(err)
			}
		})
		t.Log(reads)
	}
	if reads := a.during(func() { _, _ = r.Recall(t.Context(), "s", "turn:7") }); len(reads) != 2 {
		t.Errorf("Recall read %v, want two reads", reads)
	}
}

func TestRecallFindsTextOfJournalAndFinalTranscripts(t *testing.T) {
	c, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	a := &reader{Archive: memory.New()}
	c.Model, c.MaxContextTokens, c.Archive, c.Storage.Transcripts = "gpt-4", 128_000, a, "all"
	r := newRig(t, c)
	history := loop(4, 50)
	r.preflight(history) // compacts nothing
	if err := r.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	ref := testkey.Ref(history[5].Parts[0])
	if got, err := r.Recall(t.Context(), "s", ref); err != nil || got != history[5].ResultText() {
		t.Errorf("from the journal: %.60q, %v", got, err)
	}
	if _, err := r.Recall(t.Context(), "s", "turn:2"); !errors.Is(err, compact.ErrNotFound) {
		t.Errorf("a turn that no index has: %v, want ErrNotFound", err)
	}
	if err := r.Archive(t.Context(), "s", history); err != nil {
		t.Fatal(err)
	}
	reads := a.during(func() {
		if got, err := r.Recall(t.Context(), "s", ref); err != nil || got != history[5].ResultText() {
			t.Errorf("from the final transcript: %.60q, %v", got, err)
		}
	})
	if slices.ContainsFunc(reads, func(s string) bool { return strings.HasPrefix(s, "journal") }) {
		t.Errorf("the journal was read: %v", reads)
	}
	if got, err := r.Recall(t.Context(), "s", "turn:2:observation"); err != nil || got != history[5].ResultText() {
		t.Errorf("turn 2: %.60q, %v", got, err)
	}
	report, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{Refs: recall.Refs})
	if err != nil || !report.OK() {
		t.Errorf("%v, %v; want no error and no problems", err, report.Problems)
	}
}

func TestRecallFindsStepsOfOtherProcesses(t *testing.T) {
	a := memory.New()
	one, two := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a}), newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a})
	history := loop(100, 200)
	ref := testkey.Ref(history[3].Parts[0])
	if _, err := two.Recall(t.Context(), "s", ref); !errors.Is(err, compact.ErrNotFound) {
		t.Fatalf("before: %v, want ErrNotFound", err)
	}
	one.preflight(history)
	if got, err := two.Recall(t.Context(), "s", ref); err != nil || got != history[3].ResultText() {
		t.Errorf("after: %.60q, %v", got, err)
	}
}

func TestInvalidReferencesAreNotFound(t *testing.T) {
	r := newRig(t, compact.Config{})
	for _, ref := range []string{"", "1234567", "turn:", "turn:0", "turn:1:other", "turn:1:thought", "turn:1:action:2", "../../etc/passwd", strings.Repeat("a", 33), "zzzzzzzzzzzz"} {
		if _, err := r.Recall(t.Context(), "s", ref); !errors.Is(err, compact.ErrNotFound) {
			t.Errorf("%q: %v, want ErrNotFound", ref, err)
		}
	}
}

// A wrong session has nothing under any number. The error says so.
func TestARecallFromAnotherSessionSaysThatItHasNoCompaction(t *testing.T) {
	r := newRig(t, compact.Config{})
	for _, ref := range []string{"turn:2", "s3"} {
		if _, err := r.Recall(t.Context(), "another", ref); !errors.Is(err, compact.ErrNotFound) || !strings.Contains(err.Error(), "no compaction of this session is stored") {
			t.Errorf("%s: %v, want ErrNotFound and an error with %q", ref, err, "no compaction of this session is stored")
		}
	}
}
