package tidy_test

import (
	"testing"

	"github.com/agentcompact/compact/policy/policytest"
	"github.com/agentcompact/compact/policy/tidy"
)

func TestStageKeepsItsContract(t *testing.T) { policytest.Run(t, tidy.Stage{}) }
