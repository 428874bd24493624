package redact

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Options configures a [Redactor]. The zero value enables every default rule,
// but not the PII rules.
type Options struct {
	Disabled bool     // nothing is redacted; every export then carries a high-severity event
	Strict   bool     // the two patterns of the specification apply literally, without the filter on the value
	Patterns []string // additional RE2 patterns; the first group, or otherwise the whole match, is the secret
	PII      bool     // e-mail, phone, card and IBAN rules

	// Rules and Detectors find secrets in addition to the built-in rules. [New] tests each
	// rule with its samples.
	Rules     []Rule
	Detectors []Detector

	// Pseudonyms is a key of at least MinPseudonymKey bytes. With it a
	// placeholder has the kind of the secret and a short keyed hash of it,
	// <REDACTED:aws_key:7f3a>, which is equal for equal secrets. Without it
	// (the default) every placeholder is <REDACTED>.
	Pseudonyms []byte
}

// A Redactor finds and replaces secrets. It is safe for concurrent use.
type Redactor struct {
	opts     Options
	words    *vocabulary
	patterns []pattern

	detectors []customDetector
}

// pattern is a pattern of [Options], or one of the literal patterns of Strict.
type pattern struct {
	re   *regexp.Regexp
	rule *rule
}

// PatternError is a pattern of [Options] that does not compile.
type PatternError struct {
	Index   int // index in Options.Patterns
	Pattern string
	Err     error
}

func (e *PatternError) Error() string {
	return fmt.Sprintf("redact: patterns[%d] %q: %v", e.Index, e.Pattern, e.Err)
}

func (e *PatternError) Unwrap() error { return e.Err }

var strictPatterns = []string{`(?i)api[_-]?key\s*[:=]\s*(\S+)`, `(?i)password\s*[:=]\s*(\S+)`}

// New returns a Redactor. Its error is a [*PatternError] for the first pattern
// that does not compile, a [*RuleError] for the first rule that can't be used, or
// [ErrShortKey]. It does not retain the slices of o.
func New(o Options) (*Redactor, error) {
	if n := len(o.Pseudonyms); n > 0 && n < MinPseudonymKey {
		return nil, ErrShortKey
	}
	o.Patterns, o.Pseudonyms = slices.Clone(o.Patterns), slices.Clone(o.Pseudonyms)
	r := &Redactor{opts: o, words: defaultWords()}
	if o.PII {
		r.words = personalWords()
	}
	if o.Strict {
		for _, p := range strictPatterns {
			r.patterns = append(r.patterns, pattern{regexp.MustCompile(p), &rule{id: "strict", kind: "secret"}})
		}
	}
	for i, p := range o.Patterns {
		re, err := regexp.Compile(p)
		if err != nil {
			return nil, &PatternError{Index: i, Pattern: p, Err: err}
		}
		r.patterns = append(r.patterns, pattern{re, &rule{id: fmt.Sprintf("patterns[%d]", i), kind: "custom"}})
	}
	var err error
	r.detectors, err = o.detectors()
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Enabled reports whether anything is redacted at all.
func (r *Redactor) Enabled() bool { return !r.opts.Disabled }

// Text redacts plain text. Text that is JSON as a whole is treated as JSON.
func (r *Redactor) Text(s string) Text { return Text{r.redact(s, document{})} }

// redact redacts until nothing more is found, but at most maxPasses times. Several
// passes are needed because one secret may hide another one beside it.
func (r *Redactor) redact(s string, d document) string {
	if r.opts.Disabled {
		return s
	}
	sc := r.scan()
	defer sc.release()
	d.sc = sc
	for range maxPasses {
		found := d.all(s)
		if len(found) == 0 {
			break
		}
		s = r.replace(s, found)
	}
	return s
}

// scan returns a scan for one call.
func (r *Redactor) scan() *scan {
	sc := scans.Get().(*scan)
	sc.r = r
	return sc
}

const maxPasses = 8

// replace puts a placeholder in place of each span.
func (r *Redactor) replace(s string, found []span) string {
	var b strings.Builder
	b.Grow(len(s))
	at := 0
	for _, f := range found {
		b.WriteString(s[at:f.start])
		b.WriteString(f.quote)
		b.WriteString(r.placeholder(f))
		b.WriteString(f.quote)
		at = f.end
	}
	b.WriteString(s[at:])
	return b.String()
}

// matchPatterns applies the user's patterns. If there is a group, the first
// group is the secret.
func (r *Redactor) matchPatterns(sc *scan) {
	for _, p := range r.patterns {
		for _, m := range p.re.FindAllStringSubmatchIndex(sc.s, -1) {
			if len(m) > 2 && m[2] >= 0 {
				sc.add(m[2], m[3], p.rule)
				continue
			}
			sc.add(m[0], m[1], p.rule)
		}
	}
}

// JSON redacts the strings inside one JSON value, at any depth of encoding
// (JSON in a string too), keys included. The result is valid JSON with the same
// structure. Input that is not JSON is treated as text.
func (r *Redactor) JSON(raw []byte) Text { return Text{r.redact(string(raw), document{json: true})} }

// Record is JSON for the records that this project itself writes (ledger,
// events): string values that are wholly a hex digest (12 to 64 lower-case
// digits) are kept even if a user's pattern matches them, unless other members
// of the object mark them as a secret, such as kind: Secret.
func (r *Redactor) Record(raw []byte) Text {
	return Text{r.redact(string(raw), document{json: true, record: true})}
}
