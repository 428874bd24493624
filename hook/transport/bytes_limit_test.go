package transport_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/trace"
)

// If base64 makes a request larger than the provider's limit, the request is made
// smaller, even if its tokens fit. Only as many screenshots are removed as necessary,
// the oldest first.
func TestABodyAboveTheProvidersLimitIsCompacted(t *testing.T) {
	const limit, steps = 200_000, 30
	var shots []string
	for i := range steps {
		shots = append(shots, screenshot(i, 8_000))
	}
	for _, f := range browsers() {
		t.Run(string(f.wire), func(t *testing.T) {
			r := newRig(t, compact.Config{MaxContextTokens: 1_000_000, MaxRequestBytes: limit})
			r.server.MaxBytes = limit
			before, same, kept := "", 0, 0
			for n := 1; n <= steps; n++ {
				body := f.browse(shots[:n])
				if status, answer := r.post(f, body); status != http.StatusOK {
					t.Fatalf("step %d: %d bytes: %d %s, want %d", n, len(body), status, answer, http.StatusOK)
				}
				bodies := r.got()
				sent := bodies[len(bodies)-1]
				if common(before, sent) >= len(before)-len("]}") {
					same++
				}
				before, kept = sent, r.shots(sent, shots[:n])
			}
			r.quiet()
			if kept < 10 || kept == steps {
				t.Errorf("the newest %d screenshots are left of %d", kept, steps)
			}
			if changes := steps - same; changes < 2 || changes > 6 {
				t.Errorf("the beginning changed in %d of %d calls, want at least 2 and at most 6", changes, steps)
			}
			if res := r.last(); res.DroppedCount+res.SummarizedCount > 0 || len(res.Warnings) > 0 {
				t.Errorf("%d messages were taken out, warnings %q", res.DroppedCount+res.SummarizedCount, res.Warnings)
			}
		})
	}
}

// Without a setting the published limits of the providers apply.
func TestBodiesAreComparedWithPublishedLimits(t *testing.T) {
	if os.Getenv("COMPACT_SOAK") == "" {
		t.Skip("bodies of up to 105 MB: set COMPACT_SOAK")
	}
	large := strings.Repeat("iVBORw0KGgoAAAANSUhEUgAA", 3<<20/24) // 3 MB
	limits := map[provider.Wire]int{provider.Anthropic: 32_000_000, provider.Chat: 50_000_000, provider.Responses: 50_000_000, provider.Gemini: 100_000_000}
	for _, f := range browsers() {
		limit := limits[f.wire]
		t.Run(string(f.wire), func(t *testing.T) {
			r := newRig(t, compact.Config{MaxContextTokens: 1_000_000})
			r.server.MaxBytes = limit
			var shots []string
			for len(shots) <= limit/len(large) {
				shots = append(shots, large)
			}
			body := f.browse(shots)
			if len(body) <= limit {
				t.Fatal("the body is not large enough to show anything")
			}
			if status, answer := r.post(f, body); status != http.StatusOK {
				t.Fatalf("%d %s, want %d", status, answer, http.StatusOK)
			}
			if res := r.last(); res.Reason != trace.ReasonBytes || res.MaskedCount == 0 {
				t.Errorf("%s, %d masked, want %s", res.Reason, res.MaskedCount, trace.ReasonBytes)
			}
		})
	}
}

// If a body can't be made small enough, it is sent, and this is reported once.
func TestABodyThatStaysTooLargeIsReported(t *testing.T) {
	f := browsers()[0]
	r := newRig(t, compact.Config{MaxContextTokens: 1_000_000, MaxRequestBytes: 50_000})
	said := 0
	for range 2 {
		if status, answer := r.post(f, f.browse([]string{screenshot(1, 80_000)})); status != http.StatusOK {
			t.Fatalf("%d %s, want %d", status, answer, http.StatusOK)
		}
		for _, w := range r.last().Warnings {
			if strings.Contains(w, "max_request_bytes") {
				said++
			}
		}
	}
	if said != 1 {
		t.Errorf("it is reported %d times, want 1", said)
	}
	if off := newRig(t, compact.Config{MaxContextTokens: 1_000_000, MaxRequestBytes: -1}); off != nil {
		if status, _ := off.post(f, f.browse([]string{screenshot(1, 80_000)})); status != http.StatusOK || len(off.last().Warnings) > 0 {
			t.Errorf("%d, %q: no bound was wanted", status, off.last().Warnings)
		}
	}
}

