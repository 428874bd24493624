package replay

import "fmt"

// Figures are the cost and the kept share of a setting.
type Figures struct {
	OfRaw    Interval // cost, as a share of sending everything
	Held     Interval // share of the needed identifiers in view
	OfPreset Interval // cost, as a share of the preset graduated on the same sessions
	Over     int      // calls above the window, or refused
}

// figures sums up rows; preset are the rows of the preset for the same
// sessions.
func figures(rows, preset []tuneRow) (f Figures) {
	if len(rows) == 0 {
		return f
	}
	f.OfRaw = resampled(len(rows), func(i int) (float64, float64) { return rows[i].cost, rows[i].raw })
	f.Held = resampled(len(rows), func(i int) (float64, float64) { return float64(rows[i].held), float64(rows[i].needed) })
	f.OfPreset = resampled(len(rows), func(i int) (float64, float64) { return rows[i].cost, preset[i].cost })
	for _, r := range rows {
		f.Over += r.over
	}
	return f
}

// doubt records why the sessions are too few for reliable figures.
func (t *Tuning) doubt() {
	const leastSessions, leastProjects = 8, 3
	if t.Sessions < leastSessions {
		t.TooFew = append(t.TooFew, fmt.Sprintf("%s: with fewer than %d, the intervals mean little", sessions(t.Sessions), leastSessions))
	}
	if t.Projects < leastProjects {
		t.TooFew = append(t.TooFew, fmt.Sprintf("sessions of %s: with fewer than %d, the needs of other projects are unknown", counted(t.Projects, "project"), leastProjects))
	}
	if t.Folds == 0 {
		return
	}
	if t.Expected.Held.Low < t.Options.Keep {
		t.TooFew = append(t.TooFew, fmt.Sprintf("on sessions that were not used for the choice, %.1f %% of the needed text was in view %s: a share of %.1f %% or more is not certain",
			100*t.Expected.Held.Value, t.Expected.Held.Span(), 100*t.Options.Keep))
	}
	if of := t.Expected.OfPreset; of.Low < 1 && of.High > 1 {
		t.TooFew = append(t.TooFew, fmt.Sprintf("on these sessions the setting cost %.1f %% of the preset's cost %s: a lower cost is not certain", 100*of.Value, of.Span()))
	}
}
