package replay

import (
	"fmt"
	"slices"
	"strings"
)

// enough is the share of the needed identifiers that must have been in a
// policy's views for the policy to be recommended by its price.
const enough = 0.95

// verdict is the recommendation of a page: the recommended policy, the
// alternatives, and the reliability of the figures.
type verdict struct {
	Policy  string
	Words   string
	Besides []string
	Sure    []string
}

// verdictOf chooses among this module's policies that no other policy beats:
// the cheapest one that keeps enough, or else the one that keeps most. It
// returns nil if there is no policy to choose from.
func verdictOf(list []Total, count int) *verdict {
	var front []*Total
	own := sound(list)
	for i := range own {
		if !isDominated(&own[i], own) {
			front = append(front, &own[i])
		}
	}
	if len(front) == 0 {
		return nil
	}
	take, reason := choose(front)
	v := &verdict{Policy: take.Policy, Sure: sure(take, list, count)}
	v.Words = fmt.Sprintf("It costs %.1f %% of sending everything, and %.1f %% of the text that the answers needed was in view: %s.", 100*take.OfRaw.Value, 100*take.Held.Value, reason)
	for _, t := range front {
		if t != take {
			v.Besides = append(v.Besides, fmt.Sprintf("%s costs %.1f %% and had %.1f %% in view", t.Policy, 100*t.OfRaw.Value, 100*t.Held.Value))
		}
	}
	v.Besides = append(v.Besides, unsound(list)...)
	return v
}

// choose picks one of the policies that no other beats, and returns the reason.
func choose(front []*Total) (take *Total, reason string) {
	for _, t := range front {
		if t.Held.Value >= enough && (take == nil || t.OfRaw.Value < take.OfRaw.Value) {
			take = t
		}
	}
	if take != nil {
		return take, fmt.Sprintf("the cheapest that has %.0f %% or more", 100*enough)
	}
	for _, t := range front {
		if take == nil || t.Held.Value > take.Held.Value {
			take = t
		}
	}
	return take, fmt.Sprintf("no policy has %.0f %%, and this one has the most", 100*enough)
}

// noGain describes the benefit of a policy that saves no money.
func noGain(t *Total, list []Total) string {
	const text = "It saves no money on these sessions"
	raw := slices.IndexFunc(list, func(o Total) bool { return o.Reference && o.Policy == "raw" })
	switch n := max(t.Over, t.Refused); {
	case n > 0:
		return fmt.Sprintf("%s, and leaves %s of %s above the window", text, thousands(n), counted(t.Calls, "call"))
	case raw >= 0 && list[raw].Over == 0:
		return text + ", and every call fits the window without it"
	}
	return text + ": the gain is calls that fit the window"
}

// sure describes the reliability of a policy's figures.
func sure(t *Total, list []Total, count int) []string {
	var out []string
	switch {
	case t.OfRaw.Value > 0.9995:
		out = append(out, noGain(t, list))
	case t.OfRaw.High > 0.9995 && t.OfRaw.Low < t.OfRaw.High:
		out = append(out, fmt.Sprintf("That it saves money is not certain: in 95 of 100 samples of these sessions it costs %.1f–%.1f %%", 100*t.OfRaw.Low, 100*t.OfRaw.High))
	case t.OfRaw.Low < t.OfRaw.High:
		out = append(out, fmt.Sprintf("In 95 of 100 samples of these sessions it costs %.1f–%.1f %%, which is less than sending everything", 100*t.OfRaw.Low, 100*t.OfRaw.High))
	}
	if count < 10 {
		out = append(out, fmt.Sprintf("%s: too few to tell small differences", sessions(count)))
	}
	return out
}

// unsound describes the policies that leave calls above the window, including
// raw.
func unsound(list []Total) []string {
	var out []string
	for i := range list {
		t := &list[i]
		if n := max(t.Over, t.Refused); n > 0 && (!t.Reference || t.Policy == "raw") {
			name := t.Policy
			if t.Reference {
				name = "sending everything"
			}
			out = append(out, fmt.Sprintf("%s leaves %s of %s above the window", name, thousands(n), counted(t.Calls, "call")))
		}
	}
	return out
}

// sentences joins phrases to sentences.
func sentences(list []string) string {
	var b strings.Builder
	for _, s := range list {
		b.WriteString(strings.ToUpper(s[:1]) + s[1:] + ". ")
	}
	return strings.TrimSpace(b.String())
}

// sound returns the policies of this module that had a fitting view for every
// call, or all of them if none had.
func sound(list []Total) []Total {
	var own, sound []Total
	for _, t := range list {
		switch {
		case t.Reference:
			continue
		case t.Over == 0 && t.Refused == 0:
			sound = append(sound, t)
		}
		own = append(own, t)
	}
	if len(sound) > 0 {
		return sound
	}
	return own
}

// isDominated reports whether another policy is cheaper and keeps at least as much,
// or keeps more and is at most as expensive.
func isDominated(t *Total, list []Total) bool {
	for i := range list {
		o := &list[i]
		if o.OfRaw.Value > t.OfRaw.Value || o.Held.Value < t.Held.Value {
			continue
		}
		if o.OfRaw.Value < t.OfRaw.Value || o.Held.Value > t.Held.Value {
			return true
		}
	}
	return false
}

// shown formats a share with its interval; a dash for nil.
func shown(i *Interval) string {
	if i == nil {
		return "–"
	}
	return strings.TrimSpace(fmt.Sprintf("%.1f %% %s", 100*i.Value, i.Span()))
}

func valueOr(i *Interval, none float64) float64 {
	if i == nil {
		return none
	}
	return i.Value
}
