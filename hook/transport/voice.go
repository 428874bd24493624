package transport

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/agentcompact/compact/compact"
)

// voice reports errors to the program's callback, or to a log, which gets each
// cause at most once a minute.
type voice struct {
	m       *compact.CompactManager
	onError func(context.Context, error) // nil = no callback
	logger  func() *slog.Logger          // nil = silent
	chosen  bool                         // the program set a logger
	now     func() time.Time

	causes *recent[string, heard]
	said   *recent[string, struct{}]
}

// heard records when a cause was last logged, and how often it occurred since.
type heard struct {
	at    time.Time
	since int
}

const (
	every     = time.Minute
	maxCauses = 256
	maxSaid   = 8192 // conversations and models
)

func newVoice(m *compact.CompactManager) *voice {
	return &voice{
		m: m, logger: slog.Default, now: time.Now,
		causes: newRecent[string, heard](maxCauses), said: newRecent[string, struct{}](maxSaid),
	}
}

// tell reports an error, for example why a request was sent unchanged.
func (v *voice) tell(ctx context.Context, err *Error) {
	v.call(ctx, err)
	if v.onError == nil || v.chosen {
		v.log(ctx, err.Op+": "+cause(err), outcome(err.Op), err.attrs(v.m)...)
	}
}

// call calls the program's callback. A panic of it ends neither the request nor the program: an
// observation calls it on a goroutine where the program could not recover it.
func (v *voice) call(ctx context.Context, err *Error) {
	if v.onError == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			slog.Default().Error("compact: the function of OnError panicked", "panic", v.m.Redact(fmt.Sprint(p)), "stack", string(debug.Stack()))
		}
	}()
	v.onError(ctx, err)
}

// once reports an error only the first time that its cause occurs in a
// conversation. It is for causes that occur at every request, such as requests
// that are sent unchanged on purpose.
func (v *voice) once(ctx context.Context, conversation string, err *Error) {
	if !v.said.first(cause(err) + "\x00" + conversation) {
		return
	}
	v.call(ctx, err)
	if log := v.logs(); log != nil && (v.onError == nil || v.chosen) {
		log.LogAttrs(ctx, slog.LevelWarn, outcome(err.Op), err.attrs(v.m)...)
	}
}

// warn logs the warnings of a result.
func (v *voice) warn(ctx context.Context, res *compact.Result) {
	for _, w := range res.Warnings {
		v.log(ctx, "warning: "+withoutNumbers(w), "compact: a warning", slog.String("warning", w), slog.String("model", res.Model), slog.String("session", v.m.SessionName(res.Session)))
	}
}

// log writes a record, unless its cause was logged within the last minute.
func (v *voice) log(ctx context.Context, cause, text string, attrs ...slog.Attr) {
	log := v.logs()
	if log == nil {
		return
	}
	now, missed, due := v.now(), 0, false
	v.causes.update(cause, func(h heard) heard {
		if due = h.at.IsZero() || now.Sub(h.at) >= every; !due {
			return heard{h.at, h.since + 1}
		}
		missed = h.since
		return heard{at: now}
	})
	if !due {
		return
	}
	if missed > 0 {
		attrs = append(attrs, slog.Int("not_logged_since", missed))
	}
	log.LogAttrs(ctx, slog.LevelWarn, text, attrs...)
}

func (v *voice) logs() *slog.Logger {
	if v.logger == nil {
		return nil
	}
	return v.logger()
}

// outcome describes in words the effect of an error.
func outcome(op string) string {
	switch op {
	case opOverflow:
		return "compact: an overflow of the context was not answered"
	case opObserve:
		return "compact: a request was not observed"
	case opAnswer:
		return "compact: an answer was passed on unread"
	case opRecall:
		return "compact: the recall tool failed"
	}
	return "compact: a request was sent unchanged"
}

// attrs returns the attributes of an error for a log record.
func (e *Error) attrs(m *compact.CompactManager) []slog.Attr {
	out := []slog.Attr{slog.String("op", e.Op), slog.String("path", m.Redact(e.Path)), slog.String("error", m.Redact(e.Err.Error()))}
	if e.Session != "" {
		out = append(out, slog.String("session", m.SessionName(e.Session)))
	}
	return out
}

// causes holds the errors that the log distinguishes.
var causes = []error{
	compact.ErrInsufficientBudget, compact.ErrArchiveFailed, compact.ErrConflict, compact.ErrClosed, compact.ErrSession,
	ErrTooLarge, errBusy, errNoSmaller, errPanic, context.DeadlineExceeded, context.Canceled,
}

// cause returns a key for errors of one kind. There are few such keys.
func cause(err error) string {
	if p := (*passed)(nil); errors.As(err, &p) {
		return p.what
	}
	for _, c := range causes {
		if errors.Is(err, c) {
			return c.Error()
		}
	}
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return fmt.Sprintf("%T", err)
}

// withoutNumbers removes digits, so that warnings which differ only in numbers
// are one cause, and keeps at most 80 bytes.
func withoutNumbers(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, s)
	return s[:min(len(s), 80)]
}
