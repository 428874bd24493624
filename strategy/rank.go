package strategy

import "math"

// score says how likely an identifier is needed again, between 0 and 1: by
// what the assistant did with it, how often and how lately, and who brought it
// up. A reader who wants to know why a line is in a summary finds it here.
func (x *Index) score(e *Entity) float64 {
	span := float64(x.last-x.first) + 1
	age := float64(x.last-e.Last) / span
	z := -3.2
	z += 0.9 * math.Log1p(float64(e.Count[Said]+e.Count[Asked]))
	z += 0.5 * math.Log1p(float64(e.Count[Told]))
	z += 0.3 * math.Log1p(float64(e.Count[Shown]))
	z -= 1.5 * age
	if e.LastUsed > 0 {
		z += 0.8 - 0.8*float64(x.last-e.LastUsed)/span
	}
	if e.Previous {
		z += 0.8
	}
	if e.Carried > 0 {
		z += 0.8
	}
	return 1 / (1 + math.Exp(-z))
}
