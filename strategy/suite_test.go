package strategy_test

import (
	"testing"

	"github.com/agentcompact/compact/policy/policytest"
	"github.com/agentcompact/compact/strategy"
)

func TestStageKeepsItsContract(t *testing.T) {
	stage, err := strategy.NewStage(strategy.Writer{Strategy: strategy.TaskState, MaxTokens: 200, UserTokens: 50})
	if err != nil {
		t.Fatal(err)
	}
	policytest.Run(t, stage)
}
