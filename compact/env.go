package compact

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/agentcompact/compact/internal/panics"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
)

// env holds the data that the parts of a manager share.
type env struct {
	now      func() time.Time
	redactor *redact.Redactor
	keys     *keyring
	pipe     *trace.Pipeline
	logger   *slog.Logger // nil: the default one
}

// since returns the time since t. If Config.Now ran backwards meanwhile, it is 0.
func (e *env) since(t time.Time) time.Duration { return max(0, e.now().Sub(t)) }

// rescue, deferred, turns a panic of a call into its error, and logs its stack.
// A panic in this package must not crash the agent.
func (e *env) rescue(call string, err *error) {
	if r := recover(); r != nil {
		*err = panics.Error(e.log(), e.redactor, call, r)
	}
}

// alone runs f, which sets err. The caller starts a goroutine for it, because f can end that
// goroutine. A panic becomes the error, and so does the end of the goroutine
// ([runtime.Goexit], by a test in a component of the caller): what f did not finish must not
// count as done.
func (e *env) alone(call string, err *error, f func()) {
	returned := false
	defer func() {
		if !returned && *err == nil {
			*err = fmt.Errorf("%w: %s ended its goroutine", ErrInternal, call)
		}
	}()
	defer e.rescue(call, err)
	f()
	returned = true
}

// rescue, deferred, is [env.rescue] without a manager.
func rescue(log *slog.Logger, r *redact.Redactor, call string, err *error) {
	if v := recover(); v != nil {
		*err = panics.Error(log, r, call, v)
	}
}

// logPanic logs the stack of each panic in the error of a stage.
func (e *env) logPanic(err error) {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range all.Unwrap() {
			e.logPanic(err)
		}
		return
	}
	var p *policy.PanicError
	if errors.As(err, &p) {
		e.log().Error("compact: a stage panicked", "stage", p.Stage, "panic", e.redactor.Text(fmt.Sprint(p.Value)).String(), "stack", string(p.Stack))
	}
}

func (e *env) log() *slog.Logger { return orDefault(e.logger) }

// nameOf returns the name of a session, an agent or a branch in files, events and
// the ledger: its id, or a keyed hash of an id that holds a secret. Each id has its
// own hash, which is the same in every process with the key. If id already is such
// a name, it is returned unchanged.
func (e *env) nameOf(id string) redact.Text { return KeyedName(e.redactor, e.keys.Ring, id) }

func orDefault(log *slog.Logger) *slog.Logger {
	if log != nil {
		return log
	}
	return slog.Default()
}
