package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/token"
)

// TuneOptions say what is looked for, and how.
type TuneOptions struct {
	Keep        float64       // the least share of needed identifiers that the views hold; default 0.9
	Window      int           // tokens; default 200,000
	Model       string        // whose tokens are counted; default "gpt-4o"
	Card        price.Card    // what calls cost; default that of Model
	Gap         time.Duration // between two calls
	Evaluations int           // settings that are tried, over all folds; default and most 200
	Folds       int           // default 4; never more than there are projects
	Seed        uint64
	Workers     int // sessions at once; default one a core

	// Progress is told how many replays of one session under one setting are done,
	// of at most how many, from one goroutine at a time.
	Progress func(done, most int)
}

// MostEvaluations is how many settings one search may try.
const MostEvaluations = 200

// A Tuning is what a search found. The figures of Chosen are of the very sessions
// that it was chosen by, and flatter it; those of Expected are of sessions that
// the choice had not seen, fold by fold.
type Tuning struct {
	Options   TuneOptions
	Sessions  int
	Projects  int
	Tried     int // settings
	Chosen    Figures
	Default   Figures // of the preset graduated on the same sessions
	Expected  Figures // cross-validated by project; zero where there is one project
	Folds     int     // of it
	Met       bool    // Chosen keeps what was asked for
	TooFew    []string
	best      candidate
	cardNamed string
}

// Figures are what a setting costs and keeps.
type Figures struct {
	OfRaw Interval // cost, of sending everything
	Held  Interval // needed at use
	Over  int      // calls above the window, or refused
}

// Tune looks for the cheapest settings whose views hold at least o.Keep of what
// is needed, by a seeded search: settings drawn at random, then neighbors of the
// best. Sessions are parsed once. It is cross-validated by project: for each
// fold the search is made anew without its sessions, which then judge the
// choice. The same sessions and seed give the same result.
func Tune(ctx context.Context, sessions []*Session, o TuneOptions) (*Tuning, error) {
	t, err := newTuner(ctx, sessions, &o)
	if err != nil {
		return nil, err
	}
	projects, folds := foldsOf(sessions, o.Folds)
	out := &Tuning{Options: o, Sessions: len(sessions), Projects: projects, Folds: folds.count, cardNamed: (&Report{Card: o.Card}).cardName()}
	share := o.Evaluations / (folds.count + 1)
	if folds.count < 2 {
		share, out.Folds = o.Evaluations, 0
	}
	all := make([]int, len(sessions))
	for i := range all {
		all[i] = i
	}
	var unseen []tuneRow
	for f := range out.Folds {
		best, err := t.search(ctx, folds.without(f), share, uint64(f)+1)
		if err != nil {
			return nil, err
		}
		rows, err := t.rows(ctx, best, folds.of(f))
		if err != nil {
			return nil, err
		}
		unseen = append(unseen, rows...)
	}
	if out.best, err = t.search(ctx, all, share, 0); err != nil {
		return nil, err
	}
	for _, x := range []struct {
		k  candidate
		to *Figures
	}{{out.best, &out.Chosen}, {candidate{}, &out.Default}} {
		rows, err := t.rows(ctx, x.k, all)
		if err != nil {
			return nil, err
		}
		*x.to = figures(rows)
	}
	out.Expected, out.Tried = figures(unseen), len(t.tried)
	out.Met = out.Chosen.Held.Value >= o.Keep && out.Chosen.Over == 0
	out.doubt()
	return out, nil
}

// doubt says why the sessions are too few to tell.
func (t *Tuning) doubt() {
	const leastSessions, leastProjects = 8, 3
	if t.Sessions < leastSessions {
		t.TooFew = append(t.TooFew, fmt.Sprintf("%s: below %d the intervals mean little", sessionsOf(t.Sessions), leastSessions))
	}
	if t.Projects < leastProjects {
		t.TooFew = append(t.TooFew, fmt.Sprintf("sessions of %d projects: below %d nothing says what another project would need", t.Projects, leastProjects))
	}
	if t.Folds > 0 && t.Expected.Held.Low < t.Options.Keep {
		t.TooFew = append(t.TooFew, fmt.Sprintf("on sessions that the choice had not seen %.1f %% of what was needed was in view %s: that it is %.1f %% or more is not certain",
			100*t.Expected.Held.Value, t.Expected.Held.Span(), 100*t.Options.Keep))
	}
	if t.Folds > 0 && t.Expected.OfRaw.High > t.Default.OfRaw.Low && t.Expected.OfRaw.Low < t.Default.OfRaw.High {
		t.TooFew = append(t.TooFew, "the intervals of its cost and of the preset's overlap: that it is cheaper, or dearer, is not certain")
	}
}

