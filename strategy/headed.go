package strategy

import "strings"

// output returns the output in a result, without the report of a harness around it.
func output(result string) string {
	return withoutSections(withoutRunReport(withoutEnvelope(result)))
}

// Headings of sections in the result of a tool that controls a browser.
const (
	resultSection = "### Result\n"
	errorSection  = "### Error\n"
	codeSection   = "### Ran Playwright code\n"
)

// withoutSections returns a result that is divided by headings without the heading of its result
// and without the code that the tool ran. An error has its mark.
func withoutSections(result string) string {
	if text, ok := strings.CutPrefix(result, errorSection); ok {
		if errorResult(text) {
			return text
		}
		return "Error: " + text
	}
	text := strings.TrimPrefix(result, resultSection)
	if code, ok := strings.CutPrefix(text, codeSection); ok {
		if _, rest, closed := strings.Cut(code, "\n```\n"); closed {
			return rest
		}
	}
	return text
}
