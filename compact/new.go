package compact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/ariadne"
	"github.com/agentcompact/compact/trace/console"
)

// New returns a manager. It loads the vocabulary of the configured model and tests
// that the archive can be written, so that a folder without write access is an
// error now and not at the first compaction; with storage.on_error continue it is a
// warning. The error joins all mistakes in the configuration.
func New(ctx context.Context, c Config) (_ *CompactManager, err error) {
	defer rescue(c.Logger, c.Redactor, "New", &err)
	if ctx == nil {
		return nil, errNilContext
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c, err = c.filled()
	if err != nil {
		return nil, err
	}
	if err := c.checkSummarizers(); err != nil {
		return nil, err
	}
	m := &CompactManager{
		env: env{redactor: c.Redactor, now: c.Now, logger: c.Logger}, cfg: c, archive: c.Archive,
		epochs: map[epochKey]*epoch{}, models: map[string]model{}, sessions: map[string]*session{},
		openings: map[string]*opening{}, loads: map[string]*load{}, keep: keepSessions, places: newPlaces(),
	}
	m.stages = m.ownStages(c)
	if m.prompts, err = readPrompts(c); err != nil {
		return nil, err
	}
	m.backlog, m.shadows = newBacklog(&m.env, m.forsakeWriter), memory.New()
	if err := m.furnish(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.closeArchive(ctx))
		}
	}()
	if err := m.beginHeads(); err != nil {
		return nil, err
	}
	if _, err := m.epoch(ctx, epochKey{overrides: c.matching("", "")}); err != nil {
		return nil, err
	}
	all, err := exporters(c)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	m.watchBacklog(all)
	m.pipe = trace.NewPipeline(all, c.pipelineOptions())
	return m, nil
}

// furnish creates the parts that the configuration describes but does not contain:
// clock, redactor, archive, keys.
func (m *CompactManager) furnish(ctx context.Context) (err error) {
	if m.now == nil {
		m.now = time.Now
	}
	if m.redactor == nil {
		if m.redactor, err = m.cfg.Redaction.Redactor(); err != nil {
			return err
		}
	}
	if m.archive == nil && m.cfg.Observe {
		m.archive = m.shadows
	}
	if m.archive == nil {
		if m.archive, err = m.openArchive(ctx); err != nil {
			return &ArchiveError{Op: "open", Err: err}
		}
	} else {
		m.hear(m.archive)
	}
	m.keys, err = m.cfg.keys()
	return err
}

// Redactor returns the configured redactor.
func (c RedactionConfig) Redactor() (*redact.Redactor, error) {
	o := redact.Options{Disabled: !c.Enabled, Strict: c.Strict, PII: c.PII, Patterns: c.Patterns, Rules: c.Rules, Detectors: c.Detectors}
	if c.Pseudonyms {
		if err := c.pseudonymKey(); err != nil {
			return nil, err
		}
		o.Pseudonyms = c.PseudonymKey
	}
	return redact.New(o)
}

// openArchive opens the archive, or returns a lateArchive if that fails and the
// configuration says to continue.
func (m *CompactManager) openArchive(ctx context.Context) (storage.Archive, error) {
	open := func(ctx context.Context) (storage.Archive, error) {
		a, err := openArchive(ctx, m.cfg)
		if err == nil {
			m.hear(a)
		}
		return a, err
	}
	a, err := open(ctx)
	if err == nil || m.cfg.Storage.OnError != "continue" || ctx.Err() != nil {
		return a, err
	}
	return newLate(&m.env, &m.side, m.cfg.Storage.Adapter, err, open), nil
}

func openArchive(ctx context.Context, c Config) (storage.Archive, error) {
	switch {
	case c.Storage.Encrypt.On() && c.OpenArchive == nil:
		return nil, errors.New("storage.encrypt is set, but this package links no encryption: use configs.Load and import configs/age, or set Config.Archive")
	case c.Storage.Adapter == "fs" && !c.Storage.Encrypt.On():
		a, err := fs.Open(c.Storage.Path)
		if err != nil {
			return nil, notAFolder(c.Storage.Path, err)
		}
		if err := notEncrypted(ctx, a); err != nil {
			return nil, errors.Join(err, a.Close())
		}
		return a, nil
	case c.Storage.Adapter == "memory":
		return memory.New(), nil
	case c.OpenArchive != nil:
		return c.OpenArchive(ctx, c.Storage)
	}
	return nil, fmt.Errorf("storage.adapter is %q, but this package does not link it: use configs.Load and import the package of the adapter, such as configs/s3, or set Config.Archive", c.Storage.Adapter)
}

// notAFolder returns the error for a folder that can't be used. It names the setting, because the
// cause of the operating system does not.
func notAFolder(path string, err error) error {
	return fmt.Errorf("storage.path %q can't be used: name a folder that this program can create and write: %w", path, err)
}

// notEncrypted returns an error for an encrypted archive, because plain files must not be
// mixed with encrypted ones.
func notEncrypted(ctx context.Context, a storage.Archive) error {
	is, err := storage.Encrypted(ctx, a)
	if is {
		err = errors.New("the archive is encrypted: set storage.encrypt.recipients")
	}
	return err
}

func exporters(c Config) ([]trace.Exporter, error) {
	if c.Trace.OTLPEndpoint+c.Trace.OTLPMetricsEndpoint != "" && len(c.Exporters) == 0 {
		return nil, errors.New("compact: trace sets an OTLP endpoint, but Config.Exporters is empty: use configs.Load and import configs/otlp, or add an exporter of package trace/otel")
	}
	all := append([]trace.Exporter(nil), c.Exporters...)
	if c.Trace.AriadneURL != "" {
		all = append(all, ariadne.New(c.Trace.AriadneURL, nil))
	}
	if c.Trace.Console {
		all = append(all, console.New(os.Stderr, nil))
	}
	return all, nil
}

func (m *CompactManager) ownStages(c Config) map[string]*ownStage {
	all := map[string]*ownStage{}
	for _, s := range c.Stages {
		if s.Timeout == 0 {
			s.Timeout = ownStageTimeout
		}
		name := s.Stage.Name()
		all[name] = &ownStage{OwnStage: s, name: name, stuck: new(atomic.Bool), clean: func(text string) string { return m.redactor.Text(text).String() }}
	}
	return all
}