func sessionsOf(n int) string {
	if n == 1 {
		return "1 session"
	}
	return fmt.Sprintf("%d sessions", n)
}

// ReadAll reads all sessions of a source that have a call to replay and so many
// tokens. What could not be read is the error, joined; the others are returned.
func ReadAll(from Source, model string, least int) ([]*Session, error) {
	var all []*Session
	var bad []error
	counter, err := token.ForModel(model)
	if err != nil {
		return nil, err
	}
	count, err := token.NewEstimator(model, counter, nil)
	if err != nil {
		return nil, err
	}
	for {
		s, ok, err := from()
		switch {
		case !ok:
			return all, errors.Join(bad...)
		case err != nil:
			bad = append(bad, err)
		case len(s.Calls()) == 0:
			bad = append(bad, fmt.Errorf("%s: there is no answer in it, so that there is no call to replay", s.Name))
		case count.Messages(s.Messages) >= least:
			all = append(all, s)
			if s.Flaw != nil {
				bad = append(bad, s.Flaw)
			}
		}
	}
}

// tuner evaluates settings, each on each session once.
type tuner struct {
	o     *TuneOptions
	runs  []tuneSession
	count *token.Estimator
	tried map[candidate]bool

	mu    sync.Mutex
	known map[tuneKey]tuneRow
}

type tuneSession struct {
	*Session
	needs *needs
	gaps  []time.Duration
	raw   float64 // what its calls cost with the whole history
}

type tuneKey struct {
	k candidate
	s int
}

// tuneRow is one session under one setting.
type tuneRow struct {
	cost, raw    float64
	needed, held int
	over         int
}

func newTuner(ctx context.Context, sessions []*Session, o *TuneOptions) (*tuner, error) {
	if len(sessions) == 0 {
		return nil, errors.New("replay: there is no session to tune by")
	}
	o.Keep, o.Window, o.Model = cmp.Or(o.Keep, 0.9), cmp.Or(o.Window, 200_000), cmp.Or(o.Model, "gpt-4o")
	o.Workers, o.Folds = cmp.Or(o.Workers, runtime.GOMAXPROCS(0)), cmp.Or(o.Folds, 4)
	if o.Evaluations <= 0 || o.Evaluations > MostEvaluations {
		o.Evaluations = MostEvaluations
	}
	if o.Card == (price.Card{}) {
		o.Card, _ = price.For(o.Model)
	}
	counter, err := token.ForModel(o.Model)
	if err != nil {
		return nil, err
	}
	count, err := token.NewEstimator(o.Model, counter, nil)
	if err != nil {
		return nil, err
	}
	t := &tuner{o: o, count: count, tried: map[candidate]bool{}, known: map[tuneKey]tuneRow{}, runs: make([]tuneSession, len(sessions))}
	for i, s := range sessions {
		gaps, err := (&Options{Gap: o.Gap}).gaps(s)
		if err != nil {
			return nil, err
		}
		t.runs[i] = tuneSession{Session: s, needs: newNeeds(s.Messages), gaps: gaps}
		row, err := t.replay(ctx, &t.runs[i], Raw())
		if err != nil {
			return nil, err
		}
		t.runs[i].raw = row.cost
	}
	return t, nil
}

