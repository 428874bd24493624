// Package openai links summaries by a model into a program that loads configurations:
// summarizer.backend: openai, which is any server with OpenAI's API. Import it for its
// effect:
//
//	import _ "github.com/agentcompact/compact/configs/openai"
package openai

import (
	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs/internal/driver"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/strategy/openai"
)

func init() { driver.OpenAI = &driver.Model{New: client} }

func client(s compact.SummarizerConfig, key, from string) (strategy.Summarizer, error) {
	c, err := openai.New(openai.Config{Model: s.Model, BaseURL: s.BaseURL, APIKey: openai.Key(key), KeyFrom: from, Seed: &s.Seed, Window: s.Window})
	if err != nil {
		return nil, err
	}
	return c, nil
}
