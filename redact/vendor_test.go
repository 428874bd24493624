package redact

import (
	"strings"
	"testing"
)

// vendorWords is the vocabulary of the vendor rules alone.
func vendorWords() *vocabulary {
	b := vocabularyBuilder{index: map[string]int{}}
	onVendors(&b)
	return b.build()
}

// TestVendorRulesMatchTheirOwnSamples compares the rules with their samples:
// every positive of a rule in the data is found, and no rule flags one of its
// negatives.
func TestVendorRulesMatchTheirOwnSamples(t *testing.T) {
	r := &Redactor{words: vendorWords()}
	ids := map[string]bool{}
	for _, v := range vendorRules {
		ids[v.id] = true
	}
	var c score
	for _, s := range readCorpus(t) {
		if s.set != "gitleaks" || !ids[strings.Split(s.ID, "/")[1]] {
			continue
		}
		if len(s.Secrets) > 0 {
			c.add(s, r.Text(s.Text).String())
			continue
		}
		c.negatives++
		for _, f := range r.Find(s.Text) {
			if f.Rule == strings.Split(s.ID, "/")[1] {
				c.flagged++
				t.Errorf("%s flags its own negative %q", f.Rule, s.Text)
			}
		}
	}
	t.Logf("%d rules: secrets %d/%d %.2f%%, negatives flagged %d/%d", len(ids), c.found, c.secrets, percent(c.found, c.secrets), c.flagged, c.negatives)
	for _, m := range c.missed {
		t.Errorf("missed: %s", m)
	}
}
