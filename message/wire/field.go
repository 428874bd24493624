package wire

import (
	"errors"
	"fmt"
)

// A FieldError names the field of a body or a message that violates the format of the
// wire.
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

// In adds the position to an error in an element of a list: "list[i]." before the field
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
