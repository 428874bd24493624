package compact

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"syscall"

	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/strategy"
)

// causes maps kinds of failures to names for events and metrics, which hold
// nothing of a session. The first match counts.
var causes = []struct {
	err  error
	name string
}{
	{summarize.ErrDeadline, "timeout"}, {summarize.ErrLate, "late"}, {strategy.ErrRefused, "refused"}, {strategy.ErrFiltered, "content_filter"},
	{strategy.ErrCutOff, "length"}, {summarize.ErrTooLong, "too_long"}, {summarize.ErrNotSmaller, "not_smaller"}, {strategy.ErrEmpty, "empty"},
	{strategy.ErrUnusable, "unusable"}, {strategy.ErrContextLength, "context_length"}, {strategy.ErrMalformed, "malformed"},
	{strategy.ErrTransient, "unavailable"}, {strategy.ErrRejected, "rejected"},
	{storage.ErrLocked, "locked"}, {record.ErrHeld, "legal_hold"}, {record.ErrErased, "erased"}, {storage.ErrDamaged, "damaged"},
	{storage.ErrChanged, "changed"}, {storage.ErrExists, "exists"},
	{ErrConflict, "conflict"}, {ErrInsufficientBudget, "insufficient_budget"}, {ErrInternal, "panic"},
	{context.DeadlineExceeded, "timeout"}, {os.ErrDeadlineExceeded, "timeout"}, {context.Canceled, "cancelled"},
	{syscall.ENOSPC, "no_space"}, {syscall.EROFS, "read_only"}, {fs.ErrPermission, "permission_denied"}, {fs.ErrNotExist, "not_found"},
	{syscall.ECONNREFUSED, "connection_refused"},
}

// causeOf returns the name of an error's kind, or "_OTHER".
func causeOf(err error) string {
	for _, c := range causes {
		if errors.Is(err, c.err) {
			return c.name
		}
	}
	var panicked *policy.PanicError
	var own *strategy.OwnError
	var op *net.OpError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &panicked):
		return "panic"
	case errors.As(err, &own):
		return "malformed"
	case errors.As(err, &op):
		return "connection"
	}
	return "_OTHER"
}

// kindOf returns the stable name of an error in events.
func kindOf(err error) string {
	switch {
	case errors.Is(err, ErrInsufficientBudget):
		return "InsufficientBudget"
	case errors.Is(err, ErrArchiveFailed):
		return "ArchiveFailed"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "Cancelled"
	case errors.Is(err, ErrInternal):
		return "Internal"
	}
	return "Error"
}
