package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs"
	"github.com/agentcompact/compact/message/formats"
	"github.com/agentcompact/compact/recall"
)

// The values of the exit status.
const (
	exitOK       = 0
	exitFailed   = 1
	exitUsage    = 2
	exitInput    = 3
	exitBudget   = 4
	exitArchive  = 5
	exitUnproven = 6 // only with archive verify --require-proof
)

// usageError means that the command line or the configuration is invalid.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }

func (e *usageError) Unwrap() error { return e.err }

// inputError is an error in the input, with its line if known.
type inputError struct {
	file string
	line int // 0: not known, or in err
	err  error
}

func (e *inputError) Error() string {
	var at *formats.InputError
	switch {
	case !errors.As(e.err, &at):
	case at.Index < 0:
		return fmt.Sprintf("%s:%d: %v", e.file, at.Line, at.Err)
	default:
		return fmt.Sprintf("%s:%d: message %d: %v", e.file, at.Line, at.Index+1, at.Err)
	}
	if e.line > 0 {
		return fmt.Sprintf("%s:%d: %v", e.file, e.line, e.err)
	}
	return e.file + ": " + e.err.Error()
}

func (e *inputError) Unwrap() error { return e.err }

// brokenArchive is an error of the archive: it can't be read or written, or it does
// not pass verification.
type brokenArchive struct{ err error }

func (e *brokenArchive) Error() string { return e.err.Error() }

func (e *brokenArchive) Unwrap() error { return e.err }

// status returns the exit status for an error.
func status(err error) int {
	var usage *usageError
	var input *inputError
	var broken *brokenArchive
	var unread *recall.ReadError
	var open *unproven
	var of *commandStatus
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &of):
		return of.code
	case errors.As(err, &usage), len(configs.Mistakes(err)) > 0:
		return exitUsage
	case errors.As(err, &input):
		return exitInput
	case errors.Is(err, compact.ErrInsufficientBudget):
		return exitBudget
	case errors.Is(err, context.Canceled):
		return exitFailed // the user interrupted the command
	case errors.Is(err, compact.ErrArchiveFailed), errors.As(err, &unread), errors.As(err, &broken):
		return exitArchive
	case errors.As(err, &open):
		return exitUnproven
	}
	return exitFailed
}

// explain prints an error for a person.
func (a *app) explain(cmd *cobra.Command, err error) {
	a.progress.stop()
	var budget *compact.BudgetError
	var usage *usageError
	var of *commandStatus
	name := "compactctl"
	switch {
	case errors.As(err, &of):
		return // the command has already printed its message
	case errors.As(err, &budget):
		a.explainBudget(budget)
		return
	case len(configs.Mistakes(err)) > 0:
		for _, m := range configs.Mistakes(err) {
			a.complain(name, m.Error())
		}
		return
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if errors.Is(err, context.Canceled) && !strings.Contains(line, "interrupted") {
			line = strings.ReplaceAll(line, context.Canceled.Error(), "interrupted")
		}
		a.complain(name, line)
	}
	if errors.As(err, &usage) {
		fmt.Fprintf(a.err, "See '%s --help'.\n", cmd.CommandPath())
	}
}

// errorJSON is the JSON form of an error.
type errorJSON struct {
	Error   string   `json:"error"`
	Status  int      `json:"exit_status"`
	File    string   `json:"file,omitempty"`    // file that can't be read
	Details []string `json:"details,omitempty"` // one for each mistake of a configuration
	Tokens  int      `json:"tokens,omitempty"`  // size of the smallest view, if the budget can't be met
	Budget  int      `json:"budget,omitempty"`
}

// explainJSON writes an error as one line of JSON.
func (a *app) explainJSON(err error) {
	a.progress.stop()
	var budget *compact.BudgetError
	var input *inputError
	if of := (*commandStatus)(nil); errors.As(err, &of) {
		return // the command has already printed its message
	}
	w := errorJSON{Error: err.Error(), Status: status(err)}
	for _, m := range configs.Mistakes(err) {
		w.Details = append(w.Details, m.Error())
	}
	if errors.As(err, &input) {
		w.File = input.file
	}
	if errors.As(err, &budget) {
		w.Tokens, w.Budget = budget.Tokens, budget.Budget
	}
	line, _ := json.Marshal(w) // texts and numbers never fail
	_, _ = a.err.Write(append(escapeControls(line), '\n'))
}

func (a *app) complain(name, line string) {
	fmt.Fprintf(a.err, "%s: %s\n", a.errStyle.bold(name), printable(line))
}

// explainBudget describes the content of a view that does not fit.
func (a *app) explainBudget(e *compact.BudgetError) {
	a.complain("compactctl", fmt.Sprintf("insufficient budget: the smallest view costs %s tokens, the budget is %s", count(e.Tokens), count(e.Budget)))
	fmt.Fprintln(a.err, "What must stay, the largest first:")
	for _, c := range e.Largest {
		fmt.Fprintf(a.err, "%12s  %s\n", count(c.Tokens), c)
	}
	for _, s := range e.Others {
		fmt.Fprintf(a.err, "%12s  in %s\n", count(s.Tokens), e.Of(s))
	}
	if e.Fixed > 0 {
		fmt.Fprintf(a.err, "%12s  tool schemas and overhead\n", count(e.Fixed))
	}
	fmt.Fprintln(a.err, "Nothing was changed. "+e.Guidance())
}
