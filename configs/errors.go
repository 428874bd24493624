package configs

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	words "github.com/agentcompact/compact/internal/setting"
)

// An Error is one mistake in a configuration. [Load] joins all mistakes; [Mistakes]
// splits the joined error.
type Error struct {
	Source string // the file, the environment variable, or the source of an [Override]; "" = not known
	Line   int    // in the file, from 1; 0 = not known
	Path   string // the setting, "policy.trigger_pct"; "" if the mistake is not in one setting
	Value  any    // the given value; nil = no value to show
	Reason string // "must be 0.0-1.0"
	Err    error  // the cause, if any besides the reason

	setting string // the path of the setting, even if it was given by an alias
}

// Error returns a text like "compact.yaml:12: policy.trigger_pct must be 0.0-1.0
// (got 1.7)".
func (e *Error) Error() string {
	var b strings.Builder
	if e.Source != "" {
		b.WriteString(e.Source)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d", e.Line)
		}
		b.WriteString(": ")
	}
	if e.Path != "" {
		b.WriteString(e.Path + " ")
	}
	b.WriteString(e.Reason)
	if e.Value != nil {
		b.WriteString(words.Got(e.Reason, e.Value))
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Mistakes returns the mistakes in an error of [Load] or [Parse]. It returns nil
// for other errors.
func Mistakes(err error) []*Error {
	var one *Error
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []*Error
		for _, e := range joined.Unwrap() {
			all = append(all, Mistakes(e)...)
		}
		return all
	}
	if errors.As(err, &one) {
		return []*Error{one}
	}
	return nil
}

// A report collects mistakes.
type report struct{ all []*Error }

func (r *report) add(e *Error) { r.all = append(r.all, e) }

// err joins the mistakes in the order of their places in the files, the base
// first, followed by mistakes elsewhere in the order in which they were found.
func (r *report) err(files []*file) error {
	rank := map[string]int{}
	for i, f := range files {
		rank[f.name] = i - len(files)
	}
	slices.SortStableFunc(r.all, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(rank[a.Source], rank[b.Source]), cmp.Compare(a.Line, b.Line))
	})
	errs := make([]error, len(r.all))
	for i, e := range r.all {
		errs[i] = e
	}
	return errors.Join(errs...)
}
