package redact

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Range is text[Start:End], in bytes.
type Range struct{ Start, End int }

// A Detector finds secrets that no pattern can describe, such as the entries of a list,
// or numbers with a checksum. The methods of a Detector must be safe for concurrent
// use.
type Detector interface {
	// Name returns the value of [Finding.Rule], in the form of [Rule.ID]. It
	// never changes.
	Name() string
	// Detect returns the ranges of secrets in a text, in any order. The text is plain,
	// or a decoded string of JSON; it may be redacted already. Decoded base64, URL
	// escapes and HTML escapes are passed only if they contain a word of a built-in
	// rule. Detect must return in time proportional to the text, because nothing
	// interrupts it. If it panics, or returns a range outside the text or with Start
	// after End, the whole text is treated as a secret (rule "unscanned"). A range
	// that splits a character is extended to the whole character.
	Detect(text string) []Range
}

// failedRule marks a text on which a detector failed. It is not unscannedRule itself:
// a view drops findings of unscannedRule, because those only mean that the budget was
// used up. The result of a failed detector must not be dropped.
var failedRule = &rule{id: unscannedRule.id, kind: unscannedRule.kind}

// customDetector is a detector of the caller with the rule for its findings.
type customDetector struct {
	Detector
	rule *rule
}

// detectors returns the rules and detectors of [Options], ready for use.
func (o Options) detectors() ([]customDetector, error) {
	var all []customDetector
	seen := map[string]bool{}
	add := func(d Detector) error {
		name := d.Name()
		switch {
		case !isRuleID(name):
			return &RuleError{Rule: name, Reason: "has a name that is not " + ruleIDForm}
		case isBuiltin(name), seen[name]:
			return &RuleError{Rule: name, Reason: "has the name of another rule"}
		}
		seen[name] = true
		all = append(all, customDetector{d, &rule{id: name, kind: strings.ReplaceAll(name, "-", "_"), rank: byData}})
		return nil
	}
	for _, r := range o.Rules {
		d, err := r.detector()
		if err == nil {
			err = add(d)
		}
		if err != nil {
			return nil, err
		}
	}
	for i, d := range o.Detectors {
		if d == nil {
			return nil, &RuleError{Rule: fmt.Sprintf("Detectors[%d]", i), Reason: "is nil"}
		}
		if err := add(d); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// detect runs the detectors of the caller.
func (r *Redactor) detect(sc *scan) {
	for _, d := range r.detectors {
		found, ok := d.ask(sc.s)
		for _, f := range found {
			ok = ok && f.Start >= 0 && f.Start <= f.End && f.End <= len(sc.s)
		}
		if !ok {
			sc.add(0, len(sc.s), failedRule)
			continue
		}
		for _, f := range found {
			f = f.whole(sc.s)
			sc.add(f.Start, f.End, d.rule)
		}
	}
}

// whole returns the range, extended to the whole characters of s that it splits.
func (f Range) whole(s string) Range {
	if f.Start == f.End {
		return f
	}
	start, _ := characterAt(s, f.Start)
	_, end := characterAt(s, f.End)
	return Range{start, end}
}

// characterAt returns the bounds of the character of s around i, or i twice if i is
// between characters.
func characterAt(s string, i int) (start, end int) {
	for k := i - 1; k >= max(0, i-utf8.UTFMax+1); k-- {
		if utf8.RuneStart(s[k]) {
			if _, n := utf8.DecodeRuneInString(s[k:]); k+n > i {
				return k, k + n
			}
			break
		}
	}
	return i, i
}

// ask calls Detect. It returns false if the detector panicked.
func (d customDetector) ask(text string) (found []Range, ok bool) {
	defer func() {
		if recover() != nil {
			found, ok = nil, false
		}
	}()
	return d.Detect(text), true
}
