package token_test

import "fmt"

// weatherWires is the cookbook's tool as each wire writes it.
func weatherWires() map[string]string {
	return map[string]string{
		"chat":      fmt.Sprintf(`[{"type":"function","function":`+weatherTool+`}]`, "parameters"),
		"responses": fmt.Sprintf(`[`+weatherTool+`]`, "parameters"),
		"anthropic": fmt.Sprintf(`[`+weatherTool+`]`, "input_schema"),
		"gemini":    fmt.Sprintf(`[{"functionDeclarations":[`+weatherTool+`]}]`, "parameters"),
	}
}
