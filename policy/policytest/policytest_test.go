package policytest_test

import (
	"testing"

	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/compat"
	"github.com/agentcompact/compact/policy/policytest"
)

func TestBuiltInStages(t *testing.T) {
	for name, s := range map[string]policy.Stage{
		"truncate":        policy.Truncate{MaxTokens: 20, Keep: "head"},
		"truncate, both":  policy.Truncate{MaxTokens: 25, Keep: "both"},
		"mask":            policy.Mask{WindowTurns: 4, KeepFirst: 1},
		"mask, loop":      policy.Mask{Since: compat.AfterRequest, KeepLast: 2},
		"drop":            policy.Drop{},
		"drop, no notice": policy.Drop{NoNotice: true},
		"groups":          compat.Groups{},
		"history":         compat.History{MaxTokens: 200},
		"window":          compat.Window{Messages: 12},
		"squeeze":         policy.Squeeze{Keep: "head"},
		"fallback":        compat.Fallback{Messages: 4},
		"local":           compat.LocalSummary{Messages: 4, MaxChars: 300},
	} {
		t.Run(name, func(t *testing.T) { policytest.Run(t, s) })
	}
}
