package replay

import (
	"fmt"
	"strings"
)

// best says which policies of this module nobody has to choose another for: no
// other of them is cheaper and keeps as much.
func best(list []Total) string {
	var names []string
	for i := range list {
		if t := &list[i]; !t.Reference && !beaten(t, list) {
			names = append(names, fmt.Sprintf("%s (%.0f %% of the cost, %.1f %% of what was needed)", t.Policy, 100*t.OfRaw.Value, 100*t.Held.Value))
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return "The cheapest policy keeps most, too: " + names[0] + "."
	}
	return "The choice is between " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + ": each of the others is dearer than one of these and keeps less."
}

// beaten reports whether another policy of this module is cheaper and keeps as
// much, or keeps more and is as cheap.
func beaten(t *Total, list []Total) bool {
	for i := range list {
		o := &list[i]
		if o.Reference || o.OfRaw.Value > t.OfRaw.Value || o.Held.Value < t.Held.Value {
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
