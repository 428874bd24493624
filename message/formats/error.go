package formats

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/agentcompact/compact/message/wire"
)

// An InputError holds the position of the first message in a file that can't be read.
type InputError struct {
	Line  int // from 1; in a JSON document, the line on which the message begins
	Index int // of the message, from 0; -1 = no message
	Err   error
}

func (e *InputError) Error() string {
	if e.Index < 0 {
		return fmt.Sprintf("line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("line %d (message %d): %v", e.Line, e.Index+1, e.Err)
}

func (e *InputError) Unwrap() error { return e.Err }

// locate turns an error in the body into one in the file.
func (c *composer) locate(err error) error {
	field := new(wire.FieldError)
	if !errors.As(err, &field) {
		return err
	}
	_, rest, ok := strings.Cut(field.Field, "[")
	number, rest, closed := strings.Cut(rest, "]")
	i, bad := strconv.Atoi(number)
	if !ok || !closed || bad != nil || i < 0 || i >= len(c.items) {
		return err
	}
	return &InputError{
		Line: c.units[c.items[i]].line, Index: i,
		Err: &wire.FieldError{Field: strings.TrimPrefix(rest, "."), Reason: field.Reason},
	}
}

func lineOf(data []byte, at int) int { return 1 + bytes.Count(data[:at], []byte{'\n'}) }
