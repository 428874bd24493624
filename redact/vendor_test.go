package redact

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// vendorWords is the vocabulary of the vendor rules alone.
func vendorWords() *vocabulary {
	b := vocabularyBuilder{index: map[string]int{}}
	onVendors(&b)
	return b.build()
}

// TestVendorRulesAloneMeetTheirOwnCorpus holds the rules to the samples that
// they come with: every positive found, and no negative of a rule flagged by
// that rule.
func TestVendorRulesAloneMeetTheirOwnCorpus(t *testing.T) {
	r := &Redactor{words: vendorWords()}
	var c score
	for _, s := range readCorpus(t) {
		if s.set != "gitleaks" {
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
	t.Logf("secrets %d/%d %.2f%%, negatives flagged %d/%d", c.found, c.secrets, percent(c.found, c.secrets), c.flagged, c.negatives)
	if dir := os.Getenv("COMPACT_REDACTION_REPORT"); dir != "" {
		writeReport(t, filepath.Join(dir, "vendor"), &c)
	}
	if percent(c.found, c.secrets) < 99.5 {
		t.Errorf("recall %.2f%%", percent(c.found, c.secrets))
	}
}
