package compact

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/agentcompact/compact/internal/panics"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
)

// rescue, deferred, turns a panic of a call into its error, and logs its stack.
// A panic in this package must not crash the agent.
func (m *CompactManager) rescue(call string, err *error) {
	if r := recover(); r != nil {
		*err = panics.Error(m.log(), m.redactor, call, r)
	}
}

// rescue, deferred, is [CompactManager.rescue] without a manager.
func rescue(log *slog.Logger, r *redact.Redactor, call string, err *error) {
	if v := recover(); v != nil {
		*err = panics.Error(log, r, call, v)
	}
}

// logPanic logs the stack of each panic in the error of a stage.
func (m *CompactManager) logPanic(err error) {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range all.Unwrap() {
			m.logPanic(err)
		}
		return
	}
	var p *policy.PanicError
	if errors.As(err, &p) {
		m.log().Error("compact: a stage panicked", "stage", p.Stage, "panic", m.redactor.Text(fmt.Sprint(p.Value)).String(), "stack", string(p.Stack))
	}
}

func (m *CompactManager) log() *slog.Logger { return orDefault(m.cfg.Logger) }

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
