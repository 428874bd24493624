package configs

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/strategy/openai"
	"github.com/agentcompact/compact/trace/otel"
)

// Variables that hold secrets are no settings.
const (
	keyVariable       = "OPENAI_API_KEY"        // of the summariser
	pseudonymVariable = "COMPACT_PSEUDONYM_KEY" // of redaction.pseudonyms
)

// KeysOptional says that the configuration is to be looked at, or used for
// what asks no model: a key that is not in the environment is no mistake then.
func KeysOptional() Option {
	return func(l *loader) { l.keysOptional = true }
}

// components makes what a configuration names.
func (l *loader) components(c *compact.Config) {
	l.pseudonyms(c)
	l.summariser(c)
	l.collector(c)
	if c.Storage.Adapter == s3Adapter {
		c.OpenArchive = openForAgents
	}
}

// pseudonyms finds the key of the pseudonyms.
func (l *loader) pseudonyms(c *compact.Config) {
	if !c.Redaction.Pseudonyms {
		return
	}
	const path = "redaction.pseudonyms"
	key := l.variable(pseudonymVariable)
	switch {
	case key == "" && !l.keysOptional:
		l.wrong(path, path, nil, "needs the environment variable "+pseudonymVariable)
	case key != "" && len(key) < redact.MinPseudonymKey:
		l.wrong(path, path, nil, fmt.Sprintf("needs %d bytes or more in %s", redact.MinPseudonymKey, pseudonymVariable))
	}
	c.Redaction.PseudonymKey = compact.Secret(key)
}

// collector makes the exporter to an OpenTelemetry collector. Whoever makes a
// manager of the configuration hands it over with it; nothing is opened before
// the first event.
func (l *loader) collector(c *compact.Config) {
	t := c.Trace
	if t.OTLPEndpoint == "" || l.report.err() != nil {
		return
	}
	exporter, err := otel.NewOTLP(context.Background(), t.OTLPEndpoint, &otel.OTLPOptions{ServiceName: t.OTLPService, Timeout: t.OTLPTimeout})
	if err != nil {
		l.wrong("trace.otlp_endpoint", "trace.otlp_endpoint", nil, "can't be used: "+err.Error())
		return
	}
	c.Exporters = append(c.Exporters, exporter)
}

// summariser makes the client of a model that writes summaries.
func (l *loader) summariser(c *compact.Config) {
	s := c.Summarizer
	if s.Backend != openai.Name {
		l.ineffective(s)
		return
	}
	if s.Model == "" {
		l.wrong("summarizer.model", "summarizer.model", nil, "must not be empty: the backend openai asks a model")
		return
	}
	key := l.variable(keyVariable)
	if key == "" && s.BaseURL == "" && !l.keysOptional {
		l.wrong("summarizer.backend", "summarizer.backend", nil, "openai needs the environment variable "+keyVariable)
		return
	}
	client, err := openai.New(openai.Config{
		Model: s.Model, BaseURL: s.BaseURL, APIKey: openai.Key(key), Seed: &s.Seed, Window: s.Window,
	})
	if err != nil {
		l.wrong("summarizer.backend", "summarizer", nil, "can't be used: "+err.Error())
		return
	}
	c.Summarise = client
}

// ineffective reports a model to ask beside a backend that asks none, unless
// the backend was named by somebody who stands higher, to overrule the model.
func (l *loader) ineffective(s compact.SummarizerConfig) {
	backend := l.from["summarizer.backend"]
	for _, given := range [][2]string{{"summarizer.model", s.Model}, {"summarizer.base_url", s.BaseURL}} {
		if path, value := given[0], given[1]; value != "" && backend.layer <= l.from[path].layer {
			l.wrong(path, path, value, "has no effect with summarizer.backend "+s.Backend+"; set that to openai, or leave it out")
		}
	}
}

func (l *loader) variable(name string) string {
	for _, entry := range l.environ {
		if k, v, _ := strings.Cut(entry, "="); k == name {
			return v
		}
	}
	return ""
}
