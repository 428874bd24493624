package replay

import (
	"fmt"
	"strings"
)

// YAML returns the settings as a configuration file, with the expected figures
// in comments.
func (t *Tuning) YAML() (string, error) {
	body, err := t.best.yaml()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, "# "+format+"\n", args...) }
	if t.Cut != "" {
		say("UNFINISHED: the search was %s; these are the best so far.", t.Cut)
	}
	say("Found by compactctl tune: the cheapest of %d settings that hold %.4g %% of the needed identifiers in view.", t.Tried, 100*t.Options.Keep)
	say("%s of %s, window %s, tokens of %s, prices of %s, a call every %s, seed %d.",
		sessions(t.Sessions), counted(t.Projects, "project"), thousands(t.Options.Window), countedBy(t.Options.Model), t.cardNamed, t.Options.Gap, t.Options.Seed)
	if !t.Met {
		say("None of them keeps that much: this one comes closest.")
	}
	switch {
	case t.Folds > 0:
		say("Expected, on projects that the choice has not seen (%d folds): %s.", t.Folds, t.Expected.words())
	default:
		say("Nothing says what to expect on other sessions: the choice was not cross-validated.")
	}
	say("On the sessions that it was chosen by: %s.", t.Chosen.words())
	say("The preset graduated on them: %s.", t.Default.words())
	if edges := t.best.edges(); len(edges) > 0 {
		say("At the edge of the search, so values beyond it may be better: %s.", strings.Join(edges, ", "))
	}
	for _, why := range t.TooFew {
		say("Too few sessions to tell: %s.", why)
	}
	return b.String() + body, nil
}

func (f *Figures) words() string {
	s := fmt.Sprintf("costs %s of the policy raw, keeps %s of the needed text in view", shown(&f.OfRaw), shown(&f.Held))
	if of := f.OfPreset; of.Value != 1 || of.Low != of.High {
		s += fmt.Sprintf(", costs %s of the preset's cost", shown(&of))
	}
	if f.Over > 0 {
		s += fmt.Sprintf(", %d calls above the window or refused", f.Over)
	}
	return s
}
