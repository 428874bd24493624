package compact_test

import (
	"context"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// A message that is too long for a log line stops no call: a step archives it, and the
// journal omits it and reports that.
func TestMessageTooLongForALogIsStored(t *testing.T) {
	ctx := context.Background()
	history := costHistory(12)
	big := costTurn(100)
	for i := range big {
		if big[i].Role == message.RoleTool {
			big[i].Parts[0].Text = strings.Repeat("a line of a large file\n", record.MaxLogLine/23+1)
		}
	}
	history = append(history, big...)
	for _, transcripts := range []string{"compactions", "all"} {
		t.Run(transcripts, func(t *testing.T) {
			a := memory.New()
			c := everyCallConfig("masking", a)
			c.MaxContextTokens = 100_000_000 // so that it works on every call, and the window is not a reason
			c.Storage.Transcripts = transcripts
			m := costRig(t, c)
			var said []string
			for n := len(history); n < len(history)+1; n++ {
				res, err := m.Preflight(ctx, "s", append(history, costHistory(n)...))
				if err != nil {
					t.Fatal(err)
				}
				said = append(said, res.Warnings...)
			}
			if got := strings.Contains(strings.Join(said, "\n"), "too long for the journal"); got != (transcripts == "all") {
				t.Errorf("warnings: %q", said)
			}
			if err := m.Flush(ctx); err != nil {
				t.Fatal(err)
			}
			verified(t, a)
		})
	}
}
