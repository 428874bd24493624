package wire

import (
	"errors"
	"fmt"
)

// A FieldError says which field of a body, or of a message, is not what the
// wire wants.
type FieldError struct {
	Field  string // e.g. "messages[3].tool_calls[1].function.name"; "" = the whole
	Reason string
}

func (e *FieldError) Error() string {
	if e.Field == "" {
		return e.Reason
	}
	return fmt.Sprintf("field %q: %s", e.Field, e.Reason)
}

// In adds to an error in an element of a list where that is: "list[i]." before the field
// of a [FieldError].
func In(list string, i int, err error) error {
	at := fmt.Sprintf("%s[%d]", list, i)
	field := new(FieldError)
	if !errors.As(err, &field) {
		return fmt.Errorf("field %q: %w", at, err)
	}
	if field.Field != "" {
		at += "." + field.Field
	}
	return &FieldError{Field: at, Reason: field.Reason}
}
