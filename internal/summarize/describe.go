package summarize

import "github.com/agentcompact/compact/strategy"

// describe returns the Info of s. If s is not a Describer, describe assumes that it is
// remote and has a common window.
func describe(s strategy.Summarizer) strategy.Info {
	if d, ok := s.(strategy.Describer); ok {
		return d.Describe()
	}
	return strategy.Info{Name: "custom", Window: 128_000, Remote: true}
}
