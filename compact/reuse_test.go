package compact

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/memory"
)

// A caller changes a message in its slice after a call that gave up. The retry archives the
// changed message, although the transcript of the first call is stored already.
func TestRetryArchivesWhatTheCallerChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := bounded(t, Config{Preset: "summarize", Summarize: slowSummarizer{}, Archive: memory.New()}, 1<<40)
		history := long(1, 1_000_000)
		ctx, hangUp := context.WithCancel(t.Context())
		time.AfterFunc(200*time.Millisecond, hangUp)
		if _, err := m.Preflight(ctx, "s", history); err == nil {
			t.Fatal("the call has waited")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if m.sessions["s"].lanes[ledger.Owner{}].shelf == nil {
			t.Fatal("the first call stored no transcript")
		}
		history[3] = message.ToolResult("call_0", "The release is on the 14th of March."+strings.Repeat(" word", 790))
		if res, err := m.Preflight(t.Context(), "s", history); err != nil || res.Step != 1 {
			t.Fatalf("step %d, %v; want 1 and no error", res.Step, err)
		}
		got, err := m.Recall(t.Context(), "s", "turn:1")
		if err != nil || !strings.Contains(got, "14th of March") {
			t.Errorf("the changed message is archived as %.80q, %v", got, err)
		}
	})
}
