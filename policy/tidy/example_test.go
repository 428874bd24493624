package tidy_test

import (
	"fmt"
	"strings"

	"github.com/agentcompact/compact/policy/tidy"
)

// A result is reduced on arrival, before any call has sent it.
func ExampleReduce() {
	text := strings.Repeat("compiling package 7 of 9\n", 200) + "done\n"
	result := &tidy.Result{Text: text, Tokens: 1400, Call: tidy.Call{Tool: "bash"}}
	reduced, ok := tidy.Reduce(result, tidy.Options{})
	if !ok {
		fmt.Println("nothing can be left out")
		return
	}
	fmt.Println(reduced.Main())
	fmt.Println(reduced.Render(text, 1400, "3f9a2c1b70de"))
	// Output:
	// runs
	// compiling package 7 of 9 × 200
	// done
}
