package replay

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/agentcompact/compact/token"
)

// A Source yields the sessions one by one, so that not all of them are in
// memory. It is called from one goroutine at a time; ok is false at the end. An
// error is about one session; the source continues.
type Source func() (s *Session, ok bool, err error)

// Of returns a source of sessions in memory.
func Of(sessions ...*Session) Source {
	return func() (*Session, bool, error) {
		if len(sessions) == 0 {
			return nil, false, nil
		}
		s := sessions[0]
		sessions = sessions[1:]
		return s, true, nil
	}
}

// Run replays all sessions under all policies and windows. When ctx ends, it
// returns the finished part, with the context's error. Failures of single
// sessions are in the report, not in the error.
func Run(ctx context.Context, from Source, o Options) (*Report, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	counter, err := token.ForModel(o.Model)
	if err != nil {
		return nil, err
	}
	count, err := token.NewEstimator(o.Model, counter, nil)
	if err != nil {
		return nil, err
	}
	r := &runner{o: o, count: count, from: from, report: newReport(o)}
	var wg sync.WaitGroup
	for range o.Workers {
		wg.Go(func() { r.work(ctx) })
	}
	wg.Wait()
	r.report.finish()
	return r.report, ctx.Err()
}

// runner is the state of one Run.
type runner struct {
	o     Options
	count *token.Estimator
	from  Source

	mu          sync.Mutex
	report      *Report
	read        int // number of sessions read so far
	done, total int // calls
}

// work replays sessions until there are no more.
func (r *runner) work(ctx context.Context) {
	for ctx.Err() == nil {
		s, at, ok := r.next()
		if !ok {
			return
		}
		if s == nil {
			continue
		}
		rows, err := r.session(ctx, s)
		r.mu.Lock()
		r.report.add(at, rows, err)
		r.mu.Unlock()
	}
}

// next reads the next session; s is nil if the session is not replayed.
func (r *runner) next() (s *Session, at int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok, err := r.from()
	if !ok {
		return nil, 0, false
	}
	at = r.read
	r.read++
	if s != nil && s.Flaw != nil {
		r.report.bad(at, s.Flaw)
	}
	if err == nil {
		_, err = r.o.gaps(s)
	}
	if err == nil && len(s.Calls()) == 0 {
		s, err = nil, fmt.Errorf("%s: it has no answer, so there is no call to replay", s.Name)
	}
	if err != nil {
		r.report.bad(at, err)
		return nil, at, true
	}
	if !r.o.Least.isMetBy(s, r.count) {
		r.report.Short++
		return nil, at, true
	}
	r.total += len(s.Calls()) * (1 + len(r.o.Policies)*len(r.o.Windows))
	return s, at, true
}

// session replays one session under all windows and policies.
func (r *runner) session(ctx context.Context, s *Session) ([]Row, error) {
	needs := newNeeds(s.Messages)
	raw, err := r.replay(ctx, s, needs, Raw(), r.o.Windows[0])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	var rows []Row
	for _, window := range r.o.Windows {
		for _, p := range r.o.Policies {
			row, err := r.replay(ctx, s, needs, p, window)
			if err != nil {
				return nil, fmt.Errorf("%s under %s at %d: %w", s.Name, p.Name(), window, err)
			}
			row.RawCost = raw.Cost
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// replay replays one session under one policy.
func (r *runner) replay(ctx context.Context, s *Session, needs *needs, p Policy, window int) (Row, error) {
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	run, err := p.Begin(ctx, s, Env{Model: r.o.Model, Card: r.o.Card, Window: window, Count: r.count, Now: func() time.Time { return clock }})
	if err != nil {
		return Row{}, err
	}
	row := Row{Policy: p.Name(), Reference: p.Reference(), Window: window, Session: s.Name}
	gaps, err := r.o.gaps(s)
	if err != nil {
		return Row{}, err
	}
	b := biller{card: r.o.Card, count: r.count, fixed: r.count.Tools(s.Tools) + r.count.Reply()}
	m := newMeasure(run, r.count, needs)
	row.Recalls = m.recalls != nil
	if r.o.Where {
		m.where = newWhere(r.count, needs)
	}
	for i, at := range s.Calls() {
		b.gap, clock = gaps[i], clock.Add(gaps[i])
		v, err := run.View(ctx, s.Messages[:at:at])
		if err != nil {
			_ = run.Close(context.WithoutCancel(ctx))
			return Row{}, err
		}
		u, changed := b.bill(v.Messages, s.Messages[at])
		kept, err := m.kept(ctx, at, s.Messages[:at:at], &v)
		if err != nil {
			_ = run.Close(context.WithoutCancel(ctx))
			return Row{}, err
		}
		row.call(at, &v, u, changed, kept, r.o.Card)
		r.step()
	}
	if r.o.Where {
		row.Standing, row.Lost = m.where.sorted()
	}
	row.Money = moneyOf(r.o.Card, row.Usage, row.SummaryCost)
	return row, run.Close(ctx)
}

// step counts a finished call.
func (r *runner) step() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done++
	if r.o.Progress != nil {
		r.o.Progress(r.done, r.total+r.total/r.read*max(r.o.Expected-r.read, 0))
	}
}
