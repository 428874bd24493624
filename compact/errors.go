package compact

import (
	"errors"
	"strings"

	"github.com/agentcompact/compact/internal/panics"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/recall"
)

// The errors of this package for [errors.Is].
var (
	// ErrInsufficientBudget means that not even the smallest view fits. The
	// error is a *[BudgetError], which names the largest contributors.
	ErrInsufficientBudget = policy.ErrInsufficientBudget
	// ErrArchiveFailed means that the archive could not be read or written. If a
	// call could not store the text to remove, nothing was removed. The error is an
	// *[ArchiveError].
	ErrArchiveFailed = errors.New("compact: the archive failed")
	// ErrClosed means that the manager was closed.
	ErrClosed = errors.New("compact: the manager is closed")
	// ErrSession means that the session id is empty.
	ErrSession = recall.ErrSession
	// ErrConflict means that other processes kept committing steps of this
	// agent, so this step is not in the ledger. The view is returned
	// nevertheless. Events report the error; no call returns it.
	ErrConflict = errors.New("compact: other processes keep compacting the history of this agent")
	// ErrInternal means that the call panicked, in this package or in a
	// function of the caller. The log has the stack.
	ErrInternal = panics.ErrInternal
	// ErrIllegal means that the provider would refuse the view with this edit,
	// so the edit is not applied. Warnings and events report the error; no call
	// returns it.
	ErrIllegal = errors.New("compact: the provider would refuse the view")
	// ErrNotFound means that the archive holds nothing under this reference.
	ErrNotFound = recall.ErrNotFound
)

// Mistakes of a caller that would otherwise be a panic in the middle of an agent's turn.
var (
	errNilContext = errors.New("compact: the context is nil: pass context.Background(), or that of the request")
	errNilManager = errors.New("compact: the manager is nil: make one with compact.New, and check the error of New")
)

// A BudgetError reports that not even the smallest view fits the budget, and
// lists the contents of that view.
type BudgetError = policy.BudgetError

// An ArchiveError reports an operation of the archive that failed. Op is "open",
// "read", "key", "transcript", "index", "edits", "events", "commit" or "record the
// access". Session is "" if the error concerns no single session.
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

// A ConfigError is one mistake in a [Config]. [New] and [Config.Validate] join all
// mistakes; package configs adds the place of each in a file.
type ConfigError = policy.ConfigError

var (
	errStale = errors.New("compact: another process committed a step of this agent and branch first")
	errTaken = errors.New("compact: another process took the number of this step")
)

// errObserves is the error for operations that need an archive while observing.
var errObserves = errors.New("observe is set, so no archive is opened")
