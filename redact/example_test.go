package redact_test

import (
	"fmt"

	"github.com/agentcompact/compact/redact"
)

func Example() {
	r, err := redact.New(redact.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Text("export DB_PASSWORD=" + "gT7-plum-42x && make deploy"))
	fmt.Println(r.JSON([]byte(`{"user":"ann","api_key":"` + "k9Zp31LmQx77" + `"}`)))
	// Output:
	// export DB_PASSWORD=<REDACTED> && make deploy
	// {"user":"ann","api_key":"<REDACTED>"}
}

// The samples of a rule show secrets that the rule finds and texts that it does not
// change.
func ExampleRule() {
	r, err := redact.New(redact.Options{Rules: []redact.Rule{{
		ID: "acme-badge", Words: []string{"acme"}, Pattern: `\bACME-[0-9]{6}\b`,
		Secrets: []string{"ACME-" + "123456"}, Clean: []string{"Acme has six doors"},
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Text("my badge is ACME-" + "778899"))
	// Output: my badge is <REDACTED>
}
