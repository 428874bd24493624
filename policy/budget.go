package policy

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
)

// Limits are the numbers that a budget is made of.
type Limits struct {
	MaxContextTokens int     // the model's window
	MaxOutputTokens  int     // reserved for the answer; default 0
	HardCapBuffer    int     // reserved for what estimates miss; default 1500
	MarginPct        int     // the same as a share of the window, in percent, on top; default 0
	TriggerPct       float64 // share of the window at which a compaction is due; default 0.85
	TargetPct        float64 // share of the window that a compaction aims for; default 0.60
}

// A Budget is what a view may cost, in tokens.
type Budget struct {
	Max     int // the model's window
	Cap     int // B: no view costs more, see also [Budget.Aiming]
	Trigger int // a compaction is due from here
	Target  int // T: and goes on until here

	// MaxBytes is how large the request may be, in bytes; 0 = as large as it is. Where it is
	// larger, what is not text is taken out until TargetBytes.
	MaxBytes    int
	TargetBytes int

	limit    int // see Aiming; 0 = Cap
	shrinkTo int // keep counts are shrunk until here; 0 = until Cap
}

// ErrBudget is wrapped by the errors of [Limits.Budget].
var ErrBudget = errors.New("policy: the budget is not possible")

// Budget computes
//
//	B       = max_context_tokens - hard_cap_buffer - margin_pct / 100 * max_context_tokens - max_output_tokens
//	trigger = min(trigger_pct * max_context_tokens, B)
//	T       = min(target_pct * max_context_tokens, target_pct/trigger_pct * trigger)
//
// in exact decimal arithmetic: 0.85 of 128,000 is 108,800, and a view of
// 108,800 tokens triggers. All mistakes are reported at once.
func (l Limits) Budget() (Budget, error) {
	margin := l.MaxContextTokens * l.MarginPct / 100
	b := Budget{Max: l.MaxContextTokens, Cap: l.MaxContextTokens - l.HardCapBuffer - margin - l.MaxOutputTokens}
	if err := l.check(b.Cap, margin); err != nil {
		return Budget{}, err
	}
	limit := big.NewRat(int64(b.Cap), 1)
	trigger := lesser(new(big.Rat).Mul(decimal(l.TriggerPct), big.NewRat(int64(b.Max), 1)), limit)
	target := lesser(
		new(big.Rat).Mul(decimal(l.TargetPct), big.NewRat(int64(b.Max), 1)),
		new(big.Rat).Mul(new(big.Rat).Quo(decimal(l.TargetPct), decimal(l.TriggerPct)), trigger))
	b.Trigger, b.Target = ceil(trigger), floorOf(target)
	return b, nil
}

// check reports what cannot be, with the paths of the settings.
func (l Limits) check(left, margin int) error {
	var errs []error
	if left <= 0 {
		with, less := []string{"policy.hard_cap_buffer", "max_output_tokens"}, ""
		if margin > 0 {
			with, less = append(with, "policy.margin_pct"), fmt.Sprintf(", policy.margin_pct %d (%d tokens)", l.MarginPct, margin)
		}
		errs = append(errs, &ConfigError{Path: "max_context_tokens", With: with, Err: ErrBudget, Reason: fmt.Sprintf(
			"%d less policy.hard_cap_buffer %d%s and max_output_tokens %d leaves %d tokens for the conversation",
			l.MaxContextTokens, l.HardCapBuffer, less, l.MaxOutputTokens, left)})
	}
	for _, p := range []struct {
		path string
		pct  float64
	}{{"policy.trigger_pct", l.TriggerPct}, {"policy.target_pct", l.TargetPct}} {
		if !(p.pct > 0 && p.pct <= 1) {
			errs = append(errs, &ConfigError{Path: p.path, Value: p.pct, Err: ErrBudget, Reason: "must be 0.0-1.0 and above 0.0"})
		}
	}
	if len(errs) == 0 && l.TargetPct >= l.TriggerPct {
		errs = append(errs, &ConfigError{
			Path: "policy.target_pct", With: []string{"policy.trigger_pct"}, Value: l.TargetPct, Err: ErrBudget,
			Reason: fmt.Sprintf("must be below policy.trigger_pct %v", l.TriggerPct),
		})
	}
	return errors.Join(errs...)
}

// decimal is the number that was written, not the nearest binary fraction.
func decimal(f float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	return r
}

func lesser(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

func floorOf(r *big.Rat) int { return int(new(big.Int).Div(r.Num(), r.Denom()).Int64()) }

func ceil(r *big.Rat) int {
	n := new(big.Int).Add(r.Num(), r.Denom())
	return int(n.Sub(n, big.NewInt(1)).Div(n, r.Denom()).Int64())
}

// Due returns the number of tokens at which the next compaction is due, given
// what the last one ended at (0: there was none): a session whose floor lies
// above the target must not compact on every turn, and what a compaction
// ended at never makes the next one due.
func (b Budget) Due(last int) int {
	if last <= 0 || b.Trigger > b.Cap {
		return b.Trigger
	}
	return max(min(b.Cap, max(b.Trigger, last+b.Trigger-b.Target)), last+1)
}

// Deeper returns the budget of a compaction in a session that grows by so many
// tokens from one call to the next. Where that is more than lies between target
// and trigger, the next call would compact again: this one goes on until there
// is room for two more.
func (b Budget) Deeper(growth int) Budget {
	if b.Trigger <= b.Cap && growth > b.Trigger-b.Target {
		b.Target = max(min(b.Target, b.Trigger-2*growth), 0)
		b.shrinkTo = max(b.Trigger-growth, 0)
	}
	return b
}

// CapOnly returns the budget of an engine that aims for no target: a view that
// costs no more than the cap is as it should be.
func (b Budget) CapOnly() Budget {
	b.Trigger, b.Target = b.Cap+1, b.Cap
	return b
}

// Aiming returns the budget of a compaction whose stages work for a cap and a
// target that are lower than what a view may cost: where counts are approximate,
// what a view hardly exceeds is to fit too, and is what the trigger is held
// against the next time, so that a target in other units would leave little
// between the two. A view that does not get there is no error.
func (b Budget) Aiming(aim, target int) Budget {
	if aim >= b.Cap {
		return b
	}
	b.limit, b.Cap, b.Target = b.most(), max(aim, 0), min(b.Target, max(target, 0))
	b.Target, b.shrinkTo = min(b.Target, b.Cap), min(b.shrinkTo, b.Cap)
	return b
}

// most is what a view may cost.
func (b Budget) most() int { return max(b.limit, b.Cap) }
