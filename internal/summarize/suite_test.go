package summarize_test

import (
	"testing"

	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/policy/policytest"
)

func TestStageKeepsItsContract(t *testing.T) {
	stage, err := summarize.NewStage(summarize.Writer{MaxTokens: 200, UserTokens: 50})
	if err != nil {
		t.Fatal(err)
	}
	policytest.Run(t, stage)
}
