package compact

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// rescue, deferred, turns a panic of a call into its error, and writes it down
// with its stack: what stands in front of every model call must not take the
// agent down.
func (m *CompactManager) rescue(call string, err *error) {
	r := recover()
	if r == nil {
		return
	}
	why := m.redactor.Text(fmt.Sprint(r)).String()
	m.log().Error("compact: a call panicked", "call", call, "panic", why, "stack", string(debug.Stack()))
	*err = fmt.Errorf("%w: %s panicked: %s", ErrInternal, call, why)
}

// logPanic writes down the stack of a stage that panicked, and was left out.
func (m *CompactManager) logPanic(err error) {
	var p *policy.PanicError
	if errors.As(err, &p) {
		m.log().Error("compact: a stage panicked", "stage", p.Stage, "panic", m.redactor.Text(fmt.Sprint(p.Value)).String(), "stack", string(p.Stack))
	}
}

func (m *CompactManager) log() *slog.Logger {
	if m.cfg.Logger != nil {
		return m.cfg.Logger
	}
	return slog.Default()
}

// untouched is the result of a call of which nothing is known but what came in.
func untouched(id string, history []message.Message, q request) *Result {
	return &Result{
		Messages: slices.Clone(history), Sources: identity(len(history)), Session: id, Agent: q.agent, Manual: q.manual,
		ReductionStage: ReductionNone, InvariantStatus: InvariantsOK,
	}
}
