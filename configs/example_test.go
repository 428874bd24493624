package configs_test

import (
	"fmt"

	"github.com/agentcompact/compact/configs"
)

// All mistakes in a file are reported at once.
func ExampleParse() {
	_, err := configs.Parse("compact.yaml", []byte("preset: graduated\npolicy:\n  trigger_pct: 85\n  keep_recent_turn: 3\n"), configs.Environ(nil))
	for _, mistake := range configs.Mistakes(err) {
		fmt.Println(mistake)
	}
	// Output:
	// compact.yaml:3: policy.trigger_pct must be 0.0-1.0 (got 85; 85 % is 0.85)
	// compact.yaml:4: unknown key "policy.keep_recent_turn" (did you mean policy.keep_recent_turns?)
}
