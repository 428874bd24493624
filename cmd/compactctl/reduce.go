package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/redact"
)

// reduction is a run of compact or preflight.
type reduction struct {
	*app
	out, report string // paths for the messages and the Result; "" = none
	note        string // the reason for the compaction
	call        func(ctx context.Context, m *compact.CompactManager, session string, t *transcript) (*compact.Result, error)

	outFile, reportFile *target

	show     bool // print the view in readable form
	redactor *redact.Redactor
	circumstances
}

func (r *reduction) flags(cmd *cobra.Command) {
	r.addConfig(cmd)
	r.addInput(cmd)
	r.addSession(cmd)
	cmd.Flags().StringVar(&r.out, "out", "", "write the compacted messages to `FILE`; with - they go to standard output, and the table goes to standard error")
	cmd.Flags().StringVar(&r.report, "report", "", "also write the result as JSON to `FILE`; --json prints it instead of the table")
	cmd.Flags().BoolVar(&r.show, "show", false, "print the view and its summary as readable text, redacted")
}

func (r *reduction) run(cmd *cobra.Command, file string) error {
	if err := r.check(); err != nil {
		return err
	}
	cfg, err := r.load(cmd)
	if err != nil {
		return err
	}
	if err := withoutAgent(cmd.Name(), cfg); err != nil {
		return err
	}
	t, err := r.read(file)
	if err != nil {
		return err
	}
	if r.redactor, err = cfg.Redaction.Redactor(); err != nil {
		return err
	}
	if field := t.file.Request().About().ServerSide; field != "" {
		return &inputError{file: t.name, err: fmt.Errorf("field %q shows that the provider stores or compacts the conversation: the file has only a part of it", field)}
	}
	if err := r.prepare(); err != nil {
		return err
	}
	defer r.outFile.discard()
	defer r.reportFile.discard()
	r.progress.start("compacting " + things(len(t.msgs), "message"))
	defer r.progress.stop()
	res, err := r.compact(cmd.Context(), cfg, t)
	r.progress.stop()
	if res == nil {
		return err
	}
	return errors.Join(err, r.deliver(t, res, err))
}

// withoutAgent refuses settings that need the requests of an agent: a backend, and
// observe, with which no file would be compacted.
func withoutAgent(command string, cfg compact.Config) error {
	if cfg.Observe {
		return &usageError{fmt.Errorf("observe is set, so %s would change nothing: dry-run shows the plan, and --set observe=false compacts", command)}
	}
	backend := cfg.Summarizer.Backend
	for _, o := range cfg.Overrides {
		if b, ok := o.Set["summarizer.backend"].(string); ok && b == summarize.BackendAgent {
			backend = b
		}
	}
	if backend != summarize.BackendAgent {
		return nil
	}
	return &usageError{fmt.Errorf("summarizer.backend: %s asks the agent's own model after its requests, and only compactctl serve, compactctl run and hook/transport have requests; "+
		"%s reads a file: add --set summarizer.backend=extractive, or openai with summarizer.model", backend, command)}
}

// check refuses flags that can't be combined.
func (r *reduction) check() error {
	switch {
	case r.report == "-":
		return &usageError{errors.New("--report needs a FILE; --json prints the result instead of the table")}
	case r.show && r.json:
		return &usageError{errors.New("--show prints text and can't be combined with --json; --out writes the messages")}
	case r.report != "" && r.out != "" && sameFile(r.report, r.out):
		return &usageError{fmt.Errorf("--out and --report are the same file, %s", r.report)}
	}
	return nil
}

// prepare opens the files to write, before anything is compacted.
func (r *reduction) prepare() (err error) {
	if r.out != "" && r.out != "-" {
		if r.outFile, err = r.openTarget(r.out); err != nil {
			return err
		}
	}
	if r.report != "" {
		r.reportFile, err = r.openTarget(r.report)
	}
	return err
}

func (r *reduction) compact(ctx context.Context, cfg compact.Config, t *transcript) (*compact.Result, error) {
	tap := &deedsTap{}
	cfg.Exporters = append(slices.Clone(cfg.Exporters), tap)
	cfg.OnTraceError, cfg.Trace.CloseTimeout = r.app.losses.add, closeTraceIn
	m, err := compact.New(ctx, cfg)
	if err != nil {
		return nil, unstored(err, nil)
	}
	session, err := r.sessionIn(ctx, cfg, m, t)
	if err != nil {
		return nil, errors.Join(err, r.close(ctx, m))
	}
	res, err := r.call(ctx, m, session, t)
	err = unstored(err, r.goesOn(cfg, r.close(ctx, m)))
	r.circumstances = circumstances{tap.last(), economic(&cfg)}
	return res, err
}

// goesOn warns that the archive accepts no writes, and drops the error if the
// configuration permits the view nevertheless.
func (r *reduction) goesOn(cfg compact.Config, err error) error {
	if cfg.Storage.OnError != "continue" || !errors.Is(err, compact.ErrArchiveFailed) {
		return err
	}
	r.app.complain("compactctl", "warning: "+err.Error()+" (storage.on_error: continue)")
	return nil
}

// Maximum times that the end of a run waits for the archive, and for exporters.
const (
	closeIn      = 5 * time.Second
	closeTraceIn = 2 * time.Second
)

// close closes a manager, also after an interrupt. Events that did not reach an
// exporter are reported, but they do not make the command fail.
func (a *app) close(ctx context.Context, m *compact.CompactManager) error {
	return a.closeWithin(ctx, m, closeIn)
}

func (a *app) closeWithin(ctx context.Context, m *compact.CompactManager, most time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	defer cancel()
	err := m.Close(ctx)
	told := a.losses.tell(a)
	if err == nil || errors.Is(err, compact.ErrArchiveFailed) {
		return err
	}
	a.progress.stop()
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if !strings.Contains(told, line) { // the failed shutdown of an exporter is already reported
			a.complain("compactctl", "warning: "+line)
		}
	}
	return nil
}

// deliver writes the outcome of a run. After an error there are no messages to write,
// but the report still shows how far the run came.
func (r *reduction) deliver(t *transcript, res *compact.Result, failed error) error {
	table := r.app.out
	r.sayEarlier(res)
	r.sayWarnings(res)
	if failed == nil && r.out != "" {
		data, err := t.file.Write(res.Messages, res.Sources)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		if r.out == "-" {
			if _, err := r.app.out.Write(data); err != nil {
				return err
			}
			table = r.app.err
		} else if err := r.outFile.commit(data); err != nil {
			return err
		}
	}
	if r.reportFile != nil {
		if err := r.reportFile.commit(reportOf(res, failed)); err != nil {
			return err
		}
	}
	switch {
	case r.json:
		_, err := table.Write(reportOf(res, failed))
		return err
	case failed != nil:
		return nil
	}
	s := r.style
	if r.out == "-" {
		s = r.errStyle
	}
	if r.show {
		if err := printView(table, s, r.redactor, res); err != nil {
			return err
		}
	}
	if r.quiet {
		return nil
	}
	return printReport(table, s, res, r.circumstances, r.out)
}

// reportOf returns the Result as JSON, with the error, if any.
func reportOf(res *compact.Result, failed error) []byte {
	v := struct {
		*compact.Result
		Error string `json:"error,omitempty"`
	}{Result: res}
	if failed != nil {
		v.Error = failed.Error()
	}
	var b bytes.Buffer
	if err := encodeJSON(&b, v); err != nil { // numbers and texts never fail
		return []byte("{}\n")
	}
	return b.Bytes()
}
