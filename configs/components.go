package configs

import (
	"fmt"
	"strings"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/strategy/openai"
)

// keyVariable holds the key of the summariser. It is no setting.
const keyVariable = "OPENAI_API_KEY"

// KeysOptional says that the configuration is to be looked at, or used for
// what asks no model: a key that is not in the environment is no mistake then.
func KeysOptional() Option {
	return func(l *loader) { l.keysOptional = true }
}

// OpenArchive opens the archive that a configuration names. It is for those
// who read archives; a manager opens its own.
func OpenArchive(c compact.StorageConfig) (storage.Archive, error) {
	switch c.Adapter {
	case "fs":
		return fs.Open(c.Path)
	case "memory":
		return memory.New(), nil
	}
	return nil, fmt.Errorf("configs: unknown storage adapter %q", c.Adapter)
}

// components makes what a configuration names.
func (l *loader) components(c *compact.Config) {
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
