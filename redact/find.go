package redact

// Finding is a secret that a rule found.
type Finding struct {
	Rule       string // name of the rule, like "password", "aws-access-token" or "patterns[0]"
	Start, End int    // in bytes, of the text that was searched
}

// Find returns the secrets of s in order, without overlaps, as Text would replace them.
// It finds no secrets if redaction is disabled.
func (r *Redactor) Find(s string) []Finding {
	if r.opts.Disabled {
		return nil
	}
	sc := r.scan()
	defer sc.release()
	d := document{sc: sc}
	var all []Finding
	for _, e := range d.all(s) {
		all = append(all, Finding{Rule: e.rule.id, Start: e.start, End: e.end})
	}
	return all
}

// Stats counts findings by rule.
type Stats map[string]int

// Count adds findings to the statistics.
func (s Stats) Count(found []Finding) {
	for _, f := range found {
		s[f.Rule]++
	}
}

// Total returns the number of findings.
func (s Stats) Total() int {
	n := 0
	for _, c := range s {
		n += c
	}
	return n
}
