package redact

import "errors"

// ErrNotObject is returned by [Redactor.JSONField] for a line that is not a JSON
// object.
var ErrNotObject = errors.New("redact: not a JSON object")

// JSONField redacts one member of a JSON object, at any depth below it, and leaves
// every other byte of the line unchanged. It takes one line of JSONL; white space
// around the object stays. A missing member is not an error, and several members of the
// same name are all redacted.
//
// Only that member is redacted: a secret elsewhere in the line stays in the
// returned Text.
func (r *Redactor) JSONField(line []byte, field string) (Text, error) {
	s := string(line)
	if i := skipSpaces(s, 0); i >= len(s) || s[i] != '{' {
		return Text{}, ErrNotObject
	}
	if w := (walker{d: &document{}, s: s, muted: true}); !w.whole() {
		return Text{}, ErrNotObject
	}
	return Text{r.redact(s, document{only: &field})}, nil
}
