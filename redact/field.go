package redact

import "errors"

// ErrNotObject is what [Redactor.JSONField] returns for a line that is no JSON object.
var ErrNotObject = errors.New("redact: not a JSON object")

// JSONField redacts one member of a JSON object, at any depth below it, and
// leaves every other byte of the line as it is. It is for one line of JSONL at
// a time; white space around the object stays. A member that is not there is
// no error, and of several with the same name each is redacted.
//
// The Text is only as clean as the line was outside of the field.
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
