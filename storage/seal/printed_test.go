package seal_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/agentcompact/compact/storage/seal"
)

// A key passed to a log or a JSON file does not appear there, as digits or as
// numbers.
func TestKeysAreNotInJSON(t *testing.T) {
	k := seal.NewKey()
	data, err := json.Marshal(seal.Held{Keys: []seal.Key{k}})
	if err != nil || !strings.Contains(string(data), `"[redacted]"`) {
		t.Errorf("%s, %v, want the word redacted", data, err)
	}
	var b bytes.Buffer
	slog.New(slog.NewJSONHandler(&b, nil)).Info("here", "key", k)
	if !strings.Contains(b.String(), `"key":"[redacted]"`) {
		t.Error(b.String())
	}
}
