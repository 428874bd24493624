package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/agentcompact/compact/compact"
)

// unstored joins the error of a call with the error from the end of its run. It reports
// a failure of the archive once, with advice.
func unstored(call, end error) error {
	if !errors.Is(call, compact.ErrArchiveFailed) {
		return errors.Join(call, end)
	}
	if errors.Is(end, compact.ErrArchiveFailed) && reason(end) == reason(call) {
		end = nil
	}
	if errors.Is(call, context.Canceled) {
		return errors.Join(call, end, errors.New("nothing was changed, and no messages were written"))
	}
	what := "check the archive"
	if errors.Is(call, syscall.ENOSPC) || errors.Is(call, syscall.EDQUOT) {
		what = "free space for the archive"
	}
	return errors.Join(call, end, fmt.Errorf("nothing was changed, and no messages were written: %s; the next call retries", what))
}

// reason returns the end of an error's text, which is its innermost part.
func reason(err error) string {
	text := err.Error()
	return text[strings.LastIndex(text, ": ")+1:]
}
