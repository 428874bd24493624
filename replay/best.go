package replay

import (
	"fmt"
	"strings"
)

// best says which policies of this module nobody has to choose another for: no
// other of them is cheaper and keeps as much. One that leaves calls above the
// window, or refuses some, is none where there are others.
func best(list []Total) string {
	list = sound(list)
	var names []string
	for i := range list {
		if t := &list[i]; !beaten(t, list) {
			names = append(names, fmt.Sprintf("%s (%.0f %% of the cost, %.1f %% of what was needed)", t.Policy, 100*t.OfRaw.Value, 100*t.Held.Value))
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return "The cheapest policy keeps most, too: " + names[0] + "."
	}
	return "The choice is between " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + ": each of the others is dearer than one of these and keeps less, or has no view for some calls."
}

// sound returns the policies of this module that had a view for every call; all
// of them where there is none.
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

// beaten reports whether another policy of this module is cheaper and keeps as
// much, or keeps more and is as cheap.
func beaten(t *Total, list []Total) bool {
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

// shown prints a share with its interval; a dash where there is none.
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
