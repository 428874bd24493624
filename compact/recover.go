package compact

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/agentcompact/compact/internal/panics"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
)

// env is what the parts of a manager share.
type env struct {
	now      func() time.Time
	redactor *redact.Redactor
	keys     *keyring
	pipe     *trace.Pipeline
	logger   *slog.Logger // nil: the default one
}

// rescue, deferred, turns a panic of a call into its error, and logs its stack.
// A panic in this package must not crash the agent.
func (e *env) rescue(call string, err *error) {
	if r := recover(); r != nil {
		*err = panics.Error(e.log(), e.redactor, call, r)
	}
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

func orDefault(log *slog.Logger) *slog.Logger {
	if log != nil {
		return log
	}
	return slog.Default()
}

// untouched returns the result of a call without effect.
func untouched(id string, history []message.Message, q request) *Result {
	return &Result{
		Messages: slices.Clone(history), Sources: identity(len(history)), Session: id, Agent: q.agent, Manual: q.manual,
		ReductionStage: ReductionNone, CallStage: ReductionNone, InvariantStatus: InvariantsOK,
	}
}
