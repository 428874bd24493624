package compact

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/internal/ctxlock"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/message/gemini"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/message/responses"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/trace"
)

func TestBodyMayHaveTheSizeThatItsProviderPublishes(t *testing.T) {
	bodies := map[string]string{
		"anthropic": `{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`,
		"openai":    `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}`,
		"responses": `{"model":"gpt-5","input":[{"role":"user","content":"hi"}]}`,
		"gemini":    `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`,
	}
	for _, format := range []wire.Format{anthropic.Wire, openai.Wire, responses.Wire, gemini.Wire} {
		name := format.Name()
		published := bodyLimits[name]
		if published == 0 {
			t.Fatalf("%s has no limit", name)
		}
		req, err := format.ParseRequest([]byte(bodies[name]), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ set, said, want int }{
			{0, 0, published}, {0, 1_000_000, 1_000_000}, {0, 1 << 40, published},
			{500_000, 0, 500_000}, {500_000, 400_000, 400_000}, {-1, 0, 0}, {-1, 100, 0},
		} {
			k := &call{asker: asker{q: request{wire: req, bytes: c.said}}, ep: &epoch{cfg: Config{MaxRequestBytes: c.set}}}
			b := k.bounded(policy.Budget{})
			if b.MaxBytes != c.want || b.TargetBytes != c.want/100*60 {
				t.Errorf("%s, set %d, said %d: %d down to %d, want %d", name, c.set, c.said, b.MaxBytes, b.TargetBytes, c.want)
			}
			if c.want == 0 {
				continue
			}
			inside := 0
			for _, m := range req.Messages() {
				inside += m.Bytes()
			}
			if got := k.outside + inside; got != len(bodies[name]) {
				t.Errorf("%s: a body of %d bytes has %d", name, len(bodies[name]), got)
			}
		}
	}
	k := &call{ep: &epoch{}}
	if b := k.bounded(policy.Budget{}); b.MaxBytes != 0 {
		t.Errorf("without a wire: %d, want 0", b.MaxBytes)
	}
}

// album returns a request with a given number of pictures of 19 kB.
func album(t *testing.T, pictures int) wire.Request {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"model":"gpt-4o","messages":[`)
	for i := range pictures {
		fmt.Fprintf(&b, `{"role":"user","content":[{"type":"text","text":"look %d"},{"type":"image_url","image_url":{"url":"data:image/png;base64,%s"}}]},{"role":"assistant","content":"seen"},`, i, strings.Repeat("iVBORw0KGgoAAAANSUhEUgAA", 800))
	}
	b.WriteString(`{"role":"user","content":"and now?"}]}`)
	req, err := openai.Wire.ParseRequest([]byte(b.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// ofBytes returns a manager with a limit of a given number of bytes.
func ofBytes(t *testing.T, most int, when policy.When) *CompactManager {
	t.Helper()
	m, err := New(t.Context(), Config{Model: "gpt-4o", MaxRequestBytes: most, Archive: memory.New(), Policy: policy.Config{When: when}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	return m
}

// A body that is too large can't be sent unchanged, so its call waits for a slot until
// the deadline.
func TestTooLargeBodyWaitsForASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, req := ofBytes(t, 100_000, ""), album(t, 12)
		m.places = ctxlock.NewSlots(1)
		if err := m.places.Take(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		time.AfterFunc(19*time.Second, m.places.Give)
		res, err := m.Preflight(ctx, "s", req.Messages(), WithRequest(req))
		if err != nil || res.Reason != trace.ReasonBytes || res.MaskedCount == 0 || len(res.Warnings) > 0 {
			t.Errorf("%v, %s, %d masked, %q; want no error and %s", err, res.Reason, res.MaskedCount, res.Warnings, trace.ReasonBytes)
		}
	})
}

// A view that earlier compactions could not make small enough is sent if there is no
// free slot.
func TestBodyThatStaysTooLargeDoesNotFailForASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, req := ofBytes(t, 10_000, ""), album(t, 1)
		m.places = ctxlock.NewSlots(1)
		for _, want := range []string{trace.ReasonBelow, trace.ReasonBusy} {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if res, err := m.Preflight(ctx, "s", req.Messages(), WithRequest(req)); err != nil || res.Reason != want {
				t.Errorf("%v, %s, want %s", err, res.Reason, want)
			}
			if want == trace.ReasonBelow {
				_ = m.places.Take(t.Context())
			}
		}
	})
}

// The message that nothing more can be removed appears only after an attempt.
func TestTooLargeIsNotReportedWithoutAnAttempt(t *testing.T) {
	req := album(t, 12)
	res, err := ofBytes(t, 100_000, policy.Never).Preflight(t.Context(), "s", req.Messages(), WithRequest(req))
	if err != nil || res.Reason != trace.ReasonNever || len(res.Warnings) > 0 {
		t.Errorf("%v, %s, %q; want no error and %s", err, res.Reason, res.Warnings, trace.ReasonNever)
	}
	c := &call{lane: &lane{}, res: &Result{Reason: trace.ReasonBusy, Messages: req.Messages()}, knowledge: knowledge{budget: policy.Budget{MaxBytes: 1}}}
	if c.sayTooLarge(); len(c.res.Warnings) > 0 || c.lane.tooLarge {
		t.Errorf("without a place: %q", c.res.Warnings)
	}
}

// A dry run reports that the request is too large, and a later call still reports it.
func TestTooLargeIsReportedAfterAPlan(t *testing.T) {
	m, req := ofBytes(t, 10_000, ""), album(t, 1)
	for n, ask := range []func(context.Context, string, []message.Message, ...Option) (*Result, error){m.Plan, m.Plan, m.Preflight, m.Preflight} {
		res, err := ask(t.Context(), "s", req.Messages(), WithRequest(req))
		if want := n < 3; err != nil || slices.ContainsFunc(res.Warnings, isTooLarge) != want {
			t.Errorf("call %d: %v, %q", n, err, res.Warnings)
		}
	}
}

func isTooLarge(w string) bool { return strings.Contains(w, "max_request_bytes") }

// The limit learned from a 413 is an estimate of the provider's limit.
func TestTooLargeNamesItsBound(t *testing.T) {
	for said, want := range map[int]string{0: "but the provider accepts 10000,", 5_000: "but its limit is 5000,", 50_000: "but the provider accepts 10000,"} {
		req := album(t, 1)
		res, err := ofBytes(t, 10_000, "").Preflight(t.Context(), "s", req.Messages(), WithRequest(req), WithMaxBytes(said))
		if err != nil || len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], want) {
			t.Errorf("%v, %q, want %q", err, res.Warnings, want)
		}
	}
}
