package replay

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	sampling "github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/price"
)

// shortProjects returns sessions of a given number of projects: two sessions for each
// project, with a few calls.
func shortProjects(n int) []*Session {
	all := projects(n)
	for i, s := range all {
		s.Messages = s.Messages[:min(len(s.Messages), 24+2*i)]
	}
	return all
}

func tunerOf(t *testing.T, sessions []*Session, o TuneOptions) *tuner {
	t.Helper()
	o.Card, _ = price.For("claude-sonnet-4-5")
	o.Gap = time.Second
	tu, err := newTuner(t.Context(), sessions, &o)
	if err != nil {
		t.Fatal(err)
	}
	tu.share(1)
	return tu
}

// A search skips calls below the trigger and repeated counts of a replay. Its figures
// equal those of a whole replay.
func TestSearchReplaysLikeAWholeReplay(t *testing.T) {
	saved, dearer := sameAsWhole(t, tunerOf(t, shortProjects(1), TuneOptions{Window: 4000}), 4)
	if saved == 0 || dearer == 0 {
		t.Errorf("%d calls were left out, %d replays cost another sum than raw: the test proves nothing", saved, dearer)
	}
	if file := mediumFile("../../shared/transcripts/chat/*.jsonl.gz", 100_000, 150_000); file != "" {
		recorded, err := Read(file, "auto")
		if err != nil {
			t.Fatal(err)
		}
		sameAsWhole(t, tunerOf(t, []*Session{recorded}, TuneOptions{Window: 120_000}), 3)
	}
}

// mediumFile returns the first file of a pattern with a size between two limits, in bytes.
func mediumFile(pattern string, least, most int64) string {
	found, _ := filepath.Glob(pattern)
	for _, file := range found {
		if info, err := os.Stat(file); err == nil && info.Size() >= least && info.Size() <= most {
			return file
		}
	}
	return ""
}

// A setting without a view for a call is refused, even if the whole history fits the
// window, for example because the answer then does not fit.
func TestSearchCountsRefusedCalls(t *testing.T) {
	s := &Session{Name: "p-1", Messages: []message.Message{message.User(strings.Repeat("word ", 7900)), message.Assistant("Done.")}}
	tu := tunerOf(t, []*Session{s}, TuneOptions{Window: 8000})
	rows, err := tu.rows(t.Context(), candidate{}, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	if prompt := tu.runs[0].raw[0].prompt; prompt > 8000 || rows[0].over != 1 {
		t.Errorf("a prompt of %d tokens, %+v", prompt, rows[0])
	}
}

// sameAsWhole compares replays under random settings with replays of every call; it
// returns the number of skipped calls, and the number of replays that changed the cost.
func sameAsWhole(t *testing.T, tu *tuner, settings int) (saved, changed int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(4, 5))
	for range settings {
		k := (candidate{}).random(rng)
		c, err := k.config()
		if err != nil {
			t.Fatal(err)
		}
		for i := range tu.runs {
			got, errGot := tu.row(t.Context(), k, i)
			want, errWant := tu.replay(t.Context(), &tu.runs[i], Managed("whole", c), 0, nil)
			if err := errors.Join(errGot, errWant); err != nil {
				t.Fatal(err)
			}
			want.raw = got.raw
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(tuneRow{})); diff != "" {
				t.Errorf("%s under %v (-whole +search):\n%s", tu.runs[i].Name, k, diff)
			}
			saved += tu.first(&tu.runs[i], &c)
			changed += one(got.cost != got.raw)
		}
	}
	return saved, changed
}

// If a configuration works on every call, or the model's tokens are approximated, no
// call is left out.
func TestSearchBeginsAtTheFirstAffectedCall(t *testing.T) {
	tu := tunerOf(t, shortProjects(1), TuneOptions{Window: 6000})
	c, err := (candidate{}).config()
	if err != nil {
		t.Fatal(err)
	}
	if tu.first(&tu.runs[0], &c) < 2 {
		t.Fatal("the tuner skips no call")
	}
	always := c
	always.Mask.When = "always"
	if n := tu.first(&tu.runs[0], &always); n != 0 {
		t.Errorf("%d calls are left out under a policy that works at every call", n)
	}
	tu = tunerOf(t, shortProjects(1), TuneOptions{Window: 6000, Model: "claude-sonnet-4-5"})
	if n := tu.first(&tu.runs[0], &c); n != 0 {
		t.Errorf("%d calls are left out for a model whose tokens are approximated", n)
	}
}