// A provider with a lower limit than the published one reports that once; then the
// transport knows the limit.
func TestTheSizeThatAProviderRefusesIsLearned(t *testing.T) {
	var shots []string
	for i := range 32 {
		shots = append(shots, screenshot(i, 8_000))
	}
	for _, f := range browsers() {
		t.Run(string(f.wire), func(t *testing.T) {
			r := newRig(t, compact.Config{MaxContextTokens: 1_000_000})
			r.server.MaxBytes = 180_000
			for n := 18; n <= len(shots); n++ {
				if status, answer := r.post(f, f.browse(shots[:n])); status != http.StatusOK {
					t.Fatalf("step %d: %d %s, want %d", n, status, answer, http.StatusOK)
				}
			}
			r.quiet()
			if n := len(r.got()); n != 16 {
				t.Errorf("%d requests for 15 calls, want 16", n)
			}
			few := f.browse(shots[:1]) // no screenshot of these can be removed
			r.server.MaxBytes = len(few) - 1
			if status, _ := r.post(f, few); status != http.StatusRequestEntityTooLarge {
				t.Errorf("%d, want %d", status, http.StatusRequestEntityTooLarge)
			}
		})
	}
}

// The learned limit is lower than the provider's, and messages do not call it the
// provider's limit.
func TestLearnedSizeIsNotAttributedToTheProvider(t *testing.T) {
	f := browsers()[0]
	r := newRig(t, compact.Config{MaxContextTokens: 1_000_000})
	r.server.MaxBytes = 60_000
	r.post(f, f.browse([]string{screenshot(1, 30_000), screenshot(2, 80_000)}))
	said := ""
	for _, res := range r.results {
		said += strings.Join(res.Warnings, "\n")
	}
	if !strings.Contains(said, "but its limit is ") || strings.Contains(said, "the provider accepts") {
		t.Errorf("warnings %q, want text with %q and text without %q", said, "but its limit is ", "the provider accepts")
	}
}

// Large pictures cause no removal of texts if the tokens fit.
func TestBytesLimitRemovesNoText(t *testing.T) {
	var shots []string
	for i := range 12 {
		shots = append(shots, screenshot(i, 20_000))
	}
	for _, f := range browsers()[:2] { // tokens of these are counted exactly
		t.Run(string(f.wire), func(t *testing.T) {
			body := f.browse(shots)
			var b strings.Builder
			b.WriteString(strings.TrimSuffix(body, "]}"))
			for i := range 30 {
				fmt.Fprintf(&b, ","+shapes[f.wire].round, 100+i, strings.Repeat("word ", 2_000))
			}
			body = b.String() + "]}"
			r := newRig(t, compact.Config{MaxContextTokens: 100_000, MaxRequestBytes: len(body) * 9 / 10})
			if status, answer := r.post(f, body); status != http.StatusOK {
				t.Fatalf("%d %s, want %d", status, answer, http.StatusOK)
			}
			res := r.last()
			if res.Reason != trace.ReasonBytes || res.MaskedCount == 0 || res.MaskedChars+res.SummarizedCount+res.DroppedCount+res.TruncatedCount > 0 {
				t.Errorf("%s: %d masked, %d characters, %d summarized, %d truncated, want %s", res.Reason, res.MaskedCount, res.MaskedChars, res.SummarizedCount, res.TruncatedCount, trace.ReasonBytes)
			}
			if res.After.Total <= res.Target {
				t.Errorf("%d tokens are left, the target is %d: the test proves nothing", res.After.Total, res.Target)
			}
		})
	}
}

// givingUp is a connection whose caller cancels right after a refusal.
type givingUp struct {
	base   http.RoundTripper
	cancel context.CancelFunc
}

func (g givingUp) RoundTrip(q *http.Request) (*http.Response, error) {
	resp, err := g.base.RoundTrip(q)
	if err != nil || resp.StatusCode < 400 {
		return resp, err
	}
	b, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(b))
	g.cancel()
	return resp, err
}

// As with a context that is too long, a caller that cancels gets its own cancellation,
// and no failure is reported.
func TestACallerThatCancelsGetsNoRefusalOfItsBody(t *testing.T) {
	var shots []string
	for i := range 12 {
		shots = append(shots, screenshot(i, 8_000))
	}
	for _, f := range browsers() {
		t.Run(string(f.wire), func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			r := newRig(t, compact.Config{MaxContextTokens: 1_000_000}, transport.Base(givingUp{http.DefaultTransport, cancel}))
			r.server.MaxBytes = 100_000
			resp, err := r.client.Do(r.request(ctx, f.path, f.browse(shots)))
			if err == nil {
				_ = resp.Body.Close()
			}
			if !errors.Is(err, context.Canceled) || len(r.got()) != 1 {
				t.Errorf("%v after %d requests, want Canceled and 1", err, len(r.got()))
			}
			r.quiet()
		})
	}
}
