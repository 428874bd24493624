package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs"
)

// tryFlags holds the flags for testing every component of a configuration.
type tryFlags struct {
	on      bool
	timeout time.Duration // timeout for each component
}

// probe is the JSON outcome of one test.
type probe struct {
	What   string `json:"what"`
	Where  string `json:"where,omitempty"`
	Result string `json:"result"` // ok, failed, or not tried
	Detail string `json:"detail"` // what the test did, or why it failed or was not made
	Advice string `json:"advice,omitempty"`
	Millis int64  `json:"duration_ms"`
}

const (
	resultOK     = "ok"
	resultFailed = "failed"
	resultNot    = "not tried"
)

// try opens every component that the configuration names. The error states the number
// of components that do not work. If the archive does not work, the command exits with
// the status for a failed archive.
func (a *app) try(ctx context.Context, cfg compact.Config, f tryFlags, v *verdict) error {
	if f.timeout <= 0 {
		return &usageError{fmt.Errorf("--timeout must be > 0 (got %s)", f.timeout)}
	}
	var failed []string
	archive := false
	all := configs.Try(ctx, cfg, f.timeout)
	for _, p := range all {
		if p.Err != nil {
			failed = append(failed, p.What)
			archive = archive || p.Stored()
		}
		v.Tried = append(v.Tried, probeOf(p))
	}
	v.OK = len(failed) == 0
	err := fmt.Errorf("%d of %s that the configuration names %s not work: %s", len(failed), things(len(all), "thing"),
		map[bool]string{true: "does", false: "do"}[len(failed) == 1], strings.Join(failed, ", "))
	switch {
	case v.OK:
		return nil
	case archive:
		return &brokenArchive{err}
	}
	return err
}

func probeOf(p configs.Probe) probe {
	out := probe{What: p.What, Where: p.Where, Result: resultOK, Detail: p.Did, Advice: p.Advice, Millis: p.Took.Milliseconds()}
	switch {
	case p.Err != nil:
		out.Result, out.Detail = resultFailed, p.Err.Error()
	case p.Not != "":
		out.Result, out.Detail = resultNot, p.Not
	}
	return out
}

// printProbes prints the table of the outcomes.
func (a *app) printProbes(all []probe) error {
	if len(all) == 0 {
		return nil
	}
	const names, results = 11, 9
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", a.style.bold("what works"))
	for _, p := range all {
		result := left(p.Result, results)
		switch p.Result {
		case resultOK:
			result = a.style.green(result)
		case resultFailed:
			result = a.style.red(result)
		default:
			result = a.style.dim(result)
		}
		fmt.Fprintf(&b, "%s  %s  %s: %s\n", left(p.What, names), result, oneLine(p.Where), oneLine(p.Detail))
		if p.Advice != "" {
			fmt.Fprintf(&b, "%s→ %s\n", strings.Repeat(" ", names+results+4), p.Advice)
		}
	}
	_, err := a.out.Write([]byte(b.String()))
	return err
}
