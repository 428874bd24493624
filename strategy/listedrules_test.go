package strategy

import (
	"testing"

	"github.com/agentcompact/compact/message"
)

// Items that only their heading makes rules stand behind the heading. A heading alone is no rule,
// and an item does not continue the rule of the item before it.
func TestItemsOfAListOfRulesStandBehindItsHeading(t *testing.T) {
	for text, want := range map[string][]string{
		"Build a CLI.\n\nOnly use the following libraries:\n- cobra\n- viper\n\nThen show it.": {"- Only use the following libraries: cobra; viper [s1]"},
		"Build a CLI.\n\nNever:\n- push to main\n- skip hooks.":                                {"- Never: push to main; skip hooks [s1]"},
		"Build a CLI.\n\nRequirements:\n- it reads CSV\n- must not use cgo":                    {"- Requirements: it reads CSV [s1]", "- must not use cgo [s1]"},
		"Build a CLI.\n\nConstraints that must hold:\n1. stdlib only\n2. max 300 lines":        {"- stdlib only [s1]"},
		"请写一个程序。必须满足以下要求：\n- 读取 CSV\n- 使用 Go":                                                  {"- 必须满足以下要求: 读取 CSV; 使用 Go [s1]"},
	} {
		tells(t, long(text, message.Assistant("On it."), message.User("And the README."), message.Assistant("Done.")), want, []string{"\n- Never [s1]", "要求： [s1]", "Requirements: [s1]", "only max"})
	}
}
