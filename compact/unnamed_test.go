package compact_test

import (
	"context"
	"errors"
	"regexp"
	"testing"

	"github.com/agentcompact/compact/compact"
)

func TestPlaceholdersOfAnUnnamedSessionNameNothingToRecall(t *testing.T) {
	history := loop(60, 300)
	ref := regexp.MustCompile(`· recall ([0-9a-f]+)\]`)
	ctx := context.Background()

	r := newRig(t, compact.Config{MaxContextTokens: 16_000})
	tools := compact.WithTools(recallDefinition(t, r))
	named, err := r.Preflight(ctx, "s", history, tools)
	if err != nil {
		t.Fatal(err)
	}
	found := ref.FindStringSubmatch(bytesOf(named.Messages))
	if found == nil {
		t.Fatal("no placeholder of a named session names a reference: the test proves nothing")
	}
	if _, err := r.Recall(ctx, "s", found[1]); err != nil {
		t.Fatal(err)
	}

	id := compact.UnnamedSession + "1"
	res, err := r.Preflight(ctx, id, history, tools)
	if err != nil || res.MaskedCount != named.MaskedCount {
		t.Fatalf("%v, %d masked, want %d", err, res.MaskedCount, named.MaskedCount)
	}
	if hit := ref.FindString(bytesOf(res.Messages)); hit != "" {
		t.Errorf("a placeholder contains %q, want none", hit)
	}
	if text, err := r.Recall(ctx, id, found[1]); !errors.Is(err, compact.ErrNotFound) {
		t.Errorf("recalled %q, %v, want ErrNotFound", text, err)
	}
}
