package configs

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/strategy/openai"
	"github.com/agentcompact/compact/trace/otel"
)

// Variables that hold secrets are no settings.
const (
	keyVariable       = "OPENAI_API_KEY"        // of the summarizer
	pseudonymVariable = "COMPACT_PSEUDONYM_KEY" // of redaction.pseudonyms
	headsVariable     = "COMPACT_HEADS_KEY"     // that heads are signed with
	publicVariable    = "COMPACT_HEADS_PUBLIC"  // that compactctl checks them with
)

// KeysOptional says that the configuration is to be looked at, or used for
// what asks no model: a key that is not in the environment is no mistake then.
func KeysOptional() Option {
	return func(l *loader) { l.keysOptional = true }
}

// components makes what a configuration names.
func (l *loader) components(c *compact.Config) {
	l.summarizer(c, "")
	l.summarizers(c)
	l.collector(c)
	l.counter(c)
	l.exporters(c)
	if c.Storage.Settings != nil || c.Storage.Adapter == s3Adapter || c.Storage.Encrypt.On() {
		c.OpenArchive = openForAgents
	}
}

// pseudonyms finds the key of the pseudonyms.
func (l *loader) pseudonyms(c *compact.Config) {
	if key := l.variable(pseudonymVariable); key != "" {
		c.Redaction.PseudonymKey = compact.Secret(key)
	}
}

// heads finds the key that heads are signed with.
func (l *loader) heads(c *compact.Config) {
	if key := l.variable(headsVariable); key != "" {
		if _, err := storage.HeadsKey(key); err != nil { // the value is not shown
			l.report.add(&Error{Source: headsVariable, Reason: "must be 32 random bytes in base64, as \"openssl rand -base64 32\" prints them", Err: err})
			return
		}
		c.HeadsKey = compact.Secret(key)
	}
}

// archiveKeys finds the keys of the archive.
func (l *loader) archiveKeys(c *compact.Config) {
	if keys := l.variable(compact.ArchiveKeyVariable); keys != "" {
		c.ArchiveKey = compact.Secret(keys)
	}
}

const pseudonymsPath = "redaction.pseudonyms"

// collector makes the exporter to an OpenTelemetry collector. Whoever makes a
// manager of the configuration hands it over with it; nothing is opened before
// the first event.
func (l *loader) collector(c *compact.Config) {
	t := c.Trace
	if t.OTLPEndpoint == "" || len(l.report.all) > 0 {
		return
	}
	exporter, err := otel.NewOTLP(context.Background(), t.OTLPEndpoint, &otel.OTLPOptions{ServiceName: t.OTLPService, Timeout: t.OTLPTimeout, Content: t.Content})
	if err != nil {
		l.wrong("trace.otlp_endpoint", "trace.otlp_endpoint", nil, "can't be used: "+err.Error())
		return
	}
	c.Exporters = append(c.Exporters, exporter)
}

// counter makes the exporter that sends metrics to a collector.
func (l *loader) counter(c *compact.Config) {
	t := c.Trace
	if t.OTLPMetricsEndpoint == "" || len(l.report.all) > 0 {
		return
	}
	exporter, err := otel.NewOTLPMetrics(context.Background(), t.OTLPMetricsEndpoint, nil, &otel.MetricsOptions{
		ServiceName: t.OTLPService, Timeout: t.OTLPTimeout, Interval: t.OTLPMetricsInterval,
	})
	if err != nil {
		l.wrong("trace.otlp_metrics_endpoint", "trace.otlp_metrics_endpoint", nil, "can't be used: "+err.Error())
		return
	}
	c.Exporters = append(c.Exporters, exporter)
}

// summarizer makes the client of a model that writes summaries. prefix is that
// of the override that names it.
func (l *loader) summarizer(c *compact.Config, prefix string) {
	s := c.Summarizer
	if s.Backend != openai.Name || s.Model == "" {
		return
	}
	key := l.variable(keyVariable)
	if key == "" && s.BaseURL == "" && !l.keysOptional {
		l.wrong(prefix+"summarizer.backend", prefix+"summarizer.backend", nil, "openai needs the environment variable "+keyVariable)
		return
	}
	client, err := openai.New(openai.Config{
		Model: s.Model, BaseURL: s.BaseURL, APIKey: openai.Key(key), Seed: &s.Seed, Window: s.Window,
	})
	if err != nil {
		l.wrong(prefix+"summarizer.backend", prefix+"summarizer", nil, "can't be used: "+err.Error())
		return
	}
	c.Summarize = client
}

// overruled leaves out a model to ask, and how, where the backend was named by somebody
// who stands higher, to overrule it.
func (l *loader) overruled(s *compact.SummarizerConfig) {
	if s.Backend == openai.Name {
		return
	}
	backend, root := l.from["summarizer.backend"].layer, reflect.ValueOf(s).Elem()
	useless := ofServers
	if s.Backend != strategy.BackendAgent {
		useless = slices.Concat(ofServers, ofModels)
	}
	for _, path := range useless {
		if f := schema().byPath[path]; l.from[path].layer < backend {
			root.Field(f.index[len(f.index)-1]).SetZero()
		}
	}
}

// ofServers are the settings that only a server has a use for that is asked for
// summaries, ofModels those that the agent's own model has, too.
var (
	ofServers = []string{"summarizer.model", "summarizer.base_url"}
	ofModels  = []string{"summarizer.instructions", "summarizer.sections", "summarizer.prompt_file"}
)

func (l *loader) variable(name string) string {
	for _, entry := range l.environ {
		if k, v, _ := strings.Cut(entry, "="); k == name {
			return v
		}
	}
	return ""
}
