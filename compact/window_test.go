package compact

import (
	"context"
	"testing"
)

func TestModelWindowIsTheModelsOwn(t *testing.T) {
	m, err := New(t.Context(), Config{Model: "gpt-4o", MaxContextTokens: 9_000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	for model, want := range map[string]int{"": 128_000, "gpt-4-0613": 8_192, "nobody knows": 9_000, "claude-x": 200_000} {
		if got := m.ModelWindow(model); got != want {
			t.Errorf("%q: %d, want %d", model, got, want)
		}
	}
}
