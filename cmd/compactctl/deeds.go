package main

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/trace"
)

// deedsTap is an exporter that keeps the actions of one call. A Result does not have
// them: it counts the actions of earlier calls, too.
type deedsTap struct {
	mu  sync.Mutex
	did *trace.PrunedMessages // nil = the call did nothing, or its event was lost
}

// Name implements [trace.Named].
func (d *deedsTap) Name() string { return "table" }

// Export implements [trace.Exporter].
func (d *deedsTap) Export(_ context.Context, events []trace.Event) error {
	for i := range events {
		if events[i].Name != trace.NamePrunedMessages {
			continue
		}
		var did trace.PrunedMessages
		if err := json.Unmarshal([]byte(events[i].Data.String()), &did); err != nil {
			return err
		}
		d.mu.Lock()
		d.did = &did
		d.mu.Unlock()
	}
	return nil
}

// Shutdown implements [trace.Exporter].
func (d *deedsTap) Shutdown(context.Context) error { return nil }

func (d *deedsTap) last() *trace.PrunedMessages {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.did
}

// circumstances holds facts about a call that its Result lacks.
type circumstances struct {
	did      *trace.PrunedMessages // actions of the call; nil = unknown
	economic bool                  // prices may make a compaction due before the trigger
}

// economic reports whether prices may make a compaction due before the trigger: by the
// configuration, or by one of its overrides.
func economic(cfg *compact.Config) bool {
	for _, o := range cfg.Overrides {
		if when, ok := o.Set["policy.when"].(string); ok && policy.When(when) == policy.Economic {
			return true
		}
	}
	return cfg.Policy.When == policy.Economic
}

// done describes the actions of a call that compacted, and separately the actions of
// earlier calls that the view shows.
func (x circumstances) done(res *compact.Result) string {
	all := deeds(res.TruncatedCount, res.MaskedCount, res.SummarizedCount, res.DroppedCount)
	switch {
	case x.did == nil && res.Replayed > 0:
		return "Including earlier compactions: " + all + "."
	case x.did == nil:
		return capital(all) + "."
	}
	now := deeds(x.did.TruncatedCount, x.did.MaskedCount, x.did.SummarizedCount, x.did.DroppedCount)
	if now == all {
		return capital(now) + "."
	}
	return capital(now) + ".\nIncluding earlier compactions: " + all + "."
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// deeds lists the actions on messages.
func deeds(truncated, masked, summarized, dropped int) string {
	var all []string
	for _, d := range []struct {
		n           int
		verb, thing string
	}{
		{truncated, "cut", "tool result"},
		{masked, "masked", "tool result"},
		{summarized, "summarized", "message"},
		{dropped, "dropped", "message"},
	} {
		if d.n > 0 {
			all = append(all, d.verb+" "+things(d.n, d.thing))
		}
	}
	switch len(all) {
	case 0:
		return "nothing"
	case 1:
		return all[0]
	}
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}
