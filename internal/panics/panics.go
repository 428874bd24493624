// Package panics turns a panic of a call into an error.
package panics

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/agentcompact/compact/redact"
)

// ErrInternal means that a call panicked.
var ErrInternal = errors.New("compact: internal error")

// Error logs a panic with its stack, and returns it as an error. A nil logger means
// the default one, and a nil redactor one with the default rules.
func Error(log *slog.Logger, redactor *redact.Redactor, call string, value any) error {
	why := "its message is left out" // used if the message can't be redacted
	if redactor == nil {
		redactor, _ = redact.New(redact.Options{})
	}
	if redactor != nil {
		why = redactor.Text(fmt.Sprint(value)).String()
	}
	if log == nil {
		log = slog.Default()
	}
	tell(log, call, why)
	return fmt.Errorf("%w: %s panicked: %s", ErrInternal, call, why)
}

// tell logs a panic. A logger that panics, too, does not end the program.
func tell(log *slog.Logger, call, why string) {
	defer func() { _ = recover() }()
	log.Error("compact: a call panicked", "call", call, "panic", why, "stack", string(debug.Stack()))
}

// Into must be deferred. It turns a panic into the error of a call that has no logger and no
// redactor of its own.
func Into(err *error, call string) {
	if v := recover(); v != nil {
		*err = Error(nil, nil, call, v)
	}
}
