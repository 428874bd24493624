package main

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/agentcompact/compact/compact"
)

// unstored joins the error of a call with that of the end of its run. It says an
// archive's failure once, and what to do about it.
func unstored(call, end error) error {
	if !errors.Is(call, compact.ErrArchiveFailed) {
		return errors.Join(call, end)
	}
	if errors.Is(end, compact.ErrArchiveFailed) && root(end).Error() == root(call).Error() {
		end = nil
	}
	what := "see to the archive"
	if errors.Is(call, syscall.ENOSPC) || errors.Is(call, syscall.EDQUOT) {
		what = "make room for the archive"
	}
	return errors.Join(call, end, fmt.Errorf("nothing was changed, and no messages were written: %s; the next call tries again", what))
}

// root returns the innermost error.
func root(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
