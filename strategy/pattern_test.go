package strategy

import (
	"testing"

	"github.com/agentcompact/compact/strategy/internal/lazy"
	"github.com/agentcompact/compact/strategy/internal/lazy/lazytest"
)

func TestPatternsAreValid(t *testing.T) {
	if len(lazy.AllPatterns) < 40 {
		t.Errorf("%d patterns, want at least 40", len(lazy.AllPatterns))
	}
	for _, p := range lazy.AllPatterns {
		p.Compiled() // panics if the expression is not valid
	}
}

func TestPatternsMatchAsTheirExpressionsDo(t *testing.T) { lazytest.Match(t, lazy.AllPatterns, 10) }
