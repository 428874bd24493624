package compact

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/trace"
)

// sayGuess warns, once for each model, that its window is a guess. A plan
// always warns, and does not use up the warning.
func (c *call) sayGuess() {
	name := c.ep.model.name
	if c.q.window > 0 || !c.m.cfg.windowIsGuessed(name) || !c.q.dry && !c.m.sayOnce(name) {
		return
	}
	why := fmt.Sprintf("the window of model %q is not known", name)
	if name == "" {
		why = "no model is named, so its window is not known"
	}
	c.res.Warnings = append(c.res.Warnings, c.m.redactor.Text(fmt.Sprintf("%s: %d tokens are a guess; set %s", why, c.ep.window, c.m.cfg.windowSetting(name))).String())
}

// sayOnce reports whether this is the first warning with a key.
func (m *CompactManager) sayOnce(model string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.said[model] {
		return false
	}
	if len(m.said) >= maxEpochs || m.said == nil {
		m.said = map[string]bool{} // requests can name any model
	}
	m.said[model] = true
	return true
}

// sayTools warns about tool schemas that are not a JSON array, once for each
// manager. A plan always warns. This is not an error: an agent should continue
// even if its schemas are counted inaccurately.
func (c *call) sayTools() {
	tools := bytes.TrimSpace(c.q.tools)
	if len(tools) == 0 || string(tools) == "null" || tools[0] == '[' && json.Valid(tools) {
		return
	}
	if c.q.dry || c.m.sayOnce("WithTools\x00") { // this key is not the name of a model
		c.res.Warnings = append(c.res.Warnings, "the tool schemas (WithTools) are not a JSON array: they are counted as text, and a recall tool among them is not recognized; pass the field tools of the request")
	}
}

// sayChanged reports newly found changed files once, in the result and in an
// event. Dry runs and observed calls don't use up the report.
func (c *call) sayChanged() {
	if c.s == nil {
		return
	}
	c.s.mu.Lock()
	fresh := c.s.changes.all[c.s.changes.told:]
	if !c.q.dry && !c.q.observe {
		c.s.changes.told = len(c.s.changes.all)
	}
	c.s.mu.Unlock()
	for _, e := range fresh {
		c.res.Warnings = append(c.res.Warnings, c.m.redactor.Text("the archive was changed: "+e.Error()).String())
		c.emitError("ArchiveChanged", insteadOf(e), e)
	}
}

// sayKeys adds the pending warnings about keys to the result. It reports once, in
// the result and in an event, that steps of the session are unknown because their
// keys are lost; dry runs don't use up this report. It logs once that the archive
// has sessions of version 1.
func (c *call) sayKeys() {
	if c.s == nil || c.q.observe {
		return
	}
	for _, why := range c.m.keys.takeSaid() {
		c.res.Warnings = append(c.res.Warnings, c.m.redactor.Text(why).String())
	}
	c.s.mu.Lock()
	fresh := c.s.lost[c.s.lostTold:]
	old := c.s.version1
	if !c.q.dry {
		c.s.lostTold = len(c.s.lost)
	}
	c.s.mu.Unlock()
	if old {
		c.m.sayVersion1(c.id)
	}
	for _, id := range fresh {
		err := &LostKeyError{Key: id}
		c.res.Warnings = append(c.res.Warnings, err.Error())
		c.emitError("ArchiveKeyLost", trace.FallbackNewEpoch, err)
	}
}

// sayVersion1 logs, once for each manager, that an archive has sessions of
// version 1.
func (m *CompactManager) sayVersion1(session string) {
	if m.saidVersion1.CompareAndSwap(false, true) {
		m.log().Warn("compact: the archive has sessions of format version 1: a reader of them can test guesses of redacted text; new steps have a key", "session", session)
	}
}

// warnLate adds a warning to each result while nothing is archived, and starts
// another attempt to open the archive if one is due.
func (c *call) warnLate() {
	if c.s.late == nil || c.q.dry {
		return
	}
	_, err := c.s.late.get()
	if err == nil {
		return
	}
	failed := &ArchiveError{Op: "open", Session: c.id, Err: err}
	c.res.Warnings = append(c.res.Warnings, c.m.redactor.Text("nothing is archived (storage.on_error: continue): "+failed.Error()).String())
	c.emitError("ArchiveFailed", "continue", failed)
}

// sayPrices warns about wrong prices, once for each manager and model. A dry run
// always warns, and does not use up the warning.
func (c *call) sayPrices() {
	what := c.wrongPrices()
	if what != "" && (c.q.dry || c.m.sayOnce("prices "+c.ep.name)) {
		c.res.Warnings = append(c.res.Warnings, c.m.redactor.Text(what).String())
	}
}

func (c *call) wrongPrices() string {
	card, economic := &c.ep.card, c.ep.cfg.Policy.When == policy.Economic
	switch {
	case c.ep.priceErr != nil:
		return c.ep.priceErr.Error() + "; the list prices are used (" + card.String() + ")"
	case economic && card.CacheRead <= 0:
		return "the price of cached prompt tokens is unknown or zero: policy.when economic can't compare costs, and only the window's trigger works"
	case economic && card.Relative && c.ep.name == "":
		return "no model is named, so its price is not known: policy.when economic uses OpenAI's price ratios; set model, prices.model, or prices.input"
	case economic && card.Relative:
		return fmt.Sprintf("no price of model %q is known: policy.when economic uses the price ratios of its provider; set prices.model, or prices.input", c.ep.name)
	}
	return ""
}
