package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/token"
)

// tuner evaluates settings, each on each session at most once.
type tuner struct {
	o     *TuneOptions
	runs  []tuneSession
	count *token.Estimator
	texts token.Counter // has the counts of the sessions' texts; nil: the model's tokens are an approximation

	pool  []candidate // settings with which every search begins
	climb int         // number of further settings per search
	tried map[candidate]bool

	mu    sync.Mutex
	known map[tuneKey]tuneRow
}

// tuneSession is a session with the data that is the same under all settings.
type tuneSession struct {
	*Session
	needs *needs
	gaps  []time.Duration
	raw   []rawCall // one element per call, and a last one with the total
}

// rawCall is a call with the whole history.
type rawCall struct {
	prompt int     // tokens
	before tuneRow // sum of the calls before it
}

type tuneKey struct {
	k candidate
	s int
}

// tuneRow is the result of one session under one setting.
type tuneRow struct {
	cost, raw    float64
	needed, held int
	over         int
}

func newTuner(ctx context.Context, sessions []*Session, o *TuneOptions) (*tuner, error) {
	if len(sessions) == 0 {
		return nil, errors.New("replay: no session can be used for tuning")
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
	if _, exact := token.EncodingForModel(o.Model); exact {
		t.texts = countTexts(counter, sessions)
	}
	for i, s := range sessions {
		if t.runs[i], err = t.prepare(ctx, s); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// prepare computes the data of a session that is the same under all settings.
func (t *tuner) prepare(ctx context.Context, s *Session) (tuneSession, error) {
	gaps, err := (&Options{Gap: t.o.Gap}).gaps(s)
	if err != nil {
		return tuneSession{}, err
	}
	run := tuneSession{Session: s, needs: newNeeds(s.Messages), gaps: gaps}
	_, err = t.replay(ctx, &run, Raw(), 0, func(prompt int, before tuneRow) {
		run.raw = append(run.raw, rawCall{prompt, before})
	})
	return run, err
}

// first returns the first call of a session in which a configuration may send
// less than everything: the earlier prompts are below the trigger. It returns the
// number of calls if no prompt reaches the trigger. It returns 0 if the
// configuration may act at every call, or if the trigger is not a number of tokens
// that are counted here.
func (t *tuner) first(s *tuneSession, c *compact.Config) int {
	if t.texts == nil || c.Policy.When != policy.AtWindow && c.Policy.When != policy.AtTrigger || c.Mask.When != policy.AtTrigger || c.Truncate.When != policy.AtTrigger {
		return 0
	}
	b, err := c.Policy.Budget(t.o.Window, c.MaxOutputTokens)
	if err != nil {
		return 0
	}
	last := len(s.raw) - 1
	for i := range last {
		if s.raw[i].prompt >= b.Trigger {
			return i
		}
	}
	return last
}

// replay runs one session under one policy, from call from on, and measures only the
// figures that a search needs. It takes the earlier calls from the replay of the whole
// history. The function each, if not nil, gets the prompt of every call with the sum of
// the calls before that call, and at the end the total.
func (t *tuner) replay(ctx context.Context, s *tuneSession, p Policy, from int, each func(prompt int, before tuneRow)) (row tuneRow, err error) {
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	run, err := p.Begin(ctx, s.Session, Env{Model: t.o.Model, Card: t.o.Card, Window: t.o.Window, Count: t.count, Now: func() time.Time { return clock }})
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, run.Close(context.WithoutCancel(ctx))) }()
	b := biller{card: t.o.Card, count: t.count, fixed: t.count.Tools(s.Tools) + t.count.Reply()}
	calls := s.Calls()
	if from > 0 {
		row, b.last = s.raw[from].before, s.Messages[:calls[from-1]]
	}
	for i, at := range calls {
		b.gap, clock = s.gaps[i], clock.Add(s.gaps[i])
		if i < from {
			continue
		}
		history := s.Messages[:at:at]
		v, err := run.View(ctx, history)
		if err != nil {
			return row, fmt.Errorf("%s: %w", s.Name, err)
		}
		u, _ := b.bill(v.Messages, s.Messages[at])
		if each != nil {
			each(u.Prompt(), row)
		}
		needed, missing := s.needs.at(at, &v, inFull(history, &v))
		row.cost += t.o.Card.Cost(u) + t.o.Card.Cost(v.Summary)
		row.needed, row.held = row.needed+needed, row.held+needed-len(missing)
		row.over += one(v.Refused || u.Prompt() > t.o.Window)
	}
	if each != nil {
		each(0, row)
	}
	return row, nil
}

// row replays one session under a setting.
func (t *tuner) row(ctx context.Context, k candidate, s int) (tuneRow, error) {
	c, err := k.config()
	if err != nil {
		return tuneRow{}, err
	}
	run := &t.runs[s]
	from, row := t.first(run, &c), run.raw[len(run.raw)-1].before
	if c.Counter = t.texts; from < len(run.raw)-1 {
		row, err = t.replay(ctx, run, Managed("tuned", c), from, nil)
	}
	row.raw = run.raw[len(run.raw)-1].before.cost
	return row, err
}

// rows returns the rows of sessions under a setting, and replays the missing ones.
func (t *tuner) rows(ctx context.Context, k candidate, sessions []int) ([]tuneRow, error) {
	if err := t.fill(ctx, []candidate{k}, sessions); err != nil {
		return nil, err
	}
	rows, _ := t.stored(k, sessions)
	return rows, nil
}

// stored returns the known rows of a setting, and whether these are all rows.
func (t *tuner) stored(k candidate, sessions []int) (rows []tuneRow, all bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, i := range sessions {
		if row, ok := t.known[tuneKey{k, i}]; ok {
			rows = append(rows, row)
		}
	}
	return rows, len(rows) == len(sessions)
}

// fill replays sessions under settings unless their rows are known, with one
// goroutine per worker.
func (t *tuner) fill(ctx context.Context, settings []candidate, sessions []int) error {
	var next []tuneKey
	for _, k := range settings {
		t.tried[k] = true
		for _, s := range sessions {
			if _, ok := t.known[tuneKey{k, s}]; !ok {
				next = append(next, tuneKey{k, s})
			}
		}
	}
	work := make(chan tuneKey, len(next))
	for _, key := range next {
		work <- key
	}
	close(work)
	var wg sync.WaitGroup
	var failed error
	for range t.o.Workers {
		wg.Go(func() {
			for key := range work {
				if ctx.Err() != nil {
					return
				}
				row, err := t.row(ctx, key.k, key.s)
				t.mu.Lock()
				if failed = cmp.Or(failed, err); err == nil {
					t.known[key] = row
					t.progress()
				}
				t.mu.Unlock()
			}
		})
	}
	wg.Wait()
	return cmp.Or(ctx.Err(), failed)
}

// progress reports the progress. It assumes that each remaining setting takes as many
// replays as those so far.
func (t *tuner) progress() {
	if t.o.Progress != nil {
		t.o.Progress(len(t.known), max(len(t.known), len(t.known)*t.o.Evaluations/max(len(t.tried), 1)))
	}
}
