package main

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/memory"
)

// planner is the common part of dry-run and diff: it plans a compaction and stores
// nothing.
type planner struct {
	*app
	preflight bool

	redactor *redact.Redactor // redacts every text that is shown
	circumstances
}

func (p *planner) flags(cmd *cobra.Command) {
	p.addConfig(cmd)
	p.addInput(cmd)
	p.addSession(cmd)
	cmd.Flags().BoolVar(&p.preflight, "preflight", false, "plan preflight instead of compact")
}

// plan returns the transcript and the result of its compaction. Nothing is stored or
// sent, and no money is spent.
func (p *planner) plan(cmd *cobra.Command, file string) (*transcript, *compact.Result, error) {
	cfg, err := p.load(cmd, configs.KeysOptional())
	if err != nil {
		return nil, nil, err
	}
	t, err := p.read(file)
	if err != nil {
		return nil, nil, err
	}
	if p.redactor, err = cfg.Redaction.Redactor(); err != nil {
		return nil, nil, err
	}
	if missing(cfg.Storage) {
		cfg.Archive = memory.New() // a plan creates no folder
	}
	p.progress.start("planning for " + things(len(t.msgs), "message"))
	defer p.progress.stop()
	res, err := p.ask(cmd.Context(), cfg, t)
	return t, res, err
}

func (p *planner) ask(ctx context.Context, cfg compact.Config, t *transcript) (*compact.Result, error) {
	p.circumstances = circumstances{economic: economic(&cfg)}
	m, err := compact.New(ctx, cfg)
	if err != nil {
		return nil, err
	}
	session, err := p.sessionIn(ctx, cfg, m, t)
	if err != nil {
		return nil, errors.Join(err, p.close(ctx, m))
	}
	plan := m.PlanManual
	if p.preflight {
		plan = m.Plan
	}
	res, err := plan(ctx, session, t.msgs, t.options()...)
	p.progress.stop()
	p.sayEarlier(res)
	p.sayWarnings(res)
	return res, errors.Join(err, p.close(ctx, m))
}

// missing reports whether the folder of an archive does not exist.
func missing(c compact.StorageConfig) bool {
	_, err := os.Stat(c.Path)
	return c.Adapter == "fs" && errors.Is(err, fs.ErrNotExist)
}
