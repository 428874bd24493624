package ariadne_test

import (
	"fmt"

	"github.com/agentcompact/compact/trace/ariadne"
)

func ExampleCheckURL() {
	fmt.Println(ariadne.CheckURL("http://127.0.0.1:5175"))
	fmt.Println(ariadne.CheckURL("127.0.0.1:5175"))
	// Output:
	// <nil>
	// not a URL
}
