package main

import (
	"errors"
	"fmt"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs"
	"github.com/agentcompact/compact/recall"
)

func TestStatusOfErrors(t *testing.T) {
	cause := errors.New("cause")
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{cause, 1},
		{fmt.Errorf("late: %w", cause), 1},
		{&usageError{cause}, 2},
		{errors.Join(&configs.Error{}, &configs.Error{}), 2},
		{&inputError{file: "f", err: cause}, 3},
		{&compact.BudgetError{}, 4},
		{errors.Join(&compact.BudgetError{}, cause), 4},
		{&compact.ArchiveError{Err: cause}, 5},
		{&recall.ReadError{Err: cause}, 5},
		{&brokenArchive{cause}, 5},
		{&unproven{[]string{"s"}}, 6},
	} {
		if got := status(c.err); got != c.want {
			t.Errorf("status(%#v) = %d, want %d", c.err, got, c.want)
		}
	}
}
