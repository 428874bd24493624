package redact

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A Rule describes an additional kind of secret for [Options], such as the keys of your
// company. It applies in addition to the built-in rules, in text, in decoded JSON and in
// text with terminal colors. Base64, URL escapes (%2D) and HTML escapes are decoded only
// if they contain a word of a built-in rule. So the rule does not find a secret that is
// encoded in one of these ways and has no such word beside it.
type Rule struct {
	// ID is the value of [Finding.Rule]: words of a-z and 0-9 with a - between
	// them, 32 characters at most.
	ID string
	// Words limits the search to texts that contain at least one of these words,
	// in any case. If it is empty, every text is searched.
	Words []string
	// Pattern is an RE2 expression. The first group, or else the whole match, is
	// the secret.
	Pattern string
	// Secrets are sample texts with a secret that the rule must find and remove, at
	// least one.
	Secrets []string
	// Clean are sample texts that the rule must leave unchanged, at least one.
	Clean []string
}

// RuleError is the reason why a [Rule] is invalid.
type RuleError struct {
	Rule   string // its ID
	Reason string // never quotes a sample
	Err    error  // the error of the pattern, else nil
}

func (e *RuleError) Error() string { return fmt.Sprintf("redact: rule %q %s", e.Rule, e.Reason) }

func (e *RuleError) Unwrap() error { return e.Err }

var ruleID = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// ruleIDForm describes the form of an ID for errors.
var ruleIDForm = fmt.Sprintf("1 to %d characters: words of a-z and 0-9, separated by hyphens", maxKind)

func isRuleID(id string) bool { return len(id) <= maxKind && ruleID.MatchString(id) }

// Check tests a rule with its own samples. The error is a *[RuleError]. [New]
// returns an error for a rule that Check refuses.
func (r Rule) Check() error {
	_, err := r.detector()
	return err
}

// ruleDetector is a rule ready for use.
type ruleDetector struct {
	id    string
	words []string // in lower case
	re    *regexp.Regexp
}

func (r Rule) detector() (*ruleDetector, error) {
	wrong := func(err error, reason string, args ...any) (*ruleDetector, error) {
		return nil, &RuleError{Rule: r.ID, Reason: fmt.Sprintf(reason, args...), Err: err}
	}
	switch {
	case !isRuleID(r.ID):
		return wrong(nil, "has an ID that is not %s", ruleIDForm)
	case isBuiltin(r.ID):
		return wrong(nil, "has the ID of a built-in rule")
	case len(r.Secrets) == 0 || len(r.Clean) == 0:
		return wrong(nil, "needs a sample of a secret and a clean one")
	}
	re, err := regexp.Compile(r.Pattern)
	switch {
	case err != nil:
		return wrong(err, "has a pattern that is not a regular expression: %v", err)
	case re.MatchString(""):
		return wrong(nil, "has a pattern that matches an empty text, and so every text")
	case re.MatchString(placeholderOpen + ">"):
		return wrong(nil, "has a pattern that matches %s>, the placeholder of redacted text", placeholderOpen)
	}
	d := &ruleDetector{id: r.ID, re: re}
	for _, w := range r.Words {
		if w == "" {
			return wrong(nil, "has an empty word")
		}
		d.words = append(d.words, strings.ToLower(w))
	}
	for i, s := range r.Secrets {
		if len(d.Detect(s)) == 0 {
			return wrong(nil, "does not find its sample Secrets[%d]", i)
		}
	}
	for i, s := range r.Clean {
		if len(d.Detect(s)) > 0 {
			return wrong(nil, "finds something in its sample Clean[%d]", i)
		}
	}
	return d, nil
}

// isBuiltin reports whether a rule of the vendor data has this ID.
func isBuiltin(id string) bool {
	return slices.ContainsFunc(vendorRules[:], func(v vendorRule) bool { return v.id == id })
}

// Name returns the ID.
func (d *ruleDetector) Name() string { return d.id }

// Detect returns the matches of the pattern. It skips empty groups, which contain
// no secret.
func (d *ruleDetector) Detect(text string) (found []Range) {
	if len(d.words) > 0 {
		small := strings.ToLower(text)
		if !slices.ContainsFunc(d.words, func(w string) bool { return strings.Contains(small, w) }) {
			return nil
		}
	}
	for _, m := range d.re.FindAllStringSubmatchIndex(text, -1) {
		at := Range{m[0], m[1]}
		if len(m) > 2 && m[2] >= 0 {
			at = Range{m[2], m[3]}
		}
		if at.Start < at.End {
			found = append(found, at)
		}
	}
	return found
}
