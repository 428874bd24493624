package policy

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
)

// A Budget limits the size of a view. Sizes are in tokens unless the name says
// bytes.
type Budget struct {
	Max     int // the model's window
	Cap     int // B: the largest allowed cost of a view; see also [Budget.Aiming]
	Trigger int // a compaction is due at this size
	Target  int // T: the size that a compaction aims for

	// MaxBytes is the largest allowed request body in bytes; 0 means no limit.
	// A larger request loses media until it has TargetBytes.
	MaxBytes    int
	TargetBytes int

	limit    int // the real cap if Aiming has lowered Cap; 0 = Cap
	shrinkTo int // keep counts are reduced until the view has this size; 0 = Cap
}

// Budget computes the budget for a model with this window, of which answer tokens are
// reserved for the answer:
//
//	B       = window - hard_cap_buffer - margin_pct / 100 * window - answer
//	trigger = min(trigger_pct * window, B)
//	T       = min(target_pct * window, target_pct/trigger_pct * trigger)
//
// in exact decimal arithmetic: 0.85 of 128,000 is 108,800, and a view of 108,800 tokens
// triggers a compaction. All mistakes are reported at once, each as a [*ConfigError].
func (c Config) Budget(window, answer int) (Budget, error) {
	margin := window * c.MarginPct / 100
	b := Budget{Max: window, Cap: window - c.HardCapBuffer - margin - answer}
	if err := c.checkBudget(b, answer, margin); err != nil {
		return Budget{}, err
	}
	limit := big.NewRat(int64(b.Cap), 1)
	trigger := lesser(new(big.Rat).Mul(decimal(c.TriggerPct), big.NewRat(int64(b.Max), 1)), limit)
	target := lesser(
		new(big.Rat).Mul(decimal(c.TargetPct), big.NewRat(int64(b.Max), 1)),
		new(big.Rat).Mul(new(big.Rat).Quo(decimal(c.TargetPct), decimal(c.TriggerPct)), trigger))
	b.Trigger, b.Target = ceil(trigger), floorOf(target)
	return b, nil
}

// checkBudget reports settings that make no budget, with their paths.
func (c Config) checkBudget(b Budget, answer, margin int) error {
	var errs []error
	if b.Cap <= 0 {
		with, less := []string{"policy.hard_cap_buffer", "max_output_tokens"}, ""
		if margin > 0 {
			with, less = append(with, "policy.margin_pct"), fmt.Sprintf(", policy.margin_pct %d (%d tokens)", c.MarginPct, margin)
		}
		errs = append(errs, &ConfigError{Path: "max_context_tokens", With: with, Reason: fmt.Sprintf(
			"%d less policy.hard_cap_buffer %d%s and max_output_tokens %d leaves %d tokens for the conversation",
			b.Max, c.HardCapBuffer, less, answer, b.Cap)})
	}
	for _, p := range []struct {
		path string
		pct  float64
	}{{"policy.trigger_pct", c.TriggerPct}, {"policy.target_pct", c.TargetPct}} {
		if !(p.pct > 0 && p.pct <= 1) {
			errs = append(errs, &ConfigError{Path: p.path, Value: p.pct, Reason: "must be 0.0-1.0 and above 0.0"})
		}
	}
	if len(errs) == 0 && c.TargetPct >= c.TriggerPct {
		errs = append(errs, &ConfigError{
			Path: "policy.target_pct", With: []string{"policy.trigger_pct"}, Value: c.TargetPct,
			Reason: fmt.Sprintf("must be below policy.trigger_pct %v", c.TriggerPct),
		})
	}
	return errors.Join(errs...)
}

// decimal returns the decimal number in the configuration, not the nearest binary
// fraction.
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

// Due returns the size in tokens at which the next compaction is due. last is
// the size that the previous compaction reached, 0 if there was none. The result is always
// above last, so that the view of a compaction does not trigger the next compaction. It
// leaves the distance between target and trigger for new messages, as far as the cap
// allows, even if last is above the target.
func (b Budget) Due(last int) int {
	if last <= 0 || b.Trigger > b.Cap {
		return b.Trigger
	}
	return max(min(b.Cap, max(b.Trigger, last+b.Trigger-b.Target)), last+1)
}

// Deeper returns a budget for a session that grows by growth tokens per call.
// If growth exceeds the distance between target and trigger, the very next call
// would compact again. The returned budget then has a lower target, which leaves
// room for two more calls.
func (b Budget) Deeper(growth int) Budget {
	if b.Trigger <= b.Cap && growth > b.Trigger-b.Target {
		b.Target = max(min(b.Target, b.Trigger-2*growth), 0)
		b.shrinkTo = max(b.Trigger-growth, 0)
	}
	return b
}

// CapOnly returns a budget without a target, for an engine that only keeps the
// view below the cap.
func (b Budget) CapOnly() Budget {
	b.Trigger, b.Target = b.Cap+1, b.Cap
	return b
}

// Aiming returns a budget with a lower cap and a lower target for the stages. It is
// for approximate token counts, where the upper bound of the count must fit as well.
// The target is lowered too, because the trigger is compared with that upper bound: a
// target for the approximate count would be too close to the trigger. A view between aim
// and the real cap is not an error.
func (b Budget) Aiming(aim, target int) Budget {
	if aim >= b.Cap {
		return b
	}
	b.limit, b.Cap, b.Target = b.Most(), max(aim, 0), min(b.Target, max(target, 0))
	b.Target, b.shrinkTo = min(b.Target, b.Cap), min(b.shrinkTo, b.Cap)
	return b
}

// Most returns the real cap: the largest cost at which a view is not refused.
func (b Budget) Most() int { return max(b.limit, b.Cap) }
