package formats_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/behavior"
	"github.com/agentcompact/compact/internal/garble"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/formats"
)

// frames make a request or a log of a part, a message or a block of the tests.
var frames = []string{
	`%s`, `{"messages":[%s]}`, `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[%s]},{"role":"user","content":"next"}]}`,
	`{"messages":[{"role":"user","content":[%s]}]}`, `{"input":[%s]}`, `{"input":[{"role":"user","content":[%s]}]}`, `{"contents":[%s]}`, `{"contents":[{"role":"user","parts":[%s]}]}`,
}

// Each format reads the JSON of all tests as recorded: the messages or the error, and what
// is written without the first message.
func TestDocumentsAreReadAsRecorded(t *testing.T) {
	book := behavior.New(t, "testdata/read.txt")
	change := garble.Documents(7)
	for _, wire := range []string{"openai", "anthropic", "responses", "gemini", "formats"} {
		for _, frame := range frames {
			out := map[string]*strings.Builder{}
			for i, in := range behavior.Texts(t, "../"+wire+"/testdata/inputs.txt") {
				if in = strings.TrimSpace(in); !strings.HasPrefix(in, "{") && !strings.HasPrefix(in, "[") {
					continue
				}
				doc := fmt.Sprintf(frame, in)
				if i%3 == 0 {
					doc = change(doc)
				}
				for _, name := range formats.Names() {
					if out[name] == nil {
						out[name] = &strings.Builder{}
					}
					fmt.Fprintf(out[name], "%s\n%s\n", doc, outcome(name, doc))
				}
			}
			for _, name := range formats.Names() {
				if text := out[name].String(); text != "" {
					book.Line("%s in %s, texts of %s: %s", name, frame, wire, book.Hash([]byte(text)))
				}
			}
		}
	}
	book.Check()
}

func outcome(name, doc string) string {
	file, err := formats.Read(name, []byte(doc))
	if err != nil {
		return err.Error()
	}
	msgs := file.Messages()
	read, err := json.Marshal(msgs)
	if err != nil {
		return err.Error()
	}
	if len(msgs) == 0 {
		return string(read)
	}
	var keys []message.Fingerprint
	for i := range msgs {
		keys = append(keys, msgs[i].Fingerprint())
	}
	written, err := file.Write(msgs[1:], seq(len(msgs))[1:])
	return fmt.Sprintf("%s\n%.4x\n%s %v", read, keys, written, err)
}
