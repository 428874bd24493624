package eval

import (
	"testing"

	"github.com/agentcompact/compact/strategy/internal/lazy"
	"github.com/agentcompact/compact/strategy/internal/lazy/lazytest"
)

// Few of the generated texts respect the beginnings and ends of words that these patterns
// require.
func TestPatternsMatchAsTheirExpressionsDo(t *testing.T) { lazytest.Match(t, lazy.AllPatterns, 0) }