// Bad settings cost little: not every setting is replayed on every session.
func TestSearchGivesUpBadSettingsEarly(t *testing.T) {
	all := shortProjects(3)
	sessions := []*Session{all[0], all[2], all[4]}
	tried, replays := 0, 0
	for seed := range uint64(sampling.Of(6)) {
		tu := tunerOf(t, sessions, TuneOptions{Keep: 0.3, Window: 4000, Evaluations: 12, Seed: seed})
		best, err := tu.search(t.Context(), inTurn(sessions), 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, all := tu.stored(best, inTurn(sessions)); !all {
			t.Errorf("%v was chosen without a replay of every session", best)
		}
		if len(tu.tried) != 12 {
			t.Errorf("%d settings of 12 were tried", len(tu.tried))
		}
		tried, replays = tried+len(tu.tried), replays+len(tu.known)
	}
	if most := tried * len(sessions) * 9 / 10; replays > most {
		t.Errorf("%d settings took %d replays, want at most %d", tried, replays, most)
	}
}

func TestInTurnTakesEveryProjectFirst(t *testing.T) {
	sessions := projects(4)
	seen := map[string]bool{}
	order := inTurn(sessions)
	for _, i := range order[:4] {
		seen[Project(sessions[i].Name)] = true
	}
	if len(seen) != 4 || len(order) != len(sessions) {
		t.Errorf("the first four sessions of %v are of %d projects", order, len(seen))
	}
}

// An interrupted search returns the best setting so far, with the context's error.
func TestInterruptedTuneReturnsTheBestSoFar(t *testing.T) {
	o := TuneOptions{Keep: 0.3, Window: 4000, Gap: time.Second, Evaluations: 8, Folds: 2, Seed: 3, Workers: 1}
	o.Card, _ = price.For("claude-sonnet-4-5")
	for _, c := range []struct {
		after  int // replays
		none   bool
		within string
	}{{after: 1, none: true}, {after: 6, within: "the pool"}, {after: 20, within: "the folds"}} {
		ctx, cancel := context.WithCancel(t.Context())
		o.Progress = func(done, most int) {
			if done > most {
				t.Errorf("%d of %d are done", done, most)
			}
			if done >= c.after {
				cancel()
			}
		}
		found, err := Tune(ctx, shortProjects(2), o)
		cancel()
		if !errors.Is(err, context.Canceled) || (found == nil) != c.none {
			t.Fatalf("after %d replays: %v, found %v", c.after, err, found != nil)
		}
		if found == nil {
			continue
		}
		text, err := found.YAML()
		if err != nil || !strings.HasPrefix(text, "# UNFINISHED: the search was interrupted after ") || strings.Contains(text, "# Expected") || found.Chosen.OfRaw.Value == 0 {
			t.Errorf("in %s: %v\n%s", c.within, err, text)
		}
		if found.Chosen.OfRaw.Value > found.Default.OfRaw.Value && found.Default.Held.Value >= o.Keep && found.Default.Over == 0 {
			t.Errorf("in %s: the best so far costs %v, and the preset %v", c.within, found.Chosen, found.Default)
		}
	}
}

// The figures of a setting are sums over its sessions, next to those of the preset.
func TestFiguresAreSumsOfSessions(t *testing.T) {
	rows := []tuneRow{{cost: 1, raw: 4, needed: 10, held: 9, over: 1}, {cost: 2, raw: 2, needed: 30, held: 21, over: 2}}
	preset := []tuneRow{{cost: 2, raw: 4}, {cost: 4, raw: 2}}
	f := figures(rows, preset)
	if f.OfRaw.Value != 0.5 || f.Held.Value != 0.75 || f.OfPreset.Value != 0.5 || f.Over != 3 {
		t.Errorf("%+v", f)
	}
	if f := figures(nil, nil); f != (Figures{}) {
		t.Errorf("of no session: %+v", f)
	}
}
