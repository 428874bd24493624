package compact

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/agentcompact/compact/trace"
)

// TestDroppedEventsAreInTheLog: an exporter that logs its failures can't report
// events that its queue dropped.
func TestDroppedEventsAreInTheLog(t *testing.T) {
	for dropped, lines := range map[int]int{0: 0, 3: 1} {
		var log bytes.Buffer
		tell := logTraceErrors(slog.New(slog.NewTextHandler(&log, nil)))
		tell(&trace.ExportError{Exporter: "ariadne", Op: "export", Lost: 5, Dropped: dropped, Logged: true, Err: errors.New("answer 500")})
		if n := strings.Count(log.String(), "did not arrive"); n != lines {
			t.Errorf("%d dropped: %d lines, want %d:\n%s", dropped, n, lines, &log)
		}
	}
}
