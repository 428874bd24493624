package transport

import (
	"encoding/json"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage/memory"
)

// A round is plain only if neither the arguments of its calls nor their results hold text
// that redaction replaces.
func TestARoundIsPlainIfRedactionLeavesItsCallsAndResults(t *testing.T) {
	m, err := compact.New(t.Context(), compact.Config{MaxContextTokens: 100_000, Archive: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(t.Context()) })
	x := &exchange{t: &Transport{m: m}}
	key := "sk-proj-" + "Qx7Lm2Vt9Rb4Ks6Wd1" + "Zc8Hn3Yp5Gf0Jq7Tu2Ea"
	clean, secret := json.RawMessage(`{"query":"the test"}`), json.RawMessage(`{"query":"`+key+`"}`)
	for _, c := range []struct {
		first, second json.RawMessage
		texts         []string
		want          bool
	}{
		{clean, clean, []string{"one", "two"}, true},
		{clean, secret, []string{"one", "two"}, false}, {secret, clean, []string{"one", "two"}, false},
		{clean, clean, []string{"one", "the key " + key}, false}, {clean, clean, []string{key, "two"}, false},
	} {
		if got := x.isPlain(&said{ours: []recallCall{{args: c.first}, {args: c.second}}}, c.texts); got != c.want {
			t.Errorf("%s, %s, %q: plain %v, want %v", c.first, c.second, c.texts, got, c.want)
		}
	}
}
