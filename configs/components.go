package configs

import (
	"reflect"
	"slices"
	"strings"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs/internal/driver"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/trace"
)

// Variables that hold secrets are not settings.
const (
	keyVariable       = "OPENAI_API_KEY"        // key of the summarizer
	pseudonymVariable = "COMPACT_PSEUDONYM_KEY" // key of redaction.pseudonyms
	headsVariable     = "COMPACT_HEADS_KEY"     // key that signs heads
	publicVariable    = "COMPACT_HEADS_PUBLIC"  // key with which compactctl verifies heads

	// identities that decrypt an archive, or the file that has them, see [storage/crypt]
	identityVariable, identityFileVariable = "COMPACT_ARCHIVE_IDENTITY", "COMPACT_ARCHIVE_IDENTITY_FILE"
)

// openAI is the backend whose summaries a server writes.
const openAI = "openai"

// KeysOptional allows keys to be missing from the environment. It is for
// configurations that are only inspected, or used without a model.
func KeysOptional() Option {
	return func(l *loader) { l.keysOptional = true }
}

// components creates the components that a configuration names.
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

// pseudonyms sets the key of the pseudonyms from the environment.
func (l *loader) pseudonyms(c *compact.Config) {
	if key := l.variable(pseudonymVariable); key != "" {
		c.Redaction.PseudonymKey = compact.Secret(key)
	}
}

// heads sets the key that signs heads from the environment. Where heads are verified,
// unsigned heads would break the record of the archive for good.
func (l *loader) heads(c *compact.Config) {
	if l.variable(headsVariable) == "" && l.variable(publicVariable) != "" && !l.keysOptional {
		l.report.add(&Error{Source: publicVariable, Reason: "is set, so that verify refuses unsigned heads, and this process would write unsigned ones: set " + headsVariable + ", or unset " + publicVariable})
	}
	if key := l.variable(headsVariable); key != "" {
		if _, err := record.HeadsKey(key); err != nil { // the error omits the value
			l.report.add(&Error{Source: headsVariable, Reason: "must be 32 random bytes in base64, as \"openssl rand -base64 32\" prints them", Err: err})
			return
		}
		c.HeadsKey = compact.Secret(key)
	}
}

// archiveKeys sets the keys of the archive from the environment.
func (l *loader) archiveKeys(c *compact.Config) {
	if keys := l.variable(compact.ArchiveKeyVariable); keys != "" {
		c.ArchiveKey = compact.Secret(keys)
	}
}

const pseudonymsPath = "redaction.pseudonyms"

// collector creates the exporter to an OpenTelemetry collector. A manager made
// from the configuration uses it; it opens no connection before the first event.
func (l *loader) collector(c *compact.Config) {
	l.exporter(c, "trace.otlp_endpoint", c.Trace.OTLPEndpoint, func(d *driver.Collector) (trace.Exporter, error) { return d.New(c.Trace) })
}

// counter creates the exporter that sends metrics to a collector.
func (l *loader) counter(c *compact.Config) {
	l.exporter(c, "trace.otlp_metrics_endpoint", c.Trace.OTLPMetricsEndpoint, func(d *driver.Collector) (trace.Exporter, error) { return d.Metrics(c.Trace) })
}

// exporter adds the exporter that create returns to the exporters of c. An empty
// endpoint adds none.
func (l *loader) exporter(c *compact.Config, setting, endpoint string, create func(*driver.Collector) (trace.Exporter, error)) {
	switch {
	case endpoint == "":
		return
	case driver.OTLP == nil:
		l.wrong(setting, setting, nil, notLinked("otlp"))
		return
	case len(l.report.all) > 0:
		return
	}
	e, err := create(driver.OTLP)
	if err != nil {
		l.wrong(setting, setting, nil, "can't be used: "+err.Error())
		return
	}
	c.Exporters = append(c.Exporters, e)
}

// summarizer creates the client of a model that writes summaries. prefix is the path of
// the override that names the model, "" outside of overrides.
func (l *loader) summarizer(c *compact.Config, prefix string) {
	s := c.Summarizer
	if s.Backend != openAI || s.Model == "" {
		return
	}
	if driver.OpenAI == nil {
		l.wrong(prefix+"summarizer.backend", prefix+"summarizer.backend", nil, notLinked("openai"))
		return
	}
	key := l.variable(keyVariable)
	if key == "" && s.BaseURL == "" && !l.keysOptional {
		l.wrong(prefix+"summarizer.backend", prefix+"summarizer.backend", nil, "openai needs the environment variable "+keyVariable)
		return
	}
	client, err := driver.OpenAI.New(s, key, keyVariable+" in the environment")
	if err != nil {
		l.wrong(prefix+"summarizer.backend", prefix+"summarizer", nil, "can't be used: "+err.Error())
		return
	}
	c.Summarize = client
}

// overruled clears the settings of a model that have no effect because a higher
// layer named another backend.
func (l *loader) overruled(s *compact.SummarizerConfig) {
	backend, root := l.from["summarizer.backend"].layer, reflect.ValueOf(s).Elem()
	for _, path := range uselessWith(s.Backend) {
		if f := schema().byPath[path]; l.from[path].layer < backend {
			root.Field(f.index[len(f.index)-1]).SetZero()
		}
	}
}

// uselessWith returns the settings that a backend does not use.
func uselessWith(backend string) []string {
	switch backend {
	case openAI:
		return nil
	case summarize.BackendAgent:
		return ofServers
	}
	return slices.Concat(ofServers, ofModels)
}

// ofServers are settings that only a server for summaries uses. ofModels are
// settings that the agent's own model uses as well.
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
