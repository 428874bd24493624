package transport

import (
	"io"
	"strings"
	"testing"
)

// Gemini streams a list of answers if the request does not ask for events. A list that is cut off,
// or closed early, has the usage of its complete elements.
func TestAListThatIsCutOffReportsItsUsage(t *testing.T) {
	const list = `[{"candidates":[{"index":0}],"usageMetadata":{"promptTokenCount":900,"candidatesTokenCount":3}}
,{"usageMetadata":{"promptTokenCount":900,"candidatesTokenCount":7}}
,{"candidates":[{"index":0`
	for _, end := range []string{"cut off", "closed"} {
		var m *meter
		prompt, answer := 0, 0
		m = newMeter(io.NopCloser(strings.NewReader(list)), document, func(tokens int) { prompt, answer = tokens, m.bill.answer() })
		var err error
		if end == "closed" {
			if _, err = io.ReadFull(m, make([]byte, len(list))); err == nil {
				err = m.Close()
			}
		} else {
			_, err = io.ReadAll(m)
		}
		if err != nil || prompt != 900 || answer != 7 {
			t.Errorf("%s: %d prompt tokens, %d of the answer, %v; want 900 and 7", end, prompt, answer, err)
		}
	}
}
