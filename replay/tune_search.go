package replay

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
)

// share divides the evaluations. A fifth is a pool of random settings, drawn once for
// all searches without looking at the sessions. The other settings are divided among
// the searches: one search on all sessions and one per fold.
func (t *tuner) share(folds int) {
	searches := 1
	if folds > 1 {
		searches += folds
	}
	rng := rand.New(rand.NewPCG(t.o.Seed, 0)) //nolint:gosec // the seed makes it repeatable
	t.pool = []candidate{{}}                  // the zero candidate is the preset
	for drawn := t.o.Evaluations / 5; len(t.pool) < drawn; {
		if k := (candidate{}).random(rng); !slices.Contains(t.pool, k) {
			t.pool = append(t.pool, k)
		}
	}
	t.climb = (t.o.Evaluations - len(t.pool)) / searches
}

// scored is a candidate with its score; lower is better.
type scored struct {
	candidate
	score float64
}

// search returns the best setting that it finds for sessions. Their order must be such that each
// beginning of the list represents all sessions. search drops the worse half of the pool after a
// third of the sessions and again after two thirds. Then it tries neighbors of the best setting; in
// one of three tries, neighbors of one of the best five, to escape from a setting that no single
// step improves. When ctx ends, it returns the best setting so far, with the context's error; the
// preset must be known then.
func (t *tuner) search(ctx context.Context, sessions []int, fold uint64) (candidate, error) {
	found, seen, err := t.halve(ctx, sessions)
	rng := rand.New(rand.NewPCG(t.o.Seed, fold+1)) //nolint:gosec // as above
	for n := 0; n < t.climb && err == nil; n++ {
		k := unseen(rng, found, seen)
		seen[k] = true
		var s scored
		var whole bool
		if s, whole, err = t.race(ctx, k, found[0].candidate, sessions); whole {
			found = append(found, s)
			slices.SortStableFunc(found, byScore)
		}
	}
	if len(found) == 0 {
		return candidate{}, err
	}
	return found[0].candidate, err
}

func byScore(a, b scored) int { return cmp.Compare(a.score, b.score) }

// rungs returns the numbers of sessions after which a setting is judged again:
// a third, two thirds, all.
func rungs(n int) []int { return slices.Compact([]int{(n + 2) / 3, (2*n + 2) / 3, n}) }

// halve replays the pool. It returns the settings that were replayed on all
// sessions, best first, and all settings of the pool.
func (t *tuner) halve(ctx context.Context, sessions []int) (found []scored, seen map[candidate]bool, err error) {
	seen = map[candidate]bool{}
	left := slices.Clone(t.pool)
	for _, k := range left {
		seen[k] = true
	}
	for _, n := range rungs(len(sessions)) {
		if err := t.fill(ctx, left, sessions[:n]); err != nil {
			return t.whole(t.pool, sessions), seen, err
		}
		found = found[:0]
		for _, k := range left {
			rows, _ := t.stored(k, sessions[:n])
			found = append(found, scored{k, t.score(rows)})
		}
		slices.SortStableFunc(found, byScore)
		left = left[:0]
		for _, f := range found[:(len(found)+1)/2] {
			left = append(left, f.candidate)
		}
	}
	return found, seen, nil
}

// whole returns the settings that are known on all sessions, best first.
func (t *tuner) whole(settings []candidate, sessions []int) (found []scored) {
	for _, k := range settings {
		if rows, all := t.stored(k, sessions); all {
			found = append(found, scored{k, t.score(rows)})
		}
	}
	slices.SortStableFunc(found, byScore)
	return found
}

// unseen returns a neighbor that was not tried, if it finds one within 100
// draws.
func unseen(rng *rand.Rand, found []scored, seen map[candidate]bool) (k candidate) {
	for range 100 {
		from := found[0]
		if rng.IntN(3) == 0 {
			from = found[rng.IntN(min(len(found), 5))]
		}
		if k = from.near(rng); !seen[k] {
			break
		}
	}
	return k
}

// race replays a setting until it is clearly worse than the best one; whole is
// false then. On a part of the sessions it tolerates a small difference.
func (t *tuner) race(ctx context.Context, k, best candidate, sessions []int) (s scored, whole bool, err error) {
	const forgiven = 0.03
	for _, n := range rungs(len(sessions)) {
		rows, err := t.rows(ctx, k, sessions[:n])
		if err != nil {
			return s, false, err
		}
		if n == len(sessions) {
			break
		}
		beside, _ := t.stored(best, sessions[:n])
		if t.scoreFor(rows, t.o.Keep-forgiven) > t.scoreFor(beside, t.o.Keep)+forgiven {
			return s, false, nil
		}
	}
	rows, _ := t.stored(k, sessions)
	return scored{k, t.score(rows)}, true, nil
}

// score returns the value that a search minimizes: the cost as a share of raw.
// If the setting keeps too little, or a call is above the window, the score is
// above any cost, and grows with the shortfall.
func (t *tuner) score(rows []tuneRow) float64 { return t.scoreFor(rows, t.o.Keep) }

func (t *tuner) scoreFor(rows []tuneRow, keep float64) float64 {
	const dear = 1000
	var cost, raw, needed, held, over float64
	for _, r := range rows {
		cost, raw = cost+r.cost, raw+r.raw
		needed, held, over = needed+float64(r.needed), held+float64(r.held), over+float64(r.over)
	}
	s := cost / max(raw, 1e-12)
	if needed > 0 && held/needed < keep {
		s += dear * (1 + keep - held/needed)
	}
	if over > 0 {
		s += dear * (2 + over)
	}
	return s
}
