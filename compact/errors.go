package compact

import (
	"errors"
	"strings"

	"github.com/agentcompact/compact/policy"
)

// What a caller can decide on, with [errors.Is].
var (
	// ErrInsufficientBudget: not even the smallest view fits. The error is a
	// *[BudgetError], which names the largest contributors.
	ErrInsufficientBudget = policy.ErrInsufficientBudget
	// ErrArchiveFailed: what would have been taken out could not be stored
	// first, so nothing was taken out. The error is an *[ArchiveError].
	ErrArchiveFailed = errors.New("compact: the archive failed")
	// ErrClosed: the manager was closed.
	ErrClosed = errors.New("compact: the manager is closed")
	// ErrSession: a session id is needed.
	ErrSession = errors.New("compact: the session id is empty")
	// ErrConflict: other processes kept committing steps of this agent, so that
	// the ledger did not take the view, which goes out all the same. It stands
	// in events; no call returns it.
	ErrConflict = errors.New("compact: other processes keep compacting the history of this agent")
	// ErrInternal: the call panicked, by a mistake here or in a function that was
	// handed in. The stack is in the log.
	ErrInternal = errors.New("compact: internal error")
	// ErrIllegal: the provider would refuse the outcome of an edit, which is
	// therefore not made. It stands in warnings and events; no call returns it.
	ErrIllegal = errors.New("compact: the provider would refuse the view")
	// ErrNotFound: the archive holds nothing under this reference.
	ErrNotFound = errors.New("compact: not in the archive")
)

// A BudgetError says that not even the smallest view fits the budget, and what
// it is made of.
type BudgetError = policy.BudgetError

// An ArchiveError says what the archive could not do. Op is "open", "read",
// "transcript", "summary", "index", "events" or "commit".
type ArchiveError struct {
	Op      string
	Session string
	Err     error
}

func (e *ArchiveError) Error() string {
	return "compact: archive failed (" + e.Op + "): " + strings.ReplaceAll(e.Err.Error(), "\n", "; ") // one line in a log
}

func (e *ArchiveError) Unwrap() error { return e.Err }

// Is makes errors.Is(err, ErrArchiveFailed) true.
func (e *ArchiveError) Is(target error) bool { return target == ErrArchiveFailed }
