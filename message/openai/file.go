package openai

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
)

// An InputError holds the position of the first message in a file that can't be read.
type InputError struct {
	Line  int // from 1; in a JSON array, the line on which the element begins
	Index int // of the message, from 0
	Err   error
}

func (e *InputError) Error() string {
	return fmt.Sprintf("line %d (message %d): %v", e.Line, e.Index+1, e.Err)
}

func (e *InputError) Unwrap() error { return e.Err }

// A Layout is the layout of messages in a file, so that they are written back in the
// same form.
type Layout int

// The layouts that [Parse] reads.
const (
	JSONL Layout = iota // one message per line
	Array               // one JSON array
)

// Parse reads a file of messages, either one JSON object in each line or one JSON
// array, and returns its layout. It skips blank lines. The first message that can't
// be read is an *[InputError]. data must not be modified afterwards.
func Parse(data []byte) ([]message.Message, Layout, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if i := jsonscan.Space(data, 0); i < len(data) && data[i] == '[' {
		msgs, err := parseArray(data, i)
		return msgs, Array, err
	}
	msgs, err := parseLines(data)
	return msgs, JSONL, err
}

func parseLines(data []byte) ([]message.Message, error) {
	var msgs []message.Message
	for line := 1; len(data) > 0; line++ {
		row, rest, _ := bytes.Cut(data, []byte{'\n'})
		data = rest
		if row = bytes.TrimSpace(row); len(row) == 0 {
			continue
		}
		m, err := ParseMessage(row)
		if err != nil {
			return nil, &InputError{Line: line, Index: len(msgs), Err: err}
		}
		msgs = append(msgs, m)
	}
	return msgs, nil
}

func parseArray(data []byte, at int) ([]message.Message, error) {
	var msgs []message.Message
	whole, err := jsonscan.Value(data, at)
	if err != nil {
		return nil, &InputError{Line: lineOf(data, at), Err: err}
	}
	if rest := jsonscan.Space(data, whole.End); rest < len(data) {
		return nil, &InputError{Line: lineOf(data, rest), Index: 0, Err: &FieldError{Field: "", Reason: "there is text after the array"}}
	}
	err = jsonscan.Array(data, whole, func(i int, elem jsonscan.Span) error {
		m, err := ParseMessage(elem.Of(data))
		if err != nil {
			return &InputError{Line: lineOf(data, elem.Start), Index: i, Err: err}
		}
		msgs = append(msgs, m)
		return nil
	})
	if told := (*InputError)(nil); err != nil && !errors.As(err, &told) {
		err = &InputError{Line: lineOf(data, at), Index: len(msgs), Err: err}
	}
	return msgs, err
}

func lineOf(data []byte, at int) int { return 1 + bytes.Count(data[:at], []byte{'\n'}) }

// Append writes messages in a layout, "meta" included.
func Append(dst []byte, msgs []message.Message, l Layout) []byte {
	if l == JSONL {
		for _, m := range msgs {
			dst = AppendJSONL(dst, m)
		}
		return dst
	}
	dst = append(dst, "[\n"...)
	for i, m := range msgs {
		dst = bytes.TrimSuffix(AppendJSONL(dst, m), []byte{'\n'})
		if i < len(msgs)-1 {
			dst = append(dst, ',')
		}
		dst = append(dst, '\n')
	}
	return append(dst, "]\n"...)
}
