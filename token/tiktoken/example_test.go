package tiktoken_test

import (
	"fmt"

	"github.com/agentcompact/compact/token"
	_ "github.com/agentcompact/compact/token/tiktoken"
)

func Example() {
	counter, err := token.ForEncoding("p50k_base") // available because the package is imported
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(counter.Count("hello world"))
	// Output: 2
}