// replay runs one session under one policy, and measures nothing but what a
// search needs.
func (t *tuner) replay(ctx context.Context, s *tuneSession, p Policy) (row tuneRow, err error) {
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	run, err := p.Begin(ctx, s.Session, Env{Model: t.o.Model, Window: t.o.Window, Count: t.count, Now: func() time.Time { return clock }})
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, run.Close(context.WithoutCancel(ctx))) }()
	b := biller{card: t.o.Card, count: t.count, fixed: t.count.Tools(s.Tools) + t.count.Reply()}
	row.raw = s.raw
	for i, at := range s.Calls() {
		b.gap, clock = s.gaps[i], clock.Add(s.gaps[i])
		history := s.Messages[:at:at]
		v, err := run.View(ctx, history)
		if err != nil {
			return row, fmt.Errorf("%s: %w", s.Name, err)
		}
		u, _ := b.bill(v.Messages, s.Messages[at])
		needed, missing := s.needs.at(at, &v, inFull(history, &v))
		row.cost += t.o.Card.Cost(u) + t.o.Card.Cost(v.Summary)
		row.needed, row.held = row.needed+needed, row.held+needed-len(missing)
		row.over += one(v.Refused || u.Prompt() > t.o.Window)
	}
	return row, nil
}

// rows replays sessions under a setting, those that are not known yet.
func (t *tuner) rows(ctx context.Context, k candidate, sessions []int) ([]tuneRow, error) {
	c, err := k.config()
	if err != nil {
		return nil, err
	}
	t.tried[k] = true
	next := make(chan int, len(sessions))
	for _, i := range sessions {
		if _, ok := t.known[tuneKey{k, i}]; !ok {
			next <- i
		}
	}
	close(next)
	var wg sync.WaitGroup
	var failed error
	for range t.o.Workers {
		wg.Go(func() {
			for i := range next {
				row, err := t.replay(ctx, &t.runs[i], Managed("tuned", c))
				t.mu.Lock()
				t.known[tuneKey{k, i}] = row
				failed = cmp.Or(failed, err)
				if t.o.Progress != nil {
					t.o.Progress(len(t.known), max(len(t.known), t.o.Evaluations*len(t.runs)))
				}
				t.mu.Unlock()
			}
		})
	}
	wg.Wait()
	if failed != nil {
		return nil, failed
	}
	out := make([]tuneRow, len(sessions))
	for n, i := range sessions {
		out[n] = t.known[tuneKey{k, i}]
	}
	return out, nil
}

func figures(rows []tuneRow) (f Figures) {
	if len(rows) == 0 {
		return f
	}
	f.OfRaw = resampled(len(rows), func(i int) (float64, float64) { return rows[i].cost, rows[i].raw })
	f.Held = resampled(len(rows), func(i int) (float64, float64) { return float64(rows[i].held), float64(rows[i].needed) })
	for _, r := range rows {
		f.Over += r.over
	}
	return f
}

// folds say which session is judged by whom.
type folds struct {
	count int
	fold  []int // of each session
}

func (f folds) of(n int) []int      { return f.where(func(fold int) bool { return fold == n }) }
func (f folds) without(n int) []int { return f.where(func(fold int) bool { return fold != n }) }

func (f folds) where(is func(int) bool) (out []int) {
	for i, fold := range f.fold {
		if is(fold) {
			out = append(out, i)
		}
	}
	return out
}

// foldsOf deals projects out to folds, the largest first, each to the fold that
// has the fewest sessions.
func foldsOf(sessions []*Session, most int) (projects int, f folds) {
	sizes := map[string]int{}
	for _, s := range sessions {
		sizes[Project(s.Name)]++
	}
	names := make([]string, 0, len(sizes))
	for name := range sizes {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b)) })
	f.count = min(most, len(names))
	held, to := make([]int, f.count), map[string]int{}
	for _, name := range names {
		least := slices.Index(held, slices.Min(held))
		to[name], held[least] = least, held[least]+sizes[name]
	}
	for _, s := range sessions {
		f.fold = append(f.fold, to[Project(s.Name)])
	}
	return len(names), f
}

// Project says which project a session is of, as its name tells: the file's name
// up to its last dash ("agent-shop-7f3a.jsonl" is of "agent-shop"), and where it
// has none the folder.
func Project(name string) string {
	name = strings.ReplaceAll(name, "\\", "/")
	base, _, _ := strings.Cut(path.Base(name), ".")
	if at := strings.LastIndexByte(base, '-'); at > 0 {
		return base[:at]
	}
	return path.Dir(name)
}
